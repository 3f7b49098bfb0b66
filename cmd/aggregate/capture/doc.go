// Package capture records page views in a local browser: with the browser script, so that they are
// comparable with those of users, and with DevTools. It drives Chromium over its DevTools protocol.
package capture
