package bucket

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"syscall"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

var (
	// ErrNoKeys is returned if there are no access keys to sign requests with.
	ErrNoKeys = errors.New("no access keys found; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, " +
		"or give the machine a role")

	// ErrIgnoresConditions is returned by [Bucket.Probe] for a store that would lose data.
	ErrIgnoresConditions = errors.New(
		"the store ignores conditions (If-Match, If-None-Match), so nodes would overwrite each other's data")
)

// Error is the error of a call that the store rejected or did not respond to.
type Error struct {
	Call   string // Amazon's name of the call
	Object string
	Status int    // HTTP status; 0 without a response
	Code   string // error code of the store
	Err    error
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	switch {
	case remedies[e.Code] != "":
		return fmt.Sprintf("%s of %s was rejected (%d %s): %s", e.Call, e.Object, e.Status, e.Code, remedies[e.Code])
	case strangers[e.Code]:
		return fmt.Sprintf("%s of %s was rejected (%d %s): the store does not know these access keys; check "+
			"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile", e.Call, e.Object, e.Status, e.Code)
	case e.Denied():
		return fmt.Sprintf("%s of %s was rejected (%d %s): the access key needs the permission %s for it", e.Call,
			e.Object, e.Status, e.Code, rights[e.Call])
	case e.Status == 0:
		return fmt.Sprintf("%s of %s: %v", e.Call, e.Object, e.Err)
	}
	return fmt.Sprintf("%s of %s: the store responded %d %s: %v", e.Call, e.Object, e.Status, e.Code, e.Err)
}

// strangers are the error codes for unknown access keys.
var strangers = map[string]bool{"SignatureDoesNotMatch": true, "InvalidAccessKeyId": true, "InvalidToken": true}

// remedies are remedies by error code.
var remedies = map[string]string{
	"RequestTimeTooSkewed": "the clock of this machine or of the store is wrong; correct it",
	"ExpiredToken":         "the credentials have expired; renew them",
}

// rights are the permissions that calls need.
var rights = map[string]string{
	"PutObject":     "s3:PutObject",
	"GetObject":     "s3:GetObject (and s3:ListBucket, to detect missing objects)",
	"ListObjectsV2": "s3:ListBucket",
	"DeleteObjects": "s3:DeleteObject",
}

// Cause returns the error without the name of the object, so that equal errors can be grouped.
func (e *Error) Cause() string { return e.Call + e.Code + e.Err.Error() }

// Refused reports whether a retry is useless, because the access keys lack a permission.
func (e *Error) Refused() bool { return e.Denied() }

// Denied reports whether the store does not know the access keys, or they lack a permission.
func (e *Error) Denied() bool {
	return e.Status == http.StatusForbidden || e.Status == http.StatusUnauthorized || e.Code == "AccessDenied"
}

// Temporary reports whether the failure may be over soon: the store is busy, failed, or did not
// respond.
func (e *Error) Temporary() bool {
	if e.Status == 0 {
		var late interface{ Timeout() bool }
		broken := []error{syscall.ECONNRESET, syscall.EPIPE, io.ErrClosedPipe, io.EOF, io.ErrUnexpectedEOF}
		return errors.As(e.Err, &late) && late.Timeout() || slices.ContainsFunc(broken, func(x error) bool {
			return errors.Is(e.Err, x)
		})
	}
	return e.Status >= http.StatusInternalServerError || e.Status == http.StatusTooManyRequests || e.Code == "SlowDown"
}

// again reports whether to retry. It includes connection errors, because the store may just be
// starting.
func (e *Error) again() bool {
	var way *net.OpError
	return e.Temporary() || errors.As(e.Err, &way) || e.Code == "RequestTimeout"
}

// refused returns the error for a response. For a call with a condition, some of them mean that
// another writer was first.
func refused(what call, status int, body []byte) *Error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(body, &said) // some responses have no body
	e := &Error{Call: what.name, Object: what.about, Status: status, Code: said.Code, Err: errors.New(said.Message)}
	if said.Message == "" {
		e.Err = errors.New(http.StatusText(status))
	}
	switch {
	case e.Code == "NoSuchBucket":
		e.Err = errors.New("create the bucket first")
	case status == http.StatusNotFound && what.conditional && (e.Code == "NoSuchKey" || e.Code == "NotFound"):
		e.Err = objects.ErrConflict // the object existed, but another process has deleted it
	case status == http.StatusNotFound && !what.conditional:
		e.Err = objects.ErrNotFound
	case (status == http.StatusPreconditionFailed || status == http.StatusConflict) && what.conditional:
		e.Err = objects.ErrConflict
	}
	return e
}
