package supportdesk

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// longestWait is the maximum delay before a retry. If the desk requests a longer delay, the delay is reduced to
// longestWait. One day is long enough for a daily quota. A much longer delay could delay an erasure beyond the month of
// Art. 12(3) GDPR.
const longestWait = 24 * time.Hour

// flaw is an error that describes why a response cannot be used. Its text contains no data, so it is safe to log.
type flaw string

func (f flaw) Error() string { return string(f) }

// The flaws of responses and connections.
const (
	errNotJSON       flaw = "the Content-Type is not JSON"
	errShape         flaw = "the JSON is broken or has an unexpected shape"
	errTooLarge      flaw = "the body is too large"
	errAnother       flaw = "the id belongs to another contact"
	errNotDeleted    flaw = "the body does not confirm the deletion"
	errCursorRepeats flaw = "the cursor repeats"
	errNotLoopback   flaw = "the address belongs to another machine"
	errTooManyPages  flaw = "the search has too many pages"
)

// unusable returns the error for a response with status 2xx that cannot be used. It is a retryable error, because the
// desk may or may not have executed the request.
func unusable(method string, err error) error {
	found := errShape
	_ = errors.As(err, &found)
	return &domain.RetryLaterError{
		Resolver: Name, Message: method + " got a response that cannot be used: " + found.Error(),
	}
}

// notFromDesk returns the error for a response with status 404 that is not from the desk. It is a retryable error,
// because a later request may reach the desk.
func notFromDesk(method string) error {
	return &domain.RetryLaterError{
		Resolver: Name, Message: method + " got status 404, but not in the error format of the desk",
	}
}

// refused returns the error for a response whose status is not 2xx. The error does not quote the body, because the
// vendor may have put personal data into the body.
func refused(method string, status int, header http.Header, now time.Time) error {
	message := method + " got status " + strconv.Itoa(status)
	switch {
	case isTransient(status):
		return &domain.RetryLaterError{Resolver: Name, Message: message, After: retryAfter(status, header, now)}
	case status >= 400:
		return &domain.ResolverError{Resolver: Name, Message: message}
	default: // a redirect, which is not followed
		return &domain.RetryLaterError{Resolver: Name, Message: message}
	}
}

func isTransient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return status >= 500
	}
}

// retryAfter returns the delay that a response requests, or 0 if it requests none. It ignores the header
// X-RateLimit-Reset unless the status is 429, because the desk sends this header with every status.
func retryAfter(status int, header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return bounded(seconds)
	}
	if at, err := http.ParseTime(value); err == nil {
		return bounded(at.Unix() - now.Unix())
	}
	if status == http.StatusTooManyRequests {
		if at, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64); err == nil && at > 0 {
			return bounded(at - now.Unix())
		}
	}
	return 0
}

func bounded(seconds int64) time.Duration {
	return time.Duration(min(max(seconds, 0), int64(longestWait/time.Second))) * time.Second
}

// noResponse returns the error for a request that got no response. It does not wrap err, because the text of err
// contains the URL and thus the id of the contact.
func noResponse(ctx context.Context, method string, err error) error {
	var (
		ended       = contextError(ctx, err)
		resolving   *net.DNSError
		certificate *tls.CertificateVerificationError
		message     = method + " got no response"
	)
	switch {
	case errors.Is(ended, context.Canceled):
		message += ": the call was canceled"
	case ended != nil:
		message += " in time"
	case errors.Is(err, errNotLoopback):
		message += ": the host resolves to the address of another machine"
	case errors.As(err, &resolving):
		message += ": the name of the host could not be resolved"
	case errors.As(err, &certificate):
		message += ": the certificate of the host was not accepted"
	}
	return &domain.RetryLaterError{Resolver: Name, Message: message, Err: ended}
}

// incomplete returns the error for a response whose body could not be read to its end.
func incomplete(ctx context.Context, method string, err error) error {
	return &domain.RetryLaterError{
		Resolver: Name, Message: method + " got an incomplete response", Err: contextError(ctx, err),
	}
}

// contextError returns context.Canceled or context.DeadlineExceeded if the request failed because its context was
// canceled or its deadline passed. Otherwise it returns nil.
func contextError(ctx context.Context, err error) error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(ctx.Err(), ended) || ctx.Err() == nil && errors.Is(err, ended) {
			return ended
		}
	}
	return nil
}
