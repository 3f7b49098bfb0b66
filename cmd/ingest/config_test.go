package main

import (
	"strings"
	"testing"
)

func TestKeysValue(t *testing.T) {
	var got []string
	v := keys(&got)
	for key, ok := range map[string]bool{
		"abc": true, "A-b_9": true, strings.Repeat("k", 64): true,
		"": false, "a b": false, "a&b": false, "a%20b": false, "ä": false, strings.Repeat("k", 65): false,
	} {
		if err := v.Set(key); (err == nil) != ok {
			t.Errorf("%q: got %v", key, err)
		}
	}
	if len(got) != 3 {
		t.Errorf("keys are %q", got)
	}
}
