// Package telemetry is an observer that makes OpenTelemetry metrics and spans of what habeas does:
//
//	observer, err := telemetry.New(telemetry.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Options: stack.Options{Observer: observer}})
//
// It uses the API of OpenTelemetry alone. The application chooses the SDK and the exporters, and sets them as the
// global providers or in Options.
//
// Every attribute has values of a closed set: the names of resolvers, the routes of habeas, and the constants of
// package domain. None of them is an id, a value or a ref of a subject.
//
// # Metrics
//
//	name                          kind       unit            attributes
//	habeas.request.duration       histogram  s               http.*, habeas.outcome
//	habeas.session.duration       histogram  s               habeas.outcome
//	habeas.session.retries        counter    {retry}
//	habeas.resolver.call.duration histogram  s               habeas.system, habeas.operation, habeas.outcome
//	habeas.resolver.breaker       gauge      {breaker}       habeas.system, habeas.state
//	habeas.erasures               counter    {erasure}       habeas.outcome
//	habeas.exports                counter    {export}        habeas.outcome
//	habeas.rectifications         counter    {rectification} habeas.outcome
//	habeas.consents               counter    {decision}      habeas.decision, habeas.outcome
//	habeas.restrictions           counter    {decision}      habeas.decision, habeas.outcome
//	habeas.outbox.entries         gauge      {entry}         habeas.system, habeas.status
//	habeas.outbox.oldest.age      gauge      s               habeas.system
//	habeas.outbox.due.age         gauge      s               habeas.system
//	habeas.worker.polls           counter    {poll}          habeas.outcome
//	habeas.worker.settled         counter    {entry}
//	habeas.worker.heartbeat.age   gauge      s
//
// The duration of a request is that of a request to an endpoint of habeas, to the end of its stream. The duration of a
// session has all its attempts, and habeas.session.retries counts the attempts after the first one.
//
// An erasure or a rectification counts when its local part is committed or has failed. The calls of external systems
// that follow are those of habeas.resolver.call.duration. The counters of rights begin at 0 for each outcome, so that
// Prometheus sees the first failure as an increase.
//
// The gauges of the outbox have the state that a worker has read last; it reads every minute. A process without a
// worker has none. Several workers report the same outbox: take the maximum, not the sum. habeas.outbox.oldest.age is
// the age of the oldest entry that is not settled, and habeas.outbox.due.age is how long the entry has been due that
// has been due the longest. Both are 0 if there is none, and go on to grow if no worker reads the outbox.
//
// habeas.resolver.breaker is 1 for the state of the circuit breaker of a system, and 0 for the others.
// habeas.worker.heartbeat.age is the time since the last batch of a worker that succeeded. A slow system can keep all
// loops of a worker busy for minutes.
//
// # Attributes
//
//	http.request.method        GET, POST or DELETE
//	http.route                 the pattern of the endpoint below its prefix, such as /consent/{purpose}
//	http.response.status_code  the status
//	habeas.outcome             ok, or what failed; see domain.Outcomes
//	habeas.system              the name of a resolver
//	habeas.operation           export, erase or rectify
//	habeas.decision            granted or withdrawn, placed or lifted
//	habeas.status              pending, in_flight, failed or abandoned
//	habeas.state               closed, half_open or open
//	habeas.retries             of a span: the attempts after the first one
//	error.type                 of a span that failed: its outcome
//
// # Spans
//
//	habeas {method} {route}             internal  a request, a part of the span of the application's own instrumentation
//	habeas session                      internal  a session with all its attempts
//	habeas {operation} {system}         client    a call of a resolver
//
// A query hook of bun makes spans of the statements of a session, and a transport of package otelhttp those of the
// requests of a resolver.
//
// # Dashboard and alerts
//
// The files dashboard.json (for Grafana) and alerts.yaml (rules for Prometheus) of this directory are made for these
// metrics, under the names that Prometheus gives them: habeas.erasures is habeas_erasures_total.
package telemetry
