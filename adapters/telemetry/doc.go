// Package telemetry implements an observer that exports OpenTelemetry metrics and spans of habeas:
//
//	observer, err := telemetry.New(telemetry.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Options: stack.Options{Observer: observer}})
//
// The package depends only on the API of OpenTelemetry. The application chooses the SDK and the exporters. It passes
// the providers of the SDK in [Options], or sets them as the global providers. Call [Observer.Close] at the shutdown.
//
// The values of every attribute are a closed set: names of resolvers and data maps, routes of habeas, and constants of
// package domain. No attribute contains an id of a subject, a ref, or a value from the database.
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
//	habeas.duty.runs              counter    {run}           habeas.duty, habeas.outcome
//	habeas.duty.failing           gauge      {duty}          habeas.duty
//	habeas.duty.leftovers         gauge      {erasure}       habeas.duty
//	habeas.duty.success.age       gauge      s               habeas.duty
//
// habeas.request.duration is the duration of requests to the endpoints of habeas. It includes the time in which a
// response is streamed. A session is a database transaction of habeas. A store may repeat it after a deadlock.
// habeas.session.duration is the duration of a session with all its attempts. habeas.session.retries counts the
// attempts after the first.
//
// habeas.erasures and habeas.rectifications increase when the transaction in the application's database has committed
// or failed. The calls to external systems follow later. They are measured by habeas.resolver.call.duration. The
// counters of erasures, exports, rectifications, consents and restrictions start at 0 for each outcome. Prometheus can
// therefore show the first failure as an increase.
//
// The gauges habeas.outbox.* describe the outbox, which is the table of calls to external systems. A worker reads the
// outbox every minute, and the gauges describe the entries at the last read. A process without a worker has no such
// gauges. All workers report the same outbox, so aggregate the gauges with the maximum and not with the sum.
//
// habeas.outbox.oldest.age is the age of the oldest entry that is pending, in flight or failed. An entry is due when
// the time of its next attempt has come. habeas.outbox.due.age is the time since the first of these entries was due.
// Without such an entry, both gauges are 0. Each collection of the metrics computes both ages anew, so they also
// grow between two reads.
//
// habeas.resolver.breaker is 1 for the current state of the circuit breaker of an external system, and 0 for the other
// states. habeas.worker.heartbeat.age is the time since a worker has last processed a batch without an error. It can
// reach minutes without a fault, because calls to a slow external system can occupy all loops of a worker.
//
// A duty is work that a worker repeats and on which the rights of subjects depend: the journal, the sweep, the
// verification, and the worker itself. habeas.duty.runs counts its runs in this process. habeas.duty.failing is 1 if
// its last run has failed, or if no run has succeeded in time, see domain.Duty. habeas.duty.leftovers is the number of
// erasures that need a person, as the database has it. habeas.duty.success.age is the time since the last successful
// run, or since the begin of the duty. These gauges cover all processes, so aggregate them with the maximum.
//
// If the application has several data maps, it creates an observer for each and sets [Options].Name. All metrics and
// spans then also have the attribute habeas.map. For the data map without a name, no metric and no span has it.
//
// # Attributes
//
//	habeas.map                 the name of the data map, unless it is empty
//	http.request.method        GET, POST or DELETE
//	http.route                 the pattern of the endpoint below its prefix, such as /consent/{purpose}
//	http.response.status_code  the status
//	habeas.outcome             ok, or the class of the failure; see domain.Outcomes
//	habeas.system              the name of a resolver
//	habeas.operation           export, erase or rectify
//	habeas.decision            granted or withdrawn, placed or lifted
//	habeas.status              pending, in_flight, failed, abandoned or spared
//	habeas.state               closed, half_open or open
//	habeas.duty                worker, journal, sweep or verification
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
