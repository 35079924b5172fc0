// Package observation has what an observer receives: the start and the end of activities, and outcomes for metrics. See
// ports.Observer. No field contains personal data.
package observation

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// Activity is an event with a duration. An observer is notified of its start and its end. See ports.Observer. Only the
// fields that belong to the kind of the activity are set. The fields never contain a value, an id in the application or
// in an external system, or a text that a client sent.
type Activity struct {
	Kind ActivityKind

	Method string // for a request: the method of its endpoint, such as "GET"
	Route  string // for a request: the pattern of its endpoint without the prefix, such as "/consent/{purpose}"

	System string        // for a call: the name of the resolver
	Call   CallOperation // for a call: its operation
}

// ActivityKind is the kind of an Activity.
type ActivityKind string

// The kinds of an Activity.
const (
	// ActivityRequest is the handling of an HTTP request by an endpoint. It ends when the response is complete.
	ActivityRequest ActivityKind = "request"
	// ActivitySession is a call of SessionFactory.Do. It includes all attempts, and the writing of evidence (audit events
	// that stay after a rollback).
	ActivitySession ActivityKind = "session"
	// ActivityCall is a call of a resolver.
	ActivityCall ActivityKind = "call"
)

// CallOperation is the operation that a call requests from a resolver.
type CallOperation string

// The operations of a call.
const (
	CallExport  CallOperation = "export"
	CallErase   CallOperation = CallOperation(domain.OperationErase)
	CallRectify CallOperation = CallOperation(domain.OperationRectify)
)

// ActivityEnd is the end of an Activity.
type ActivityEnd struct {
	Outcome domain.Outcome
	Status  int // for a request: the HTTP status of the response, 100 to 599
	Retries int // for a session: the number of retries, 0 or more
}

// Observation is an event without a duration. It is a RightObserved, an OutboxObserved, a BreakerObserved, a
// PollObserved or a DutyObserved. Other packages cannot add types.
type Observation interface{ observation() }

// RightObserved is a completed call of a service for a right of the subject. The service reports it after the session
// of the call has ended.
type RightObserved struct {
	Right    SubjectRight
	Decision Decision       // only for RightConsent and RightRestriction; otherwise empty
	Outcome  domain.Outcome // domain.OutcomeOK if the call succeeded and the session has committed
}

// SubjectRight is a right of the subject in the GDPR.
type SubjectRight string

// The rights.
const (
	RightErasure       SubjectRight = "erasure"       // Art. 17 GDPR; the local part, which enqueues the external part
	RightExport        SubjectRight = "export"        // Art. 15 GDPR
	RightRectification SubjectRight = "rectification" // Art. 16 GDPR; the local part, which enqueues the external part
	RightConsent       SubjectRight = "consent"       // Art. 7 GDPR; a decision, not a query
	RightRestriction   SubjectRight = "restriction"   // Art. 18 GDPR; a decision, not a query
)

// Decision says how a subject has decided about a consent (granted or withdrawn) or a restriction (placed or lifted).
type Decision string

// The decisions.
const (
	DecisionGranted   Decision = "granted"   // consent
	DecisionWithdrawn Decision = "withdrawn" // consent
	DecisionPlaced    Decision = "placed"    // restriction
	DecisionLifted    Decision = "lifted"    // restriction
)

// OutboxObserved is the state of the outbox. Each OutboxObserved replaces the previous one.
type OutboxObserved struct {
	// Backlogs has an element for each resolver that is registered in the process, and for each resolver with outbox
	// entries that have not succeeded. Each element has the count of every status except succeeded. The caller may reuse
	// Backlogs after the notification, so an observer must copy the parts that it keeps.
	Backlogs []domain.OutboxBacklog
}

// BreakerObserved is the state of the circuit breaker of an external system. It replaces the previous state of this
// breaker.
type BreakerObserved struct {
	System string // the name of the resolver
	State  BreakerState
}

// BreakerState is the state of a circuit breaker.
type BreakerState string

// The states of a circuit breaker.
const (
	BreakerClosed   BreakerState = "closed"    // the system is called
	BreakerHalfOpen BreakerState = "half_open" // one trial call is made
	BreakerOpen     BreakerState = "open"      // the system is not called
)

// PollObserved reports that a worker has ended a batch.
type PollObserved struct {
	At      time.Time // the end of the batch
	Outcome domain.Outcome
	Settled int // the number of entries that the batch has settled
}

// DutyObserved reports that a run of a background duty has ended, or that a worker begins with the duty. Its Duty
// replaces the previous one of the same name.
type DutyObserved struct {
	Duty    domain.Duty
	Outcome domain.Outcome // of the run; empty at the begin
}

func (DutyObserved) observation()    {}
func (RightObserved) observation()   {}
func (OutboxObserved) observation()  {}
func (BreakerObserved) observation() {}
func (PollObserved) observation()    {}
