package pyroscope

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/api"

	"github.com/klauspost/compress/gzhttp"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/memory"
)

// Options configures a [Handler]. Zero fields mean the default in the field's comment.
type Options struct {
	Site    string           // "fieldtrie": the value of the label service_name
	Now     func() time.Time // time.Now
	Timeout time.Duration    // 30 s: for one response, including the time in the queue
	Gate    *api.Gate        // a new gate
	Lag     time.Duration    // none: [selection.Selection.Lag]
}

// WithDefaults returns o with every zero replaced by its default.
func (o Options) WithDefaults() Options {
	if o.Site == "" {
		o.Site = "fieldtrie"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Gate == nil {
		o.Gate = api.NewGate(api.GateOptions{})
	}
	return o
}

// The services served here.
const (
	querierService  = "/querier.v1.QuerierService/"
	settingsService = "/settings.v1.SettingsService/"
	legacyPath      = "/pyroscope/"
)

// Patterns returns the mux patterns of a [Handler]: the services served, and Pyroscope's
// other services, so that their clients get an error in their own protocol.
func Patterns() []string {
	return []string{querierService, settingsService, legacyPath,
		"/adhocprofiles.v1.AdHocProfileService/", "/capabilities.v1.FeatureFlagsService/",
		"/settings.v1.RecordingRulesService/", "/vcs.v1.VCSService/", "/version.v1.Version/"}
}

// backend serves queries of a source.
type backend struct {
	src  query.Source
	opts Options
}

// Handler serves a source to clients of Pyroscope, on the paths that [Patterns] lists. It is
// for the private address and does no authentication.
func Handler(src query.Source, o Options) http.Handler {
	o = o.WithDefaults()
	a := &backend{src: src, opts: o}
	mux := http.NewServeMux()
	handle := func(path string, h http.HandlerFunc) { mux.Handle(path, o.Gate.Measure(path, h)) }
	for path, m := range a.methods() {
		handle(path, func(w http.ResponseWriter, r *http.Request) { a.unary(w, r, m) })
	}
	handle(legacyPath+"render", a.legacy(a.render))
	handle(legacyPath+"render-diff", a.legacy(a.renderDiff))
	mux.Handle("/", o.Gate.Measure("unknown", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeError(w, failure(unimplemented, "%s is not implemented here", strings.TrimPrefix(r.URL.Path, "/")))
	})))
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1400))
	if err != nil {
		panic(err) // the option is valid
	}
	return compress(mux)
}

// inTurn calls f within the limit for concurrent requests, with a context that limits the duration.
func (a *backend) inTurn(ctx context.Context, timeout time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := a.opts.Gate.Do(ctx, func() error { return f(ctx) })
	if _, busy := errors.AsType[*api.BusyError](err); busy {
		return &failed{unavailable, err}
	}
	if _, crowded := errors.AsType[*memory.CrowdedError](err); crowded {
		return &failed{unavailable, err}
	}
	if ctx.Err() != nil && (err == nil || errors.Is(err, ctx.Err())) {
		if errors.Is(ctx.Err(), context.Canceled) {
			return failure(canceled, "the client has gone")
		}
		return failure(deadlineExceeded,
			"it took longer than %s and was given up: ask for less time, one page, or fewer labels", timeout)
	}
	return err
}

// legacy serves a path older than the services.
func (a *backend) legacy(answer func(context.Context, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			refuseMethod(w, http.MethodGet)
			return
		}
		var out any
		err := a.inTurn(r.Context(), a.opts.Timeout, func(ctx context.Context) (err error) {
			out, err = answer(ctx, r)
			return err
		})
		if err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
	}
}

func refuseMethod(w http.ResponseWriter, allowed string) {
	w.Header().Set("Allow", allowed)
	http.Error(w, fmt.Sprintf("this path answers %s", allowed), http.StatusMethodNotAllowed)
}
