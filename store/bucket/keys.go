package bucket

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// chain finds access keys in the same places and order as Amazon's SDK: in the environment, by the
// token of a workload, in the files of a profile (keys, single sign-on, a program that prints
// them), from the container or the node.
type chain struct {
	from []credentials.Provider
	at   credentials.Provider // the provider that had keys
}

func newChain() *credentials.Credentials {
	c := &chain{from: []credentials.Provider{&credentials.EnvAWS{}}}
	role := &credentials.IAM{} // by a token, from the container or from the node
	byToken := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != ""
	container := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" ||
		os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	if byToken {
		c.from = append(c.from, role)
	}
	c.from = append(c.from, &credentials.FileAWSCredentials{})
	if !byToken && (container || os.Getenv("AWS_EC2_METADATA_DISABLED") != "true") {
		c.from = append(c.from, role)
	}
	return credentials.New(c)
}

// RetrieveWithCredContext implements [credentials.Provider].
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	why := ErrNoKeys
	for _, p := range c.from {
		found, err := p.RetrieveWithCredContext(cc)
		if err == nil && found.AccessKeyID != "" && found.SecretAccessKey != "" {
			c.at = p
			return found, nil
		}
		// A missing source is not an error, but an unusable one is.
		if err != nil && !errors.Is(err, os.ErrNotExist) && !silentlyAbsent(p) {
			why = fmt.Errorf("%w; %w", why, err)
		}
	}
	return credentials.Value{}, why
}

// silentlyAbsent reports whether a provider was not configured explicitly.
func silentlyAbsent(p credentials.Provider) bool {
	switch p.(type) {
	case *credentials.FileAWSCredentials:
		return os.Getenv("AWS_PROFILE") == ""
	case *credentials.IAM:
		return os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") == ""
	}
	return true
}

// Retrieve implements [credentials.Provider].
func (c *chain) Retrieve() (credentials.Value, error) {
	return c.RetrieveWithCredContext(&credentials.CredContext{Client: http.DefaultClient})
}

// IsExpired implements [credentials.Provider].
func (c *chain) IsExpired() bool { return c.at == nil || c.at.IsExpired() }

// regionOf returns the region of a location, of the environment or of the profile, or else the
// default of most stores.
func regionOf(at Location) string {
	return cmp.Or(at.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), regionOfProfile(), "us-east-1")
}

func regionOfProfile() string {
	name := os.Getenv("AWS_CONFIG_FILE")
	if name == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		name = filepath.Join(home, ".aws", "config")
	}
	file, err := ini.Load(name)
	if err != nil {
		return "" // most machines have no such file
	}
	section := "default"
	if profile := os.Getenv("AWS_PROFILE"); profile != "" && profile != section {
		section = "profile " + profile
	}
	return file.Section(section).Key("region").String()
}
