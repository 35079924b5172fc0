package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// payloadCases are tables of jobs and messages that do not refer to people.
var payloadCases = cases{
	"table-personal of jobs and messages": {
		both(documents("outbox", "payload"), documents("good_jobs", "serialized_params"),
			outside("webhook_deliveries", "url", "body")),
		[]string{
			"table-personal good_jobs.serialized_params", "table-personal outbox.payload",
			"table-personal webhook_deliveries.body",
		},
	},
	"table-personal of many tables of jobs and messages": {
		both(documents("outbox", "payload"), documents("river_job", "args"), outside("delayed_jobs", "handler"),
			outside("webhook_deliveries", "body")),
		[]string{"table-personal outbox all"},
	},
	"table-personal of tables beside an accepted one": {
		both(documents("outbox", "payload"), documents("river_job", "args"),
			accepted("table-personal", "outbox", "payload")), []string{"table-personal river_job.args"},
	},
	"questions-open about jobs": {
		both(documents("river_job", "args"),
			noted("users", "", "DECIDE: Columns river_job.args: Are they deleted? (yes | no)")),
		[]string{questions},
	},

	"table-personal not of jobs after an answer": {
		both(documents("river_job", "args"),
			noted("users", "", "DECIDED: Columns river_job.args: Are they deleted? (yes | no)")), nil,
	},
	"table-personal not of an outbox that was left out": {
		both(documents("outbox", "payload"), settled("outbox", "id", "payload")), nil,
	},
	"table-personal not of settings of queues": {documents("message_queues", "arguments"), nil},
	"table-personal not of servers":            {outside("outgoing_mail_servers", "host", "message"), nil},
	"table-personal not of jobs to apply for":  {outside("jobs", "headline", "requirements", "body"), nil},
	"table-personal not of the times of jobs":  {documents("cron_jobs", "args"), nil},
	"table-personal not of the kinds of jobs":  {documents("job_types", "params"), nil},
	"table-personal not of addresses of hooks": {outside("webhooks", "url", "payload"), nil},
	"table-personal not of short texts": {
		func(w *world) {
			w.addTable("jobs", "handler")
			w.column("jobs", "handler").Length = 100
		}, nil,
	},
	"table-personal not of results of jobs": {
		func(w *world) {
			w.addTable("jobs", "name")
			w.add("jobs", "progress", datamap.TypeJSON)
		}, nil,
	},
}
