package httptestsuite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

func unreachableStoreIs503(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.sessions.failWith(func(context.Context) error {
		return &domain.Error{Code: domain.ErrUnavailable, Op: "connect", Err: errors.New(confidential)}
	})
	for _, r := range successes {
		got := w.exact(t, "problem_503", 503, r)
		got.hasHeaders(t, r, "application/problem+json")
		seconds := got.header.Get("Retry-After")
		assert(t, seconds == "5", "%s: Retry-After is %q", r, seconds)
	}
	w.sessions.failWith(nil)
	w.expect(t, 200, get("/export"))
}

func grantsOfErasedPeopleAre409(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.sessions.failWith(func(context.Context) error {
		return &domain.Error{Code: domain.ErrErased, Op: "record consent", Err: errors.New(confidential)}
	})
	r := post("/consent", decision)
	w.exact(t, "problem_409", http.StatusConflict, r).hasHeaders(t, r, "application/problem+json")
}

func deadlineIs504(t testing.TB, harness Harness) {
	w := harness.openAt(t, "/me", httpapi.Config{Timeout: 10 * time.Millisecond}, httpapi.WithRestriction())
	w.sessions.failWith(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	for _, r := range successes {
		got := w.send(t, r)
		if got.status != 504 {
			t.Fatalf("%s: got status %d, want 504; if a read deadline of the server cancels the context of the request, "+
				"set Request.SetReadDeadline only for a request with a body, and remove the deadline at io.EOF; got\n%s",
				r, got.status, got.body)
		}
		w.compare(t, "problem_504", r, got)
		got.hasHeaders(t, r, "application/problem+json")
	}
}

func failuresShowNoErrorText(t testing.TB, harness Harness) {
	w := harness.open(t)
	var failed []request
	for _, r := range successes {
		failed = append(failed, r, r.withSubject(failing), r.withSubject(panicking))
		failed = append(failed, r.withSubject(forbidden), r.withoutSubject())
	}
	for _, fault := range []error{
		errors.New(confidential),
		&domain.Error{Code: domain.ErrConflict, Op: confidential, Message: confidential, Err: errors.New(confidential)},
		fmt.Errorf("%s: %w", confidential, domain.ErrUnavailable),
		fmt.Errorf("%s: %w", confidential, context.DeadlineExceeded),
	} {
		w.sessions.failWith(func(context.Context) error { return fault })
		for _, r := range failed {
			got := w.send(t, r)
			assert(t, got.status >= 400 && got.text("detail") != "",
				"%s: a failure returned %d %s", r, got.status, got.body)
			assert(t, !strings.Contains(got.body, confidential) && !strings.Contains(fmt.Sprint(got.header), confidential),
				"%s: %d shows the text of an error: %v %s", r, got.status, got.header, got.body)
		}
	}
}

func panicEndsOneRequestOnly(t testing.TB, harness Harness) {
	w := harness.open(t)
	for _, r := range successes {
		w.expect(t, 500, r.withSubject(panicking)).hasHeaders(t, r, "application/problem+json")
		w.sessions.failWith(func(context.Context) error { panic(confidential) })
		w.expect(t, 500, r)
		w.sessions.failWith(func(context.Context) error { panic(http.ErrAbortHandler) })
		w.expect(t, 500, r)
		w.sessions.failWith(nil)
		w.expect(t, 200, r)
	}
}
