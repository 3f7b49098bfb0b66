package redact

import (
	"strings"
	"testing"
)

// TestElement checks that the daemon removes parts of an element that may identify a person, and
// keeps elements of the browser script unchanged.
func TestElement(t *testing.T) {
	const same = "="
	for _, tt := range []struct{ text, want string }{
		{"button#save*", same},
		{"div[menu]", same},
		{"rect#box*", same},
		{"key input#name", same},
		{"pointer button#b", same},
		{"image img#hero", same},
		{"text p", same},
		{"h1#title", same},
		{"text h1", same},
		{"cart", same},
		{"pointer step2", same},
		{"Zum Warenkorb", same},
		{"pointer Sign up (step 2), now!", same},
		{"row*", same},
		{"pointer checkout: pay", same},
		{"pointer /checkout/pay", ""},
		{"2001:db8:85a3::8a2e:370:7334", ""},
		{"linearGradient#a", same},
		{"my-element#part.of:it", same},
		{"div#react-aria-:r*:-tab", same},
		{"div#headlessui-menu-«r*»", same},
		{"pointer div#überschrift", same},
		{"div#*", same},
		{"div#row-*-cell-*", same},
		{"div[menu item]", same},
		{"", same},

		{"div#row-17", "div#row-*"},
		{"div#490154203237518", "div#*"},
		{"div#DE89370400440532013000", "div#*"},
		{"div#f47ac10b-58cc-4372-a567-0e02b2c3d479", "div#*"},
		{"div#u-550e8400-e29b-41d4-a716-446655440000-x", "div#u-*-x"},
		{"div#5d41402abc4b2a76b9719d911017c592", "div#*"},
		{"tr#row-٣٤٥٦٧", "tr#row-*"},
		{"tr#row-１２３", "tr#row-*"},
		{"pointer a#bob@example.com", "pointer a"},
		{"pointer a#bob%40example.com", "pointer a"},
		{"a#eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJlMTIz", "a"},
		{"a#cust-AbCdEfGhIjKlMnOpQrStUvWx", "a"},
		{"a#Anna Meierhofer", "a"},
		{"a#<b>", "a"},
		{"a#" + strings.Repeat("x", 61), "a"},
		{"div[Anna Meierhofer]", "div"},
		{"div[menu", "div"},
		{"user 90817263", ""},
		{"bob@example.com", "(email)"},
		{"+49 151 23456789", "(phone)"},
		{"1984-07-23", ""},
		{"pointer 12", ""},
		{strings.Repeat("x ", 40), ""},
		{"say \"hello\"", ""},
		{"a\x00b", ""},
	} {
		want := tt.want
		if want == same {
			want = tt.text
		}
		got := new(Redactor).Element(tt.text)
		if got != want {
			t.Errorf("%q: got %q, want %q", tt.text, got, want)
		}
		if again := new(Redactor).Element(got); again != got {
			t.Errorf("%q: got %q, and %q of that", tt.text, got, again)
		}
	}
}
