package bucket

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyauth "github.com/aws/smithy-go/auth"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// oneEndpoint finds out once where the bucket is, since it is always the same one. The client library does so for each
// request anew, which takes a third of what a request costs.
type oneEndpoint struct {
	find s3.EndpointResolverV2

	mu    sync.Mutex
	known *smithyendpoints.Endpoint
}

// ResolveEndpoint implements [s3.EndpointResolverV2].
func (e *oneEndpoint) ResolveEndpoint(ctx context.Context, p s3.EndpointParameters) (smithyendpoints.Endpoint, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known == nil {
		found, err := e.find.ResolveEndpoint(ctx, p)
		if err != nil {
			return found, err
		}
		e.known = &found
	}
	return cloned(e.known), nil
}

// cloned returns a copy, since each request writes to its own.
func cloned(e *smithyendpoints.Endpoint) smithyendpoints.Endpoint {
	out := *e
	out.Headers = e.Headers.Clone()
	out.Properties = smithy.Properties{}
	out.Properties.SetAll(&e.Properties)
	options, ok := smithyauth.GetAuthOptions(&e.Properties)
	if !ok {
		return out
	}
	copies := make([]*smithyauth.Option, len(options))
	for i, o := range options {
		copies[i] = &smithyauth.Option{SchemeID: o.SchemeID}
		copies[i].IdentityProperties.SetAll(&o.IdentityProperties)
		copies[i].SignerProperties.SetAll(&o.SignerProperties)
	}
	smithyauth.SetAuthOptions(&out.Properties, copies)
	return out
}
