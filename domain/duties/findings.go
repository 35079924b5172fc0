package duties

import (
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// texts has what a person reads about a duty.
type texts struct{ subject, effect, remedy, leftOver, leftOverRemedy string }

var textsOf = map[domain.DutyName]texts{
	domain.DutyWorker: {
		subject: "The worker", effect: "External systems are not called, and no other duty runs.",
		remedy: "Start a worker with Lifespan of the application that listens, or with Run. If one runs, its log names the " +
			"error.",
	},
	domain.DutyJournal: {
		subject: "The journal", effect: "After a restore of the database, the latest erasures cannot be replayed.",
		remedy: "Check that the journal's disk or bucket can be reached and written and has space.",
	},
	domain.DutySweep: {
		subject: "The sweep", effect: "Personal data stays longer than the law requires it.",
		remedy:         "The log of the worker and the events retention_sweep_failed name the error.",
		leftOver:       "erased subjects have cells whose retention is over, and which the sweep did not overwrite",
		leftOverRemedy: "Run habeas sweep, which counts the failed, skipped and unclear subjects and names the causes.",
	},
	domain.DutyVerification: {
		subject: "The verification", effect: "Nothing tells whether erasures have left data behind.",
		remedy:   "The log of the worker names the error.",
		leftOver: "erasures have left rows or values behind",
		leftOverRemedy: "The events erasure_left_over name the tables. Remove the data, then run habeas verify for the" +
			" subject. If the id was given again, add --clear.",
	},
}

const behindRemedy = "Find the session that has been in a transaction for longest in pg_stat_activity, and end it."

// Findings returns the problems of duties at an instant. The code of a finding is the name of the duty with one of
// these suffixes:
//
//   - failing: the last run failed.
//   - behind: the last run has left out an erasure for too long (see domain.ErrBehind).
//   - late: no run has succeeded for too long (see domain.Duty.Patience), or no run has ever succeeded.
//   - left-over: the duty has found something that a person has to handle (see domain.Duty.LeftOver).
func Findings(all []domain.Duty, at time.Time) (found []datamap.Finding) {
	for _, duty := range all {
		text := textsOf[duty.Name]
		finding := datamap.Finding{Severity: datamap.SeverityError, Remedy: text.remedy}
		switch duty.State(at) {
		case domain.DutyFailing:
			finding.Code = string(duty.Name) + "-failing"
			finding.Reason = text.subject + " has failed at " + duty.LastFailure.Format(time.RFC3339) + " (" +
				string(duty.LastError) + "). " + text.effect
			if duty.LastError == domain.Outcome(domain.ErrBehind) {
				finding.Code, finding.Remedy = string(duty.Name)+"-behind", behindRemedy
			}
		case domain.DutyLate:
			finding.Code = string(duty.Name) + "-late"
			finding.Reason = text.subject + " has not succeeded since " + duty.LastSuccess.Format(time.RFC3339) + ". " +
				text.effect
		case domain.DutyNever:
			finding.Code = string(duty.Name) + "-late"
			finding.Reason = text.subject + " has never run in any process. " + text.effect
			if duty.Began != nil {
				finding.Reason = text.subject + " has never succeeded since its begin at " + duty.Began.Format(time.RFC3339) +
					". " + text.effect
			}
		case domain.DutyFulfilled:
		}
		if finding.Code != "" {
			found = append(found, finding)
		}
		if duty.LeftOver > 0 {
			found = append(found, datamap.Finding{
				Code: string(duty.Name) + "-left-over", Severity: datamap.SeverityError,
				Reason: strconv.FormatInt(duty.LeftOver, 10) + " " + text.leftOver + ".", Remedy: text.leftOverRemedy,
			})
		}
	}
	return found
}
