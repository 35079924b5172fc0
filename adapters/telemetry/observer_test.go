package telemetry_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/habeas-data/habeas/adapters/telemetry"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestConformance(t *testing.T) {
	porttest.TestObserver(t, func(t testing.TB) ports.Observer {
		t.Helper()
		return newWorld(t)
	})
}

func TestActivitiesAreMeasured(t *testing.T) {
	w := newWorld(t)
	request := observation.Activity{Kind: observation.ActivityRequest, Method: "GET", Route: "/consent/{purpose}"}
	session := observation.Activity{Kind: observation.ActivitySession}
	call := observation.Activity{Kind: observation.ActivityCall, System: "desk", Call: observation.CallErase}
	w.during(t.Context(), request, 2*time.Second, observation.ActivityEnd{Outcome: domain.OutcomeOK, Status: 200})
	w.during(t.Context(), request, time.Second, observation.ActivityEnd{Outcome: domain.OutcomeRefused, Status: 401})
	w.during(t.Context(), session, 3*time.Second, observation.ActivityEnd{Outcome: domain.OutcomeOK, Retries: 2})
	w.during(t.Context(), session, 4*time.Second, observation.ActivityEnd{Outcome: "conflict"})
	w.during(t.Context(), call, 5*time.Second, observation.ActivityEnd{Outcome: domain.OutcomeTimeout})
	const route = "http.request.method=GET,http.response.status_code=%d,http.route=/consent/{purpose}}"
	w.want(t,
		"habeas.request.duration{habeas.outcome=ok,"+fmt.Sprintf(route, 200)+" 2",
		"habeas.request.duration{habeas.outcome=refused,"+fmt.Sprintf(route, 401)+" 1",
		"habeas.resolver.call.duration{habeas.operation=erase,habeas.outcome=timeout,habeas.system=desk} 5",
		"habeas.session.duration{habeas.outcome=conflict} 4",
		"habeas.session.duration{habeas.outcome=ok} 3",
		"habeas.session.retries{} 2",
	)
}

func TestRightsAreCountedFromZero(t *testing.T) {
	w := newWorld(t)
	for name, perOutcome := range map[string]int{
		"habeas.erasures": 1, "habeas.exports": 1, "habeas.rectifications": 1, "habeas.consents": 2, "habeas.restrictions": 2,
	} {
		if n := len(pointsOf(t, w.collect(t)[name])); n != perOutcome*len(domain.Outcomes()) {
			t.Errorf("%s has %d series", name, n)
		}
	}
	for _, observation := range []observation.Observation{
		observation.RightObserved{Right: observation.RightErasure, Outcome: domain.OutcomeOK},
		observation.RightObserved{Right: observation.RightErasure, Outcome: domain.OutcomeOK},
		observation.RightObserved{Right: observation.RightErasure, Outcome: "left_over"},
		observation.RightObserved{Right: observation.RightExport, Outcome: domain.OutcomeIncomplete},
		observation.RightObserved{Right: observation.RightRectification, Outcome: domain.OutcomeOK},
		observation.RightObserved{
			Right: observation.RightConsent, Decision: observation.DecisionGranted,
			Outcome: domain.OutcomeOK,
		},
		observation.RightObserved{
			Right: observation.RightConsent, Decision: observation.DecisionWithdrawn,
			Outcome: domain.OutcomeOK,
		},
		observation.RightObserved{
			Right: observation.RightRestriction, Decision: observation.DecisionPlaced,
			Outcome: "invalid",
		},
		observation.RightObserved{
			Right: observation.RightRestriction, Decision: observation.DecisionLifted,
			Outcome: domain.OutcomeOK,
		},
	} {
		w.Observe(t.Context(), observation)
	}
	w.want(t,
		"habeas.consents{habeas.decision=granted,habeas.outcome=ok} 1",
		"habeas.consents{habeas.decision=withdrawn,habeas.outcome=ok} 1",
		"habeas.erasures{habeas.outcome=left_over} 1",
		"habeas.erasures{habeas.outcome=ok} 2",
		"habeas.exports{habeas.outcome=incomplete} 1",
		"habeas.rectifications{habeas.outcome=ok} 1",
		"habeas.restrictions{habeas.decision=lifted,habeas.outcome=ok} 1",
		"habeas.restrictions{habeas.decision=placed,habeas.outcome=invalid} 1",
	)
}

