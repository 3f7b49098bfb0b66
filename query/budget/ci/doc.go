// Package ci writes how things stand with budgets for those who look at builds: annotations of GitHub
// Actions, JUnit's XML, which nearly every CI reads, and SARIF for code scanning.
//
// A budget that is blown, or that can not be answered, is a failure. One with too few page views or without
// data is neither that nor a success, and is written as what the format has for it.
package ci
