// Command provider is an OpenID provider for tests: Zitadel's certified one, with users and their
// groups in memory. It prints its issuer once it listens, and ends when its standard input is
// closed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// The user is test-user@localhost with the password verysecure. The client is web, with the secret
// secret.
func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	fs := flag.NewFlagSet("provider", flag.ContinueOnError)
	redirect := fs.String("redirect", "", "`URL` to which browsers return")
	groups := fs.String("groups", "", "`GROUPS` of all users, separated by commas")
	if err := fs.Parse(args); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		return err
	}
	issuer := "http://localhost:" + port + "/"
	storage.RegisterClients(storage.WebClient("web", "secret", *redirect))
	people := &grouped{storage.NewStorage(storage.NewUserStore(issuer)), strings.Split(*groups, ",")}
	srv := &http.Server{Handler: exampleop.SetupServer(issuer, people, slog.New(slog.DiscardHandler), false),
		ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		_ = srv.Close()
	}()
	fmt.Fprintln(stdout, issuer)
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// grouped has users in groups, which it only reports at the userinfo endpoint.
type grouped struct {
	*storage.Storage
	groups []string
}

// SetUserinfoFromToken implements op.Storage.
func (g *grouped) SetUserinfoFromToken(ctx context.Context, info *oidc.UserInfo, token, subject, origin string) error {
	if err := g.Storage.SetUserinfoFromToken(ctx, info, token, subject, origin); err != nil {
		return err
	}
	info.AppendClaims("groups", g.groups)
	return nil
}
