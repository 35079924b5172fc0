package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/ports"
)

// Scope is the name of the instrumentation scope of all metrics and spans.
const Scope = "github.com/habeas-data/habeas/adapters/telemetry"

// Options holds the settings of an Observer. The zero value is ready for use.
type Options struct {
	MeterProvider  metric.MeterProvider // the default is the global provider
	TracerProvider trace.TracerProvider // the default is the global provider
	Clock          ports.Clock          // for durations and ages; the default is the clock of the machine

	// Name is the name of the data map of the Integration that reports to the observer, as in app.Config. If it is not
	// empty, all metrics and spans have it as the attribute habeas.map. The observers of several data maps in a process
	// need different names, because otherwise their metrics would add up or overwrite each other. The default is "".
	Name string
}

// Observer records metrics and spans. It implements ports.Observer and is safe for concurrent use.
type Observer struct {
	instruments
	tracer trace.Tracer
	clock  ports.Clock
	ofMap  []attribute.KeyValue     // the attributes of all metrics and spans
	about  metric.MeasurementOption // the same, for metrics
	state  gauges
	rights map[observation.SubjectRight]metric.Int64Counter
}

var _ ports.Observer = (*Observer)(nil)

// machine is the clock of the machine.
type machine struct{}

func (machine) Now() time.Time { return time.Now() }

// New returns an observer. An application needs one observer for each of its data maps. New returns an error if the
// meter provider cannot create an instrument. It returns domain.ErrConfiguration if Options.Name is not valid.
func New(opts Options) (*Observer, error) {
	if err := datamap.CheckMapName("telemetry", opts.Name); err != nil {
		return nil, err
	}
	if opts.MeterProvider == nil {
		opts.MeterProvider = otel.GetMeterProvider()
	}
	if opts.TracerProvider == nil {
		opts.TracerProvider = otel.GetTracerProvider()
	}
	if opts.Clock == nil {
		opts.Clock = machine{}
	}
	meter := opts.MeterProvider.Meter(Scope)
	made, err := newInstruments(meter)
	if err != nil {
		return nil, err
	}
	o := &Observer{instruments: made, tracer: opts.TracerProvider.Tracer(Scope), clock: opts.Clock}
	if opts.Name != "" {
		o.ofMap = []attribute.KeyValue{mapKey.String(opts.Name)}
	}
	o.about = metric.WithAttributes(o.ofMap...)
	o.rights = map[observation.SubjectRight]metric.Int64Counter{
		observation.RightErasure: o.erasures, observation.RightExport: o.exports,
		observation.RightRectification: o.rectifications,
		observation.RightConsent:       o.consents, observation.RightRestriction: o.restrictions,
	}
	o.beginAtZero()
	return o, o.register(meter)
}

// decisions maps each right to the values of the attribute habeas.decision of its counter. Only consent and restriction
// have this attribute. For the other rights, the empty text means that the attribute is absent.
var decisions = map[observation.SubjectRight][]observation.Decision{
	observation.RightErasure: {""}, observation.RightExport: {""}, observation.RightRectification: {""},
	observation.RightConsent:     {observation.DecisionGranted, observation.DecisionWithdrawn},
	observation.RightRestriction: {observation.DecisionPlaced, observation.DecisionLifted},
}

// beginAtZero adds 0 to the counter of each right, for each combination of attributes. Without this first value,
// Prometheus would not show the first failure as an increase.
func (o *Observer) beginAtZero() {
	for right, counter := range o.rights {
		for _, decision := range decisions[right] {
			for _, outcome := range domain.Outcomes() {
				counter.Add(context.Background(), 0, o.about, ofRight(decision, outcome))
			}
		}
	}
}

func ofRight(decision observation.Decision, outcome domain.Outcome) metric.MeasurementOption {
	if decision == "" {
		return metric.WithAttributes(ofOutcome(outcome))
	}
	return metric.WithAttributes(decisionKey.String(string(decision)), ofOutcome(outcome))
}

func ofOutcome(outcome domain.Outcome) attribute.KeyValue { return outcomeKey.String(string(outcome)) }

// Start implements ports.Observer. It starts a span. The returned function ends the span and records the duration of
// the activity.
func (o *Observer) Start(ctx context.Context, a observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	var name string
	var about []attribute.KeyValue
	var duration metric.Float64Histogram
	kind := trace.SpanKindInternal
	switch a.Kind {
	case observation.ActivityRequest:
		name, duration = "habeas "+a.Method+" "+a.Route, o.requests
		about = []attribute.KeyValue{methodKey.String(a.Method), routeKey.String(a.Route)}
	case observation.ActivitySession:
		name, duration = "habeas session", o.sessions
	case observation.ActivityCall:
		name, duration, kind = "habeas "+string(a.Call)+" "+a.System, o.calls, trace.SpanKindClient
		about = []attribute.KeyValue{systemKey.String(a.System), operationKey.String(string(a.Call))}
	default: // an activity of a later version of habeas
		return ctx, nil
	}
	begun := o.clock.Now()
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(kind),
		trace.WithAttributes(o.ofMap...), trace.WithAttributes(about...))
	return ctx, func(ended observation.ActivityEnd) {
		about := append(about[:len(about):len(about)], ofOutcome(ended.Outcome))
		if a.Kind == observation.ActivityRequest {
			about = append(about, statusKey.Int(ended.Status))
		}
		duration.Record(ctx, o.clock.Now().Sub(begun).Seconds(), o.about, metric.WithAttributes(about...))
		if a.Kind == observation.ActivitySession && ended.Retries > 0 {
			o.retries.Add(ctx, int64(ended.Retries), o.about)
		}
		end(span, a, ended)
	}
}

// end ends a span. If a request was refused with a status 4xx, the span has no error status, because the server did not
// fail.
func end(span trace.Span, a observation.Activity, ended observation.ActivityEnd) {
	span.SetAttributes(ofOutcome(ended.Outcome))
	isFault := ended.Outcome != domain.OutcomeOK
	switch a.Kind { //nolint:exhaustive // a call has no further attributes
	case observation.ActivityRequest:
		span.SetAttributes(statusKey.Int(ended.Status))
		isFault = isFault && (ended.Status < 400 || ended.Status >= 500)
	case observation.ActivitySession:
		span.SetAttributes(retriesKey.Int(ended.Retries))
	}
	if isFault {
		span.SetAttributes(errorKey.String(string(ended.Outcome)))
		span.SetStatus(codes.Error, string(ended.Outcome))
	}
	span.End()
}

// Observe implements ports.Observer.
func (o *Observer) Observe(ctx context.Context, seen observation.Observation) {
	switch observed := seen.(type) {
	case observation.RightObserved:
		if counter := o.rights[observed.Right]; counter != nil {
			counter.Add(ctx, 1, o.about, ofRight(observed.Decision, observed.Outcome))
		}
	case observation.PollObserved:
		o.polls.Add(ctx, 1, o.about, metric.WithAttributes(ofOutcome(observed.Outcome)))
		if observed.Settled > 0 {
			o.settled.Add(ctx, int64(observed.Settled), o.about)
		}
		o.state.poll(observed)
	case observation.DutyObserved:
		if observed.Outcome != "" {
			o.runs.Add(ctx, 1, o.about, metric.WithAttributes(
				dutyKey.String(string(observed.Duty.Name)), ofOutcome(observed.Outcome)))
		}
		o.state.duty(observed.Duty)
	case observation.OutboxObserved:
		o.state.outbox(observed)
	case observation.BreakerObserved:
		o.state.breaker(observed)
	}
}
