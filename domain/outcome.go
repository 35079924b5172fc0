package domain

import (
	"slices"
)

// Outcome is the result of an operation in one word. The function Outcomes lists all possible words.
type Outcome string

// The outcomes that are not a Code. Each Code is also an Outcome.
const (
	OutcomeOK         Outcome = "ok"
	OutcomeIncomplete Outcome = "incomplete"  // an export without the records of an external system
	OutcomeRefused    Outcome = "refused"     // a *ResolverError or *RefusalError, or a refused request
	OutcomeRetryLater Outcome = "retry_later" // a *RetryLaterError
	OutcomeCanceled   Outcome = "canceled"
	OutcomeTimeout    Outcome = "timeout"
	OutcomePanic      Outcome = "panic"
	OutcomeInternal   Outcome = "internal" // every other error
)

// Outcomes returns every outcome: the constants of type Outcome, and one outcome for each Code of this package.
func Outcomes() []Outcome { return slices.Clone(outcomes) }

var outcomes = []Outcome{
	OutcomeOK, OutcomeIncomplete, OutcomeRefused, OutcomeRetryLater, OutcomeCanceled, OutcomeTimeout, OutcomePanic,
	OutcomeInternal,
	Outcome(ErrInvalid), Outcome(ErrSubject), Outcome(ErrManifest), Outcome(ErrRetention), Outcome(ErrConfiguration),
	Outcome(ErrSession), Outcome(ErrUnavailable), Outcome(ErrConflict), Outcome(ErrLeftOver), Outcome(ErrSpared),
	Outcome(ErrErased), Outcome(ErrHeld), Outcome(ErrNotFound), Outcome(ErrLimited), Outcome(ErrBehind),
}

// OutcomeOf returns the outcome for an error. It returns OutcomeOK for nil, otherwise the ErrorClass of the error. If
// the class is not in Outcomes, for example the Code of another module, OutcomeOf returns OutcomeInternal. If a method
// of the error panics, it returns OutcomePanic.
func OutcomeOf(err error) (outcome Outcome) {
	if err == nil {
		return OutcomeOK
	}
	defer func() {
		if recover() != nil {
			outcome = OutcomePanic
		}
	}()
	if class := Outcome(ErrorClass(err)); slices.Contains(outcomes, class) {
		return class
	}
	return OutcomeInternal
}
