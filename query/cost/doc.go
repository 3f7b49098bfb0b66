// Package cost measures what profiling costs visitors. Page views are profiled at random, and both
// arms of this experiment report Web Vitals.
//
//	experiment.go  page views by arm, in strata
//	estimate.go    quantiles and shares of an arm, weighted to the traffic of both
//	report.go      the differences and their intervals
//	fair.go        tests whether the draw was fair
//	text.go        the report as text
package cost
