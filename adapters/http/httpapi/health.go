package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/habeas-data/habeas/adapters/internal/safelog"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/health"
)

// The paths of a HealthAPI, relative to its prefix.
const (
	LivePath  = "/live"
	ReadyPath = "/ready"
)

// HealthAPI handles the probes of an orchestrator, such as Kubernetes: GET /live and GET /ready. A probe needs no
// authentication, because it is not about a subject. The body of a response names the checks and their results. It has
// no counts and no messages. HealthAPI is safe for concurrent use.
type HealthAPI struct {
	checker *health.Checker
	logger  *slog.Logger
	unready atomic.Bool // true if the process was not ready at the last check
}

// NewHealth returns a HealthAPI that runs the checks of checker. The HealthAPI logs when the process stops being ready,
// and when the process is ready again. A nil logger means slog.Default(). NewHealth returns domain.ErrConfiguration if
// the checker is nil.
func NewHealth(checker *health.Checker, logger *slog.Logger) (*HealthAPI, error) {
	if checker == nil {
		return nil, domain.Misconfigured("http api", "Checker is missing")
	}
	return &HealthAPI{checker: checker, logger: logger}, nil
}

// live is the body of the response to GET /live.
type live struct {
	Live bool `json:"live"`
}

// Route handles a request to any path. The parameter path is relative to the prefix.
//
// The response to GET /live always has the status 200. The response to GET /ready has the status 200 if the process is
// ready, even if it is degraded, and otherwise 503. Its body is the JSON of a health.Health. The response to HEAD has
// the same status as the response to GET. All other requests get a response with the status 404 or 405.
func (h *HealthAPI) Route(ctx context.Context, method, path string) Response {
	switch {
	case path != LivePath && path != ReadyPath:
		return problem(http.StatusNotFound, "There is no such resource.").response()
	case method != http.MethodGet && method != http.MethodHead:
		notAllowed := problem(http.StatusMethodNotAllowed, "The resource does not support this method.").response()
		notAllowed.Header.Set("Allow", "GET, HEAD")
		return notAllowed
	case path == LivePath:
		return healthResponse(http.StatusOK, live{true})
	}
	state := h.checker.Check(ctx)
	if h.unready.CompareAndSwap(state.Ready, !state.Ready) { // readiness has changed
		h.log(ctx, state)
	}
	if !state.Ready {
		return healthResponse(http.StatusServiceUnavailable, state)
	}
	return healthResponse(http.StatusOK, state)
}

func healthResponse(status int, body any) Response {
	encoded, _ := encode(body) // encoding these types cannot fail
	return newResponse(status, http.Header{"Content-Type": {"application/json"}}, encoded)
}

// log logs a change of readiness: the process is ready again, or is no longer ready.
func (h *HealthAPI) log(ctx context.Context, state health.Health) {
	logger := cmp.Or(h.logger, slog.Default())
	if state.Ready {
		logger.LogAttrs(ctx, slog.LevelInfo, "habeas: ready again")
		return
	}
	var failed []string
	var attributes []slog.Attr
	for _, check := range state.Checks {
		switch check.Name { //nolint:exhaustive // these checks do not make a process unready
		case health.CheckAbandoned, health.CheckLate, health.CheckLives:
			continue
		}
		if check.Status != health.CheckFailed {
			continue
		}
		failed = append(failed, string(check.Name))
		if check.Err != nil && attributes == nil {
			attributes = safelog.Error(check.Err)
		}
	}
	attributes = append(attributes, slog.String("failed", strings.Join(failed, ", ")))
	logger.LogAttrs(ctx, slog.LevelWarn, "habeas: not ready", attributes...)
}
