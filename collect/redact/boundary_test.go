package redact

import "testing"

// checked returns digits with a valid check digit appended.
func checked(digits string) string {
	for last := byte('0'); last <= '9'; last++ {
		all := []byte(digits + string(last))
		sum := 0
		for i, d := range all {
			n := int(d - '0')
			if (len(all)-i)%2 == 0 {
				if n *= 2; n > 9 {
					n -= 9
				}
			}
			sum += n
		}
		if sum%10 == 0 {
			return string(all)
		}
	}
	return ""
}

// TestCardLengths checks the lengths of card numbers of each issuer.
func TestCardLengths(t *testing.T) {
	for _, tt := range []struct {
		issuer, first string
		lengths       map[int]bool
	}{
		{"Visa", "4539", map[int]bool{13: true, 16: true, 19: true}},
		{"Mastercard", "5105", map[int]bool{16: true}},
		{"Mastercard", "2221", map[int]bool{16: true}},
		{"Mastercard", "2720", map[int]bool{16: true}},
		{"no issuer", "2220", nil},
		{"no issuer", "2721", nil},
		{"American Express", "3714", map[int]bool{15: true}},
		{"Diners Club", "3059", map[int]bool{14: true, 15: true, 16: true, 17: true, 18: true, 19: true}},
		{"no issuer", "3060", nil},
		{"JCB", "3530", map[int]bool{16: true, 17: true, 18: true, 19: true}},
		{"UnionPay", "6212", map[int]bool{16: true, 17: true, 18: true, 19: true}},
		{"Maestro", "5018", map[int]bool{16: true, 18: true, 19: true}},
		{"Maestro", "6759", map[int]bool{16: true, 18: true, 19: true}},
	} {
		for length := 12; length <= 19; length++ {
			digits := tt.first
			for len(digits) < length-1 {
				digits += string('0' + byte(len(digits)*7%10))
			}
			digits = checked(digits)
			want := digits
			if tt.lengths[length] {
				want = "(card)"
			}
			if got := Text("on " + digits + " now"); got != "on "+want+" now" {
				t.Errorf("%s, %d digits from %s: got %q, want %q", tt.issuer, length, digits, got, want)
			}
		}
	}
}

// TestCardGroups checks that spaces and dashes may separate groups of three digits, but dots may
// not.
func TestCardGroups(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"4111 1111 1111 1111", "(card)"},
		{"411 111 111 111 1111", "(card)"},
		{"411-111-111-111-1111", "(card)"},
		{"41 1111 1111 1111 11", "41 1111 1111 1111 11"},
		{"411.111.111.111.1111", "411.111.111.111.1111"},
		{"4111.1111.1111.1111", "(card)"},
		{"4111.1111.111.1.1111", "4111.1111.111.1.1111"},
	} {
		if got := Text("on " + tt.text + " now"); got != "on "+tt.want+" now" {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestNumbersInWords checks that a number of four digits is an identifier, unless it is a year of
// this century.
func TestNumbersInWords(t *testing.T) {
	for text, want := range map[string]bool{
		"report-2026": false, "report-2099": false, "report-2100": true, "report-1999": true, "report-999": false,
		"a123": false, "a1234": true, "a2024b1": false, "a2024b1234": true, "a20241": true, "a12 345": false,
		"report-12345": true, "report-123456": true, "v1": false, "12": true, "deadbeef": false,
		"deadbe1f": false, "deadbe12": true, "dead12": false,
	} {
		if got := new(Redactor).Identifier(text); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

// TestSecretsInSecrets checks that nested secrets are replaced once, and that the text after them
// stays.
func TestSecretsInSecrets(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"token":{"password":"x","key":"y"},"a":1}`, `{"token":(secret),"a":1}`},
		{`{"token":{"v":"password=x"},"a":1}`, `{"token":(secret),"a":1}`},
		{"password=token=x rest", "password=(secret) rest"},
		{"token=a password=b c", "token=(secret) password=(secret) c"},
	} {
		if got := Text(tt.text); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.text, got, tt.want)
		}
	}
}
