package notify

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "93.184.216.34": true, "172.15.255.255": true, "172.32.0.1": true,
		"100.63.255.255": true, "100.128.0.0": true, "192.0.1.1": true, "198.20.0.1": true,
		"223.255.255.255": true, "2606:4700::1111": true, "2a00:1450::1": true, "2001:200::1": true,
		"::ffff:8.8.8.8": true, "64:ff9b::8.8.8.8": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "127.0.0.1": false, "127.255.255.254": false,
		"172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"100.64.0.1": false, "100.100.100.200": false, // metadata service of Alibaba
		"169.254.169.254": false, "169.254.170.2": false, // metadata services of most clouds
		"192.0.0.192":   false, // metadata service of Oracle
		"168.63.129.16": false, "198.18.0.1": false, "192.0.2.1": false, "198.51.100.1": false, "203.0.113.1": false,
		"224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd00:ec2::254": false,
		"fec0::1": false, "ff02::1": false, "100::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::127.0.0.1": false,
		"::8.8.8.8":          false,
		"64:ff9b::127.0.0.1": false, "64:ff9b::169.254.169.254": false, "64:ff9b::10.1.2.3": false,
		"64:ff9b:1::8.8.8.8": false, "64:ff9b:0:0:1::1": false,
		"2002:7f00:1::": false, "2002:a00:1::1": false, "2001:0:1::1": false, "2001:db8::1": false, "3fff::1": false,
		"5f00::1": false, "4000::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// The error names channels whose receivers have only private addresses, except with allow_private.
func TestCheckTargets(t *testing.T) {
	lookup := func(host string) []netip.Addr {
		return map[string][]netip.Addr{
			"localhost":       {netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")},
			"hooks.slack.com": {netip.MustParseAddr("8.8.8.8")},
			"both.example":    {netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("8.8.8.8")},
			"git.example":     {netip.MustParseAddr("10.0.0.2")},
		}[host]
	}
	f := File{Channels: []Channel{
		{Name: "literal", Line: 1, Kind: Webhook, Target: "http://127.0.0.1:9000/hook"},
		{Name: "literal6", Line: 2, Kind: Grafana, Target: "http://[::1]:3000"},
		{Name: "named", Line: 3, Kind: Email, Target: "smtp://localhost"},
		{Name: "allowed", Line: 4, Kind: Webhook, Target: "http://127.0.0.1:9000/hook", AllowPrivate: true},
		{Name: "unknown", Line: 5, Kind: Webhook, Target: "https://unknown.example/hook"},
		{Name: "both", Line: 6, Kind: Webhook, Target: "https://both.example/hook"},
		{Name: "slack", Line: 7, Kind: Slack, secret: source{text: "https://hooks.slack.com/services/x"}},
		{Name: "slack-like", Line: 8, Kind: Slack, secret: source{text: "https://localhost/secret"}},
		{Name: "github", Line: 9, Kind: GitHub, Target: "https://git.example/acme/shop",
			API: "https://git.example/api/v3"},
	}}
	const want = "line 1: channel literal: 127.0.0.1 is not a public address; set allow_private: true if the " +
		"channel should reach it"
	err := f.CheckTargets(lookup)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if lines[0] != want || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %s", err)
	}
	var named []string
	for _, line := range lines {
		named = append(named, strings.Split(line, ": ")[1])
	}
	if got := strings.Join(named,
		", "); got != "channel literal, channel literal6, channel named, channel slack-like, channel github" {
		t.Errorf("the error names %s", got)
	}
}

// Addresses that the standard library classifies as private are not public.
func TestPublicAgainstLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for range 200_000 {
		var b [16]byte
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		v4 := netip.AddrFrom4([4]byte(b[:4]))
		addresses := []netip.Addr{v4, netip.AddrFrom16(v4.As16()), netip.AddrFrom16(b)}
		b[0] |= 0xf0
		for _, a := range append(addresses, netip.AddrFrom16(b)) {
			u := a.Unmap()
			if private := !u.IsGlobalUnicast() || u.IsPrivate(); private && public(a) {
				t.Fatalf("%s is accepted as a public address", a)
			} else if private {
				refused++
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d addresses were tested", refused)
	}
}
