package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// These are the attributes. The documentation of the package lists the possible values of each attribute.
const (
	methodKey    = attribute.Key("http.request.method")
	routeKey     = attribute.Key("http.route")
	statusKey    = attribute.Key("http.response.status_code")
	outcomeKey   = attribute.Key("habeas.outcome")
	systemKey    = attribute.Key("habeas.system")
	operationKey = attribute.Key("habeas.operation")
	decisionKey  = attribute.Key("habeas.decision")
	entryKey     = attribute.Key("habeas.status")
	stateKey     = attribute.Key("habeas.state")
	retriesKey   = attribute.Key("habeas.retries")
	errorKey     = attribute.Key("error.type")
	dutyKey      = attribute.Key("habeas.duty")
	mapKey       = attribute.Key("habeas.map")
)

// buckets has the upper bounds of the histogram buckets, in seconds. They are the bounds in the semantic conventions
// for HTTP, plus the default timeouts of a request and of a call of a resolver.
var buckets = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30}

// instruments has all instruments of the observer.
type instruments struct {
	requests, sessions, calls         metric.Float64Histogram
	retries, polls, settled           metric.Int64Counter
	erasures, exports, rectifications metric.Int64Counter
	consents, restrictions            metric.Int64Counter
	entries, breakers                 metric.Int64ObservableGauge
	oldestAge, dueAge, heartbeatAge   metric.Float64ObservableGauge
	runs                              metric.Int64Counter
	failing, leftovers                metric.Int64ObservableGauge
	successAge                        metric.Float64ObservableGauge
}

// maker creates instruments. It keeps the first error, so that a caller checks for an error only once.
type maker struct {
	metric.Meter
	err error
}

func newInstruments(meter metric.Meter) (instruments, error) {
	m := &maker{Meter: meter}
	return instruments{
		requests: m.duration("habeas.request.duration", "Duration of requests to the endpoints of habeas."),
		sessions: m.duration("habeas.session.duration", "Duration of sessions, with all their attempts."),
		calls:    m.duration("habeas.resolver.call.duration", "Duration of calls to external systems."),

		retries:  m.counter("habeas.session.retries", "{retry}", "Repeated attempts of sessions."),
		erasures: m.counter("habeas.erasures", "{erasure}", "Erasures, by the outcome of their local transaction."),
		exports:  m.counter("habeas.exports", "{export}", "Exports."),
		rectifications: m.counter("habeas.rectifications", "{rectification}",
			"Rectifications, by the outcome of their local transaction."),
		consents:     m.counter("habeas.consents", "{decision}", "Decisions about consent."),
		restrictions: m.counter("habeas.restrictions", "{decision}", "Decisions about restriction."),
		polls:        m.counter("habeas.worker.polls", "{poll}", "Batches of the worker."),
		settled:      m.counter("habeas.worker.settled", "{entry}", "Entries of the outbox that the worker has finished."),

		entries:      m.count("habeas.outbox.entries", "{entry}", "Entries of the outbox that have not succeeded."),
		breakers:     m.count("habeas.resolver.breaker", "{breaker}", "1 for the current state of a breaker, else 0."),
		oldestAge:    m.age("habeas.outbox.oldest.age", "Age of the oldest entry that has not succeeded."),
		dueAge:       m.age("habeas.outbox.due.age", "Longest time for which an entry has been due."),
		heartbeatAge: m.age("habeas.worker.heartbeat.age", "Time since the last successful batch of the worker."),

		runs:       m.counter("habeas.duty.runs", "{run}", "Runs of the background duties."),
		failing:    m.count("habeas.duty.failing", "{duty}", "1 if the last run failed or no run succeeded in time, else 0."),
		leftovers:  m.count("habeas.duty.leftovers", "{erasure}", "Erasures for which a duty found data that is left over."),
		successAge: m.age("habeas.duty.success.age", "Time since the last successful run of a background duty."),
	}, m.err
}

func (m *maker) duration(name, description string) metric.Float64Histogram {
	made, err := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(buckets...))
	m.note(err)
	return made
}

func (m *maker) counter(name, unit, description string) metric.Int64Counter {
	made, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) count(name, unit, description string) metric.Int64ObservableGauge {
	made, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) age(name, description string) metric.Float64ObservableGauge {
	made, err := m.Float64ObservableGauge(name, metric.WithUnit("s"), metric.WithDescription(description))
	m.note(err)
	return made
}

func (m *maker) note(err error) {
	if m.err == nil {
		m.err = err
	}
}
