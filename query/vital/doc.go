// Package vital says how page views were for visitors: their Web Vitals, what these are made up of and which elements they
// are of. See https://web.dev/articles/vitals.
//
//	report.go  Page, Report: what is said of a page and of a Web Vital
//	sums.go    Sums: adds up what page views reported
//	text.go    WriteText: as tables
package vital
