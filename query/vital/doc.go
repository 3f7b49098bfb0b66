// Package vital reports Web Vitals of page views, their parts and their elements. See
// https://web.dev/articles/vitals.
//
//	report.go  Page, Report: the Web Vitals of a page
//	sums.go    Sums: adds up the reports of page views
//	text.go    WriteText: tables
package vital
