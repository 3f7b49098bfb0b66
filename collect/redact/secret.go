package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// encodedSpace stands for a percent-encoded space, which does not end a query, while rules are
// applied. \s does not match it.
const encodedSpace = '\u00a0'

// encoded matches a word that contains percent-encoding.
var encoded = regexp.MustCompile(`[^\s%]*%\S*`)

// Parts of URLs that are removed. A ? or # starts a query or fragment after a slash, at the
// beginning, and before a name and =; a ? also after a file name. So a?b:c, a?.b and #name, a
// private method or selector, are kept.
var (
	userInfo = regexp.MustCompile(`((?:^|[^\w/])//)[^\s/?#"]+@`)
	query    = regexp.MustCompile(
		`^\?\S+|(/[^\s?]*)\?\S*|\?[\w.~%\[\]-]+=\S*|(\.(?:[cm]?js|css|html?|json|php|aspx?))\?\S*`)
	fragment = regexp.MustCompile(`((?:^|[\s(])/[^\s#]*|//[^\s#]*)#\S*|#[\w.!/&:%~-]*=\S*`)
)

// Credentials with a known form. Most have a prefix that their issuer chose so that scanners find
// them. A name such as surveyJsonModel does not match.
var (
	webToken = regexp.MustCompile(`(^|[^A-Za-z0-9])eyJ[A-Za-z0-9_.-]{8,}`)
	bearer   = regexp.MustCompile(`(?i)\b(?:bearer[\s\x{a0}+]+[^\w\s]*)+\S+`)
	apiKey   = regexp.MustCompile(`(^|[^A-Za-z0-9])(?:` +
		`A[KS]IA[A-Z0-9]{16,}|AIza[\w-]{30,}|` + // AWS, Google
		`gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,}|` +
		`[prs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{16,}|` + // Stripe
		`xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|` + // Slack
		`sk-(?:ant|proj)-[\w-]{16,}|sk-[A-Za-z0-9]{32,}|` + // Anthropic, OpenAI
		`SK[0-9a-f]{32}|SG\.[\w-]{16,}\.[\w-]{16,}|key-[0-9a-z]{32}|` + // Twilio, SendGrid, Mailgun
		`shp[a-z]{2}_[0-9a-fA-F]{32}|do[opr]_v1_[0-9a-f]{32,}|` + // Shopify, DigitalOcean
		`pat-[a-z]{2}\d-[0-9a-f-]{30,}|sq0[a-z]{3}-[\w-]{20,})`) // HubSpot, Square
	// Tokens of Telegram bots begin with the bot's id, tokens of Discord bots with the id in
	// base64.
	botToken = regexp.MustCompile(`(^|[^A-Za-z0-9])(?:\d{6,12}:AA[\w-]{30,}|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,})`)
	// A private key may be followed by percent-encoded or truncated text, so all the rest is
	// removed.
	privateKey = regexp.MustCompile(`(?s)-----BEGIN[A-Z\s\x{a0}+]*PRIVATE[\s\x{a0}+]KEY.*`)
	basic      = regexp.MustCompile(`(?i)\bbasic[\s\x{a0}+]+([A-Za-z0-9+/_-]+)=*`)
)

// withoutBasic replaces the credentials of HTTP basic authentication: a name, a colon and a
// password in base64.
func withoutBasic(s string) string {
	return basic.ReplaceAllStringFunc(s, func(found string) string {
		at := basic.FindStringSubmatchIndex(found)
		text := strings.NewReplacer("-", "+", "_", "/").Replace(found[at[2]:at[3]])
		plain, err := base64.RawStdEncoding.DecodeString(text)
		if err != nil || !strings.Contains(string(plain), ":") {
			return found
		}
		return found[:at[2]] + "(secret)"
	})
}

// header matches a line of HTTP with credentials, but not "cookie: banner" or "auth: login".
var header = regexp.MustCompile(
	`(?i)(\b(?:authorization: *[a-z]+ +|x-[a-z-]*(?:key|token): +))[^\s(]\S*|(\b(?:set-)?cookie: +)[^\s=;(][^\s=;]*=[` +
		`^\r\n]*`)

var userAgent = regexp.MustCompile(`(?s)(?:Mozilla|Opera)/[0-9].*`)
