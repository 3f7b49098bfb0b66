// Package capture records page views in a browser of this machine: as the browser script records those of users, so
// that both are compared on one axis, and as DevTools record them. It drives Chromium over its DevTools protocol.
package capture