// outbox returns an observation of an outbox that has only entries of the external system with the given name. The
// parameter oldest is the enqueue time of the oldest entry, and firstDue is the earliest time at which an entry was
// due.
func outbox(name string, pending, abandoned int64, oldest, firstDue time.Time) observation.OutboxObserved {
	return observation.OutboxObserved{Backlogs: []domain.OutboxBacklog{{
		Resolver: name, Oldest: &oldest, OldestDue: &firstDue,
		Counts: map[domain.OutboxStatus]int64{domain.OutboxPending: pending, domain.OutboxAbandoned: abandoned},
	}}}
}

func TestTheOutboxIsAGauge(t *testing.T) {
	w := newWorld(t)
	w.want(t)
	w.Observe(t.Context(), outbox("desk", 3, 1, noon.Add(-time.Hour), noon.Add(-time.Minute)))
	w.want(t,
		"habeas.outbox.due.age{habeas.system=desk} 60",
		"habeas.outbox.entries{habeas.status=abandoned,habeas.system=desk} 1",
		"habeas.outbox.entries{habeas.status=pending,habeas.system=desk} 3",
		"habeas.outbox.oldest.age{habeas.system=desk} 3600",
	)
	w.now = noon.Add(time.Hour) // no worker has read the outbox since
	w.want(t,
		"habeas.outbox.due.age{habeas.system=desk} 3660",
		"habeas.outbox.entries{habeas.status=abandoned,habeas.system=desk} 1",
		"habeas.outbox.entries{habeas.status=pending,habeas.system=desk} 3",
		"habeas.outbox.oldest.age{habeas.system=desk} 7200",
	)
	w.Observe(t.Context(), outbox("mail", 1, 0, w.now, w.now.Add(time.Minute)))
	w.want(t, "habeas.outbox.entries{habeas.status=pending,habeas.system=mail} 1")
	if n := len(pointsOf(t, w.collect(t)["habeas.outbox.entries"])); n != 10 {
		t.Errorf("%d series, want 5 for each system: empty counts are 0", n)
	}
}

func TestABreakerIsAGauge(t *testing.T) {
	w := newWorld(t)
	for _, state := range []observation.BreakerState{
		observation.BreakerClosed, observation.BreakerOpen,
		observation.BreakerHalfOpen,
	} {
		w.Observe(t.Context(), observation.BreakerObserved{System: "desk", State: state})
		w.want(t, "habeas.resolver.breaker{habeas.state="+string(state)+",habeas.system=desk} 1")
	}
	if n := len(pointsOf(t, w.collect(t)["habeas.resolver.breaker"])); n != 3 {
		t.Errorf("%d series", n)
	}
}

func TestTheWorkerIsMeasured(t *testing.T) {
	w := newWorld(t)
	w.Observe(t.Context(), observation.PollObserved{At: noon, Outcome: "unavailable"})
	w.now = noon.Add(10 * time.Second)
	w.want(t, "habeas.worker.heartbeat.age{} 10", "habeas.worker.polls{habeas.outcome=unavailable} 1")
	w.Observe(t.Context(), observation.PollObserved{At: w.now, Outcome: domain.OutcomeOK, Settled: 7})
	w.Observe(t.Context(), observation.PollObserved{At: w.now.Add(time.Second), Outcome: domain.OutcomePanic})
	w.now = noon.Add(15 * time.Second)
	w.want(t,
		"habeas.worker.heartbeat.age{} 5", "habeas.worker.polls{habeas.outcome=ok} 1",
		"habeas.worker.polls{habeas.outcome=panic} 1", "habeas.worker.polls{habeas.outcome=unavailable} 1",
		"habeas.worker.settled{} 7",
	)
}

