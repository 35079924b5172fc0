package domain

import "slices"

// Outcome is how something ended, in one word of a closed set; see Outcomes.
type Outcome string

// The outcomes that are not a Code.
const (
	OutcomeOK         Outcome = "ok"
	OutcomeIncomplete Outcome = "incomplete"  // an export in which an external system is missing
	OutcomeRefused    Outcome = "refused"     // for good: a *ResolverError, or a request that the application refused
	OutcomeRetryLater Outcome = "retry_later" // a *RetryLater
	OutcomeCanceled   Outcome = "canceled"
	OutcomeTimeout    Outcome = "timeout"
	OutcomePanic      Outcome = "panic"
	OutcomeInternal   Outcome = "internal" // every other error
)

// Outcomes lists every outcome: those above, and one for each Code of this package.
func Outcomes() []Outcome { return slices.Clone(outcomes) }

var outcomes = []Outcome{
	OutcomeOK, OutcomeIncomplete, OutcomeRefused, OutcomeRetryLater, OutcomeCanceled, OutcomeTimeout, OutcomePanic,
	OutcomeInternal,
	Outcome(ErrInvalid), Outcome(ErrSubject), Outcome(ErrManifest), Outcome(ErrRetention), Outcome(ErrConfiguration),
	Outcome(ErrSession), Outcome(ErrUnavailable), Outcome(ErrConflict), Outcome(ErrLeftOver),
}

// OutcomeOf returns the outcome for an error: OutcomeOK for nil, else its ErrorClass. A class that is none of Outcomes,
// such as the Code of another module, is OutcomeInternal. A panic of a method of the error is OutcomePanic.
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
