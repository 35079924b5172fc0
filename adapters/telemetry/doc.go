// Package telemetry implements an observer that exports OpenTelemetry metrics and spans of habeas:
//
//	observer, err := telemetry.New(telemetry.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Options: stack.Options{Observer: observer}})
//
// The package depends only on the API of OpenTelemetry. The application chooses the SDK and the exporters. It sets them
// as the global providers or in [Options]. See [New], and [Observer.Close] for the shutdown.
//
// The values of every attribute are a closed set: names of resolvers, routes of habeas, and constants of package
// domain. No attribute has an id, a value or a ref of a subject.
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
// habeas.request.duration is the duration of requests to the endpoints of habeas, including streamed responses.
// habeas.session.duration includes all attempts of a session. habeas.session.retries counts the attempts after the
// first.
//
// habeas.erasures and habeas.rectifications count when the local part has committed or failed. The later calls to
// external systems are in habeas.resolver.call.duration. The counters of erasures, exports, rectifications, consents
// and restrictions start at 0 for each outcome, so that Prometheus sees the first failure as an increase.
//
// The gauges habeas.outbox.* have the state that a worker has read last. A worker reads it every minute. A process
// without a worker has no such gauges. Several workers report the same outbox, so aggregate with the maximum and not
// with the sum. habeas.outbox.oldest.age is the age of the oldest entry that has not succeeded. habeas.outbox.due.age
// is the longest time for which an entry has been due. Both are 0 without such an entry. Both continue to grow if no
// worker reads the outbox.
//
// habeas.resolver.breaker is 1 for the current state of the circuit breaker of a system, and 0 for the other states.
// habeas.worker.heartbeat.age is the time since the last successful batch of a worker. A slow system can occupy all
// loops of a worker for minutes.
//
// # Attributes
//
//	http.request.method        GET, POST or DELETE
//	http.route                 the pattern of the endpoint below its prefix, such as /consent/{purpose}
//	http.response.status_code  the status
//	habeas.outcome             ok, or the class of the failure; see domain.Outcomes
//	habeas.system              the name of a resolver
//	habeas.operation           export, erase or rectify
//	habeas.decision            granted or withdrawn, placed or lifted
//	habeas.status              pending, in_flight, failed or abandoned
//	habeas.state               closed, half_open or open
//	habeas.retries             on a span of a session: the attempts after the first
//	error.type                 on a failed span: its outcome
//
// # Spans
//
//	habeas {method} {route}             internal  a request, as a child of the span of the application's instrumentation
//	habeas session                      internal  a session with all its attempts
//	habeas {operation} {system}         client    a call of a resolver
//
// For spans of SQL statements, add a query hook of bun. For spans of HTTP requests of a resolver, use a transport of
// package otelhttp.
//
// # Dashboard and alerts
//
// The directory of this package has a dashboard for Grafana (dashboard.json) and alert rules for Prometheus
// (alerts.yaml). They use the metric names that Prometheus derives. For example, habeas.erasures is
// habeas_erasures_total.
package telemetry