// A duty that waits in its first run is measured from its begin.
func TestTheDutiesAreMeasured(t *testing.T) {
	w := newWorld(t)
	duty := domain.Duty{Name: domain.DutyJournal, Every: 5 * time.Second, Began: &noon}
	w.Observe(t.Context(), observation.DutyObserved{Duty: duty})
	w.now = noon.Add(time.Minute)
	w.want(t, "habeas.duty.success.age{habeas.duty=journal} 60")
	w.now = noon.Add(2 * time.Minute)
	w.want(t, "habeas.duty.failing{habeas.duty=journal} 1", "habeas.duty.success.age{habeas.duty=journal} 120")
	success, failure := w.now, w.now.Add(time.Second)
	duty.LastSuccess, duty.LeftOver = &success, 3
	w.Observe(t.Context(), observation.DutyObserved{Duty: duty, Outcome: domain.OutcomeOK})
	w.want(t, "habeas.duty.leftovers{habeas.duty=journal} 3",
		"habeas.duty.runs{habeas.duty=journal,habeas.outcome=ok} 1")
	duty.LastFailure, duty.LastError = &failure, domain.OutcomePanic
	w.Observe(t.Context(), observation.DutyObserved{Duty: duty, Outcome: domain.OutcomePanic})
	w.want(t, "habeas.duty.failing{habeas.duty=journal} 1", "habeas.duty.leftovers{habeas.duty=journal} 3",
		"habeas.duty.runs{habeas.duty=journal,habeas.outcome=ok} 1",
		"habeas.duty.runs{habeas.duty=journal,habeas.outcome=panic} 1")
}

func TestAClosedObserverHasNoGauges(t *testing.T) {
	w := newWorld(t)
	w.Observe(t.Context(), observation.PollObserved{At: noon, Outcome: domain.OutcomeOK})
	w.now = noon.Add(time.Minute)
	must(t, w.Close())
	w.Observe(t.Context(), observation.PollObserved{At: noon, Outcome: domain.OutcomeOK})
	w.want(t, "habeas.worker.polls{habeas.outcome=ok} 2")
}

