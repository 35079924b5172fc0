package domain

import (
	"cmp"
	"time"
)

// DutyName names a background duty: work that a worker repeats, and on which the rights of subjects depend.
type DutyName string

// The duties.
const (
	DutyWorker       DutyName = "worker"       // at least one worker is alive, and its batches succeed
	DutyJournal      DutyName = "journal"      // the journal gets a line for each erasure
	DutySweep        DutyName = "sweep"        // retained cells are overwritten after the end of their duty
	DutyVerification DutyName = "verification" // erasures are checked for data that they left over
)

// DutyNames returns every duty.
func DutyNames() []DutyName { return []DutyName{DutyWorker, DutyJournal, DutySweep, DutyVerification} }

// Duty is the last known state of a background duty, over all processes.
type Duty struct {
	Name DutyName `json:"duty"`
	// Every is the longest pause between two runs.
	Every time.Duration `json:"every_nanoseconds"`
	// Began is the instant since which a process has the duty. It is nil if no process ever had it.
	Began       *time.Time `json:"began"`
	LastSuccess *time.Time `json:"last_success"`
	LastFailure *time.Time `json:"last_failure"`
	// LastError is the class of the last failure, or empty if no run has failed.
	LastError Outcome `json:"last_error"`
	// LeftOver is the number of erasures that need a person. For the verification, these are the erasures that left rows
	// or values behind, and that no later verification found clean. For the sweep, these are the subjects that the last
	// complete sweep has counted as failed, skipped or unclear (see SweepReport), or those of the current sweep if they
	// are more. It is 0 for the other duties.
	LeftOver int64 `json:"left_over"`
}

// DutyState is the judgment about a Duty.
type DutyState string

// The states of a duty.
const (
	DutyFulfilled DutyState = "ok"
	DutyFailing   DutyState = "failing" // the last run failed
	DutyLate      DutyState = "late"    // no run has succeeded for longer than Duty.Patience
	DutyNever     DutyState = "never"   // no run has ever succeeded, and Duty.Patience is over or no process had the duty
)

// dutyPatience is the shortest time by which a run may be late. It covers the duration of a run, and the time for which
// a process does not store its successes.
const dutyPatience = time.Minute

// Patience is the longest time between two successes of a duty that is fulfilled: twice the pause, but at least the
// pause and a minute.
func (d Duty) Patience() time.Duration { return d.Every + max(d.Every, dutyPatience) }

// State judges the duty at an instant. It ignores the leftovers.
func (d Duty) State(at time.Time) DutyState {
	switch {
	case d.LastFailure != nil && (d.LastSuccess == nil || d.LastFailure.After(*d.LastSuccess)):
		return DutyFailing
	case d.LastSuccess != nil && at.Sub(*d.LastSuccess) > d.Patience():
		return DutyLate
	case d.LastSuccess == nil && (d.Began == nil || at.Sub(*d.Began) > d.Patience()):
		return DutyNever
	}
	return DutyFulfilled
}

// Waits returns the time since the last success at an instant, or the time since Began if no run has succeeded.
func (d Duty) Waits(at time.Time) time.Duration {
	switch {
	case d.LastSuccess != nil:
		return max(0, at.Sub(*d.LastSuccess))
	case d.Began != nil:
		return max(0, at.Sub(*d.Began))
	}
	return 0
}

// Merge returns the state of a duty from what two observers know: the earlier begin, the later success, and the later
// failure with its LastError. The other fields are those of d. If d has no Every, Merge takes that of other.
func (d Duty) Merge(other Duty) Duty {
	d.Every = cmp.Or(d.Every, other.Every)
	if d.Began == nil || other.Began != nil && other.Began.Before(*d.Began) {
		d.Began = other.Began
	}
	if other.LastSuccess != nil && (d.LastSuccess == nil || other.LastSuccess.After(*d.LastSuccess)) {
		d.LastSuccess = other.LastSuccess
	}
	if other.LastFailure != nil && (d.LastFailure == nil || other.LastFailure.After(*d.LastFailure)) {
		d.LastFailure, d.LastError = other.LastFailure, other.LastError
	}
	return d
}
