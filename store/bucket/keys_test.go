package bucket_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/bucket"
	"github.com/fieldtrie/fieldtrie/store/objects"
)

// signed records how requests are signed, and serves access keys.
type signed struct{ keys, token, host string }

func (s *signed) RoundTrip(r *http.Request) (*http.Response, error) {
	body := ""
	switch {
	case strings.HasPrefix(r.URL.Host, "sts."):
		body = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">` +
			`<AssumeRoleWithWebIdentityResult><Credentials>
			<AccessKeyId>of-role</AccessKeyId><SecretAccessKey>s</SecretAccessKey>` +
			`<SessionToken>of-session</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
			</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
	case r.URL.Host == "127.0.0.1":
		body = `{"AccessKeyId":"of-container","SecretAccessKey":"s","Token":"of-task","Expiration":"2099-01-01T00:00:` +
			`00Z"}`
	default:
		s.keys, s.token, s.host = r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"), r.URL.Host
	}
	return &http.Response{StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(body)),
		Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// Access keys and the region come from the same places as for other S3 programs.
func TestKeys(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token := file("token", "of-workload")
	credentials := file("credentials",
		"[default]\naws_access_key_id = of-default\naws_secret_access_key = s\n\n[two]\naws_access_key_id = "+
			"of-two\naws_secret_access_key = s\n")
	config := file("config", "[default]\nregion = eu-north-1\n[profile two]\nregion = cn-north-1\n")
	for _, c := range []struct {
		name, env                string
		key, token, region, host string
	}{
		{"environment", "AWS_ACCESS_KEY_ID=of-env AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=temporary " +
			"AWS_REGION=us-west-2", "of-env", "temporary", "us-west-2", "b.s3.us-west-2.amazonaws.com"},
		{"web identity", "AWS_WEB_IDENTITY_TOKEN_FILE=" + token +
			" AWS_ROLE_ARN=arn:aws:iam::1:role/x AWS_REGION=eu-west-1", "of-role", "of-session", "eu-west-1",
			"b.s3.eu-west-1.amazonaws.com"},
		{"file", "AWS_SHARED_CREDENTIALS_FILE=" + credentials + " AWS_CONFIG_FILE=" + config, "of-default", "",
			"eu-north-1", "b.s3.eu-north-1.amazonaws.com"},
		{"profile", "AWS_PROFILE=two AWS_SHARED_CREDENTIALS_FILE=" + credentials + " AWS_CONFIG_FILE=" + config,
			"of-two", "", "cn-north-1", "b.s3.cn-north-1.amazonaws.com.cn"},
		{"container", "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://127.0.0.1/keys AWS_ENDPOINT_URL=https://ceph.example",
			"of-container", "of-task", "us-east-1", "ceph.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
				"AWS_REGION", "AWS_PROFILE"} {
				t.Setenv(name, "")
			}
			for _, x := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(x, "=")
				t.Setenv(name, value)
			}
			var s signed
			b, err := bucket.Open(t.Context(), bucket.Location{Bucket: "b"}, bucket.Options{Transport: &s})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Put(t.Context(), "k", nil, objects.Absent); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(s.keys, "Credential="+c.key+"/") || !strings.Contains(s.keys, "/"+c.region+"/s3/") ||
				s.token != c.token || s.host != c.host {
				t.Errorf("got %q with token %q at %s", s.keys, s.token, s.host)
			}
		})
	}
	t.Run("damaged", func(t *testing.T) {
		for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
			t.Setenv(name, "")
		}
		t.Setenv("AWS_PROFILE", "two")
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file("half", "[two]\naws_access_key_id = of-two\n"))
		b, err := bucket.Open(t.Context(), bucket.Location{Bucket: "b"}, bucket.Options{Transport: &signed{}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Put(t.Context(), "k", nil, objects.Absent); !errors.Is(err, bucket.ErrNoKeys) ||
			!strings.Contains(err.Error(), "aws_secret_access_key must") {
			t.Errorf("got %v", err)
		}
	})
}
