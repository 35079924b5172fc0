package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// reportPayload reports a table outside the data map whose rows are jobs or messages that a program handles later, with
// documents that may hold data of people.
func (s *schema) reportPayload(table datamap.CatalogTable) {
	payload := payloadOf(table)
	if payload == "" || !isTable(table) {
		return
	}
	at := place{table: table.Name, column: payload}
	asked, open := s.asksAboutDocument(at)
	left, isLeft := s.leftOut(table.Name)
	code := tablePersonal
	switch {
	case s.isDecided(table.Name), asked && !open:
		return
	case asked, isLeft && !left.Decided:
		code = questionsOpen
		s.asked[table.Name] = true
	}
	s.parts[part{tablePersonal, at}] = code
	s.report(tablePersonal, at,
		"The rows seem to be jobs or messages whose content may hold data of people, and no column refers to a person. The "+
			"table is not in the data map. Exports and erasures ignore it.", ofPayloads)
}

const ofPayloads = "If the rows are deleted soon after a program has handled them, accept the finding. If not, " +
	"delete the rows of the person in the hook BeforeErasure and accept the finding."

// foldPayloads replaces the findings of reportPayload about more than maxAlone tables by one finding.
func (s *schema) foldPayloads() {
	s.foldMissing(tablePersonal, wherePlaced, func(n, places string) string {
		return "The rows of " + n + " tables seem to be jobs or messages whose content may hold data of people, and no " +
			"column refers to a person: " + places + ". The tables are not in the data map. Exports and erasures ignore them."
	}, ofPayloads)
}

// payloadOf returns the column with the content of the jobs or messages of a table. It returns "" if there is none, as
// in a table of jobs for people to apply for, and in one of the kinds or the times of jobs.
func payloadOf(table datamap.CatalogTable) string {
	parts := names.Words(names.BaseName(table.Name))
	has := func(words []string) bool {
		return slices.ContainsFunc(parts, func(word string) bool { return slices.Contains(words, names.Singular(word)) })
	}
	if len(parts) == 0 || has(ofPlans) {
		return ""
	}
	last := names.Singular(parts[len(parts)-1])
	isRun := slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool { return hasWord(c.Name, ofRuns...) })
	isNamed := last == "job" || parts[len(parts)-1] == "queue"
	isJob := isNamed || slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		return slices.Contains([]string{"job class", "queue name"}, strings.Join(names.Words(c.Name), " "))
	})
	isMessage := has([]string{"outbox"}) || has([]string{"outgoing"}) && slices.Contains(ofSending, last) ||
		has([]string{"webhook"}) && slices.Contains(ofDeliveries, last)
	for _, column := range table.Columns {
		name := strings.Join(names.Words(column.Name), " ")
		isArgument := slices.Contains(arguments, name) || strings.HasPrefix(name, "serialized ")
		isContent := slices.Contains(contents, name) && (isRun || !isJob)
		isText := names.IsLong(column) && !table.IsChoice(column)
		if isDocument(column) && (isJob || isMessage) && (isArgument || isContent) ||
			isText && (isJob && isArgument || isMessage && isContent) {
			return column.Name
		}
	}
	return ""
}

var (
	ofRuns       = terms("run, runs, attempt, attempts, tries, retries, queue, locked, started, failed, priority")
	ofSending    = terms("mail, email, message, sms, webhook, event, notification")
	ofPlans      = terms("cron, periodic, recurring, template, definition, type, kind, schedule, print")
	ofDeliveries = terms("delivery, event, log, request, call, attempt, message")
	arguments    = terms("handler, args, arguments, kwargs, payload, params, parameters, job data, job args, job params")
	contents     = terms("body, payload, message, data, content, raw, mime, request body, response body, event data")
)
