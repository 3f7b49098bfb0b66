// Package ci writes the status of budgets in formats of CI systems: annotations of GitHub Actions,
// JUnit's XML, which nearly every CI reads, and SARIF for code scanning.
//
// An exceeded budget, or one that cannot be evaluated, is a failure. A budget with too few page
// views or without data is neither failure nor success, and is written as the format's equivalent
// of that.
package ci
