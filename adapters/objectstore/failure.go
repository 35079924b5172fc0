package objectstore

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"gocloud.dev/gcerrors"

	"github.com/habeas-data/habeas/domain"
)

// refused returns a permanent error, because a retry would fail for the same reason.
func (r *Resolver) refused(message string) error {
	return &domain.ResolverError{Resolver: r.options.Name, Message: message}
}

// later returns a retryable error.
func (r *Resolver) later(message string) error {
	return &domain.RetryLaterError{Resolver: r.options.Name, Message: message}
}

// ended returns a retryable error for a call whose context has ended.
func (r *Resolver) ended(err error) error {
	return &domain.RetryLaterError{Resolver: r.options.Name, Message: "the call was canceled or timed out", Err: err}
}

// failed returns the error of a call after one of its requests has failed with err. The error does not contain the text
// of err, which may contain keys.
func (r *Resolver) failed(ctx context.Context, request string, err error) error {
	if err := ending(ctx, err); err != nil {
		return r.ended(err)
	}
	var response interface{ HTTPStatusCode() int } // implemented by errors of the S3 client
	if r.bucket.ErrorAs(err, &response) || errors.As(err, &response) {
		message := request + " failed with status " + strconv.Itoa(response.HTTPStatusCode())
		switch response.HTTPStatusCode() {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			return r.refused(message)
		default:
			return r.later(message)
		}
	}
	switch code := gcerrors.Code(err); code {
	case gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.FailedPrecondition, gcerrors.Unimplemented:
		return r.refused(request + " was refused: " + code.String())
	default:
		return r.later(request + " failed: " + code.String())
	}
}

// hasNoVersions reports whether err means that the store does not support requests for versions.
func hasNoVersions(err error) bool {
	var response interface{ HTTPStatusCode() int }
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotImplemented
}

// ending returns context.Canceled or context.DeadlineExceeded if a request failed because its context was canceled or
// its deadline passed. Otherwise it returns nil.
func ending(ctx context.Context, err error) error {
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(ctx.Err(), ended) || ctx.Err() == nil && errors.Is(err, ended) {
			return ended
		}
	}
	return nil
}
