package scripturl

import "testing"

func TestDebugID(t *testing.T) {
	const id = "85314830-023f-4cf1-a267-535f4e37bb17"
	for resource, want := range map[string][2]string{
		"":                                     {"", ""},
		"https://x.example/app.js":             {"https://x.example/app.js", ""},
		"https://x.example/a.js#debugId=" + id: {"https://x.example/a.js", id},
		"blob:null#debugId=" + id:              {"blob:null", id},
		"#debugId=" + id:                       {"", id},
		"#debugId=" + id + "#debugId=" + id:    {"#debugId=" + id, id},
		id:                                     {id, ""},
		"a.js?debugId=" + id:                   {"a.js?debugId=" + id, ""},
		"a.js#debugid=" + id:                   {"a.js#debugid=" + id, ""},
		"a.js#debugId=" + id + "0":             {"a.js#debugId=" + id + "0", ""},
		"a.js#debugId=" + id[1:]:               {"a.js#debugId=" + id[1:], ""},
		"a.js#debugId=85314830-023F-4CF1-A267-535F4E37BB17": {"a.js#debugId=85314830-023F-4CF1-A267-535F4E37BB17", ""},
		"a.js#debugId=853148300-23f-4cf1-a267-535f4e37bb17": {"a.js#debugId=853148300-23f-4cf1-a267-535f4e37bb17", ""},
		"a.js#debugId=g5314830-023f-4cf1-a267-535f4e37bb17": {"a.js#debugId=g5314830-023f-4cf1-a267-535f4e37bb17", ""},
	} {
		url, got := CutDebugID(resource)
		if url != want[0] || got != want[1] {
			t.Errorf("%s: got %q and %q, want %q", resource, url, got, want)
		}
		if again := WithDebugID(url, got); url != "" && again != resource {
			t.Errorf("%s: combined again: %s", resource, again)
		}
	}
	if got := WithDebugID("", id); got != "" {
		t.Errorf("an ID without a script returns %s", got)
	}
}
