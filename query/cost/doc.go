// Package cost says what profiling costs visitors: who is profiled is drawn at random, and Web Vitals come from both arms of that experiment.
//
//	experiment.go  page views by arm, in strata
//	estimate.go    quantiles and shares of an arm, weighted to the traffic of both
//	report.go      the differences, and how much can be told
//	fair.go        whether the draw was fair
//	text.go        the report for people
package cost