func TestSpansAreNestedLikeActivities(t *testing.T) {
	w := newWorld(t)
	ctx, endRequest := w.Start(t.Context(), observation.Activity{
		Kind: observation.ActivityRequest, Method: "GET",
		Route: "/export",
	})
	within, endSession := w.Start(ctx, observation.Activity{Kind: observation.ActivitySession})
	w.during(within, observation.Activity{Kind: observation.ActivityCall, System: "desk", Call: observation.CallExport}, 0,
		observation.ActivityEnd{Outcome: domain.OutcomeTimeout})
	endSession(observation.ActivityEnd{Outcome: domain.OutcomeOK, Retries: 1})
	endRequest(observation.ActivityEnd{Outcome: domain.OutcomeOK, Status: 200})
	var got []string
	for _, span := range w.spans.GetSpans() {
		set := attribute.NewSet(span.Attributes...)
		got = append(got, fmt.Sprintf("%s %s %s{%s}", span.Name, span.SpanKind, span.Status.Code,
			set.Encoded(attribute.DefaultEncoder())))
	}
	want := []string{
		"habeas export desk client Error{error.type=timeout,habeas.operation=export,habeas.outcome=timeout," +
			"habeas.system=desk}",
		"habeas session internal Unset{habeas.outcome=ok,habeas.retries=1}",
		"habeas GET /export internal Unset{habeas.outcome=ok,http.request.method=GET,http.response.status_code=200," +
			"http.route=/export}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the spans are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	spans := w.spans.GetSpans()
	if spans[0].Parent.SpanID() != spans[1].SpanContext.SpanID() ||
		spans[1].Parent.SpanID() != spans[2].SpanContext.SpanID() {
		t.Error("the spans are not nested")
	}
}

// If a request is refused, the server has not failed. If a streamed response ends early, the server has failed.
func TestARefusedRequestIsNotAnError(t *testing.T) {
	w := newWorld(t)
	request := observation.Activity{Kind: observation.ActivityRequest, Method: "GET", Route: "/export"}
	for status, want := range map[int]codes.Code{401: codes.Unset, 422: codes.Unset, 503: codes.Error, 200: codes.Error} {
		w.spans.Reset()
		w.during(t.Context(), request, 0, observation.ActivityEnd{Outcome: "canceled", Status: status})
		if got := w.spans.GetSpans()[0].Status.Code; got != want {
			t.Errorf("%d: %s", status, got)
		}
	}
}

func TestDataMapsInOneProcessHaveMetricsOfTheirOwn(t *testing.T) {
	report := func(w *world, entries int64) {
		w.during(t.Context(), observation.Activity{Kind: observation.ActivitySession}, time.Second,
			observation.ActivityEnd{Outcome: domain.OutcomeOK, Retries: 2})
		w.during(t.Context(), observation.Activity{
			Kind: observation.ActivityCall, System: "desk",
			Call: observation.CallErase,
		}, time.Second,
			observation.ActivityEnd{Outcome: domain.OutcomeOK})
		w.during(t.Context(), observation.Activity{Kind: observation.ActivityRequest, Method: "GET", Route: "/export"},
			time.Second,
			observation.ActivityEnd{Outcome: domain.OutcomeOK, Status: 200})
		w.Observe(t.Context(), observation.RightObserved{Right: observation.RightErasure, Outcome: domain.OutcomeOK})
		w.Observe(t.Context(), observation.PollObserved{
			At: noon.Add(-time.Hour), Outcome: domain.OutcomeOK, Settled: int(entries),
		})
		w.Observe(t.Context(), observation.BreakerObserved{System: "desk", State: observation.BreakerOpen})
		w.Observe(t.Context(), outbox("desk", entries, entries, noon.Add(-time.Hour), noon.Add(-time.Minute)))
	}
	var want []string
	for i, name := range []string{"", "staff"} {
		alone := newWorlds(t, name)[0]
		report(alone, int64(i+1))
		for _, line := range alone.lines(t) {
			if strings.Contains(line, "habeas.map=staff") != (name == "staff") {
				t.Errorf("the data map %q has %s", name, line)
			}
			want = append(want, line)
		}
	}
	both := newWorlds(t, "", "staff")
	for i, w := range both {
		report(w, int64(i+1))
	}
	slices.Sort(want)
	both[0].want(t, want...)
	for i, span := range both[0].spans.GetSpans() {
		named := slices.Contains(span.Attributes, attribute.String("habeas.map", "staff"))
		if named != (i >= 3) { // the second data map has reported its three spans after the first one
			t.Errorf("span %d (%s) has the attributes %v", i, span.Name, span.Attributes)
		}
	}
}

func TestANameThatNoDataMapCanHaveIsRefused(t *testing.T) {
	if _, err := telemetry.New(telemetry.Options{Name: "Zoë"}); !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("the error is %v", err)
	}
}

// If the observer does not know the kind of an activity, the context keeps the span of the application.
func TestAnUnknownActivityKeepsTheSpanOfTheApplication(t *testing.T) {
	w := newWorld(t)
	own, span := sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans)).Tracer("application").Start(t.Context(), "own")
	_, end := w.Start(own, observation.Activity{Kind: "of a later version"})
	if end != nil || !trace.SpanFromContext(own).IsRecording() {
		t.Error("an unknown activity has a span")
	}
	w.during(own, observation.Activity{Kind: observation.ActivitySession}, 0,
		observation.ActivityEnd{Outcome: domain.OutcomeOK})
	if !span.IsRecording() {
		t.Error("the span of the application has ended")
	}
	span.End()
}

// refusing is a meter provider that returns an error for each gauge.
type refusing struct{ noop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ noop.Meter }

func (refusingMeter) Int64ObservableGauge(
	string, ...metric.Int64ObservableGaugeOption,
) (metric.Int64ObservableGauge, error) {
	return nil, errors.New("refused")
}

func TestARefusedInstrumentIsAnError(t *testing.T) {
	if _, err := telemetry.New(telemetry.Options{MeterProvider: refusing{}}); err == nil {
		t.Error("there is no error")
	}
}

func TestTheDefaultsAreTheGlobalProviders(t *testing.T) {
	observer, err := telemetry.New(telemetry.Options{})
	must(t, err)
	_, end := observer.Start(t.Context(), observation.Activity{Kind: observation.ActivitySession})
	end(observation.ActivityEnd{Outcome: domain.OutcomeOK})
	must(t, observer.Close())
}
