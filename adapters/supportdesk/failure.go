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

// longestWait bounds what the desk can ask for. A daily quota fits; a garbled time must not keep an erasure waiting
// past the month that Art. 12(3) GDPR gives.
const longestWait = 24 * time.Hour

// flaw is what is wrong with an answer, in words that are safe to log.
type flaw string

func (f flaw) Error() string { return string(f) }

// The flaws.
const (
	errNotJSON       flaw = "something that says it is no JSON"
	errShape         flaw = "JSON that is broken or not what was asked for"
	errTooLarge      flaw = "more than can be held"
	errAnother       flaw = "the id of another contact"
	errNotDeleted    flaw = "JSON that does not say deleted"
	errCursorRepeats flaw = "a cursor that repeats"
	errNotLoopback   flaw = "an address of another machine"
	errTooManyPages  flaw = "pages without end"
)

// unusable is the error for a 2xx that cannot be used: tried again, for what the desk did is not known.
func unusable(method string, err error) error {
	found := errShape
	_ = errors.As(err, &found)
	return &domain.RetryLater{Resolver: Name, Message: method + " was answered with " + found.Error()}
}

// notTheDesk is the error for a 404 that the desk did not write. It is tried again: the proxy, or the server without
// the desk behind it, can be gone by then.
func notTheDesk(method string) error {
	return &domain.RetryLater{Resolver: Name, Message: method + " was answered 404, not in the words of the desk"}
}

// refused is the error for a status that is no success. The body is not looked at: it is the vendor's words.
func refused(method string, status int, header http.Header, now time.Time) error {
	message := method + " was answered " + strconv.Itoa(status)
	switch {
	case isForNow(status):
		return &domain.RetryLater{Resolver: Name, Message: message, After: comeBack(status, header, now)}
	case status >= 400:
		return &domain.ResolverError{Resolver: Name, Message: message}
	default: // a redirect, which is not followed
		return &domain.RetryLater{Resolver: Name, Message: message}
	}
}

func isForNow(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return status >= 500
	}
}

// comeBack is how long the desk wants to be left alone, 0 when it does not say. X-RateLimit-Reset comes with every
// answer and means a wait only where the limit was hit.
func comeBack(status int, header http.Header, now time.Time) time.Duration {
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

// unanswered is the error for a request that no answer came to. err itself is dropped: it quotes the URL, and with it
// the contact's id.
func unanswered(ctx context.Context, method string, err error) error {
	var (
		ended       = ending(ctx, err)
		resolving   *net.DNSError
		certificate *tls.CertificateVerificationError
		message     = method + " got no answer"
	)
	switch {
	case errors.Is(ended, context.Canceled):
		message += ": it was cancelled"
	case ended != nil:
		message += " in time"
	case errors.Is(err, errNotLoopback):
		message += ": the address of the host is not one of this machine"
	case errors.As(err, &resolving):
		message += ": the name of the host could not be resolved"
	case errors.As(err, &certificate):
		message += ": the certificate of the host was not accepted"
	}
	return &domain.RetryLater{Resolver: Name, Message: message, Err: ended}
}

// brokenOff is the error for an answer that did not come to its end.
func brokenOff(ctx context.Context, method string, err error) error {
	return &domain.RetryLater{Resolver: Name, Message: method + " got half an answer", Err: ending(ctx, err)}
}

// ending is context.Canceled or context.DeadlineExceeded where that is why a request ended, else nil.
func ending(ctx context.Context, err error) error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(ctx.Err(), ended) || ctx.Err() == nil && errors.Is(err, ended) {
			return ended
		}
	}
	return nil
}
