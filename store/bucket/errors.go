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
	// ErrNoKeys says that there is nothing to sign requests with.
	ErrNoKeys = errors.New("no keys are known: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role")

	// ErrIgnoresConditions is what [Bucket.Probe] says of a store that loses data.
	ErrIgnoresConditions = errors.New("the store ignores conditions (If-Match, If-None-Match), so machines would overwrite each other's data")
)

// Error is a call that the store has refused, or has not answered.
type Error struct {
	Call   string // as Amazon names it
	Object string
	Status int    // of HTTP, 0 without an answer
	Code   string // of the store
	Err    error
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	switch {
	case remedies[e.Code] != "":
		return fmt.Sprintf("%s of %s is refused (%d %s): %s", e.Call, e.Object, e.Status, e.Code, remedies[e.Code])
	case strangers[e.Code]:
		return fmt.Sprintf("%s of %s is refused (%d %s): the store does not know these keys; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile", e.Call, e.Object, e.Status, e.Code)
	case e.Denied():
		return fmt.Sprintf("%s of %s is refused (%d %s): the key needs the right %s there", e.Call, e.Object, e.Status, e.Code, rights[e.Call])
	case e.Status == 0:
		return fmt.Sprintf("%s of %s: %v", e.Call, e.Object, e.Err)
	}
	return fmt.Sprintf("%s of %s: the store answers %d %s: %v", e.Call, e.Object, e.Status, e.Code, e.Err)
}

// strangers are what stores answer to keys that are not theirs.
var strangers = map[string]bool{"SignatureDoesNotMatch": true, "InvalidAccessKeyId": true, "InvalidToken": true}

// remedies are what else is to be done where stores refuse.
var remedies = map[string]string{
	"RequestTimeTooSkewed": "the clock of this machine, or that of the store, is wrong: set the clock",
	"ExpiredToken":         "the credentials have expired: renew them",
}

// rights are what calls need.
var rights = map[string]string{
	"PutObject":     "s3:PutObject",
	"GetObject":     "s3:GetObject (and s3:ListBucket, to be told that an object is missing)",
	"ListObjectsV2": "s3:ListBucket",
	"DeleteObjects": "s3:DeleteObject",
}

// Cause says what the store says, or why it says nothing.
func (e *Error) Cause() string { return e.Call + e.Code + e.Err.Error() }

// Refused reports whether another attempt has no success: the keys may not do this.
func (e *Error) Refused() bool { return e.Denied() }

// Denied reports whether the store knows the keys, and they may not do this, or does not know them.
func (e *Error) Denied() bool {
	return e.Status == http.StatusForbidden || e.Status == http.StatusUnauthorized || e.Code == "AccessDenied"
}

// Temporary reports whether the store, or the way to it, is said to be at fault, and may not be soon: it is busy, fails, or does not answer.
func (e *Error) Temporary() bool {
	if e.Status == 0 {
		var late interface{ Timeout() bool }
		broken := []error{syscall.ECONNRESET, syscall.EPIPE, io.ErrClosedPipe, io.EOF, io.ErrUnexpectedEOF}
		return errors.As(e.Err, &late) && late.Timeout() || slices.ContainsFunc(broken, func(x error) bool { return errors.Is(e.Err, x) })
	}
	return e.Status >= http.StatusInternalServerError || e.Status == http.StatusTooManyRequests || e.Code == "SlowDown"
}

// again reports whether another attempt may succeed: also when the store could not be reached, since it may just be starting.
func (e *Error) again() bool {
	var way *net.OpError
	return e.Temporary() || errors.As(e.Err, &way) || e.Code == "RequestTimeout"
}

// refused makes an error of what a store says. What it is about decides which refusals are lost races.
func refused(what call, status int, body []byte) *Error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(body, &said) // some say nothing
	e := &Error{Call: what.name, Object: what.about, Status: status, Code: said.Code, Err: errors.New(said.Message)}
	if said.Message == "" {
		e.Err = errors.New(http.StatusText(status))
	}
	switch {
	case e.Code == "NoSuchBucket":
		e.Err = errors.New("make the bucket first")
	case status == http.StatusNotFound && what.conditional && (e.Code == "NoSuchKey" || e.Code == "NotFound"):
		e.Err = objects.ErrConflict // it was there, and somebody has deleted it
	case status == http.StatusNotFound && !what.conditional:
		e.Err = objects.ErrNotFound
	case (status == http.StatusPreconditionFailed || status == http.StatusConflict) && what.conditional:
		e.Err = objects.ErrConflict
	}
	return e
}
