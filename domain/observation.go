package domain

import "time"

// Activity is an event with a duration. An observer is notified of its begin and its end. See ports.Observer. Only the
// fields of its kind are set. The fields never contain an id, a value, a ref or a text that a client sent.
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
	// ActivityRequest is an HTTP request to an endpoint, until its response is complete.
	ActivityRequest ActivityKind = "request"
	// ActivitySession is a call of SessionFactory.Do. It includes all attempts, and the evidence of a failure.
	ActivitySession ActivityKind = "session"
	// ActivityCall is a call of a resolver.
	ActivityCall ActivityKind = "call"
)

// CallOperation is the operation of a call of a resolver.
type CallOperation string

// The operations of a call.
const (
	CallExport  CallOperation = "export"
	CallErase   CallOperation = CallOperation(OperationErase)
	CallRectify CallOperation = CallOperation(OperationRectify)
)

// Ended is the end of an Activity.
type Ended struct {
	Outcome Outcome
	Status  int // for a request: the HTTP status of the response, 100 to 599
	Retries int // for a session: the number of retries, 0 or more
}

// Observation is an event without a duration. It is a RightObserved, an OutboxObserved, a BreakerObserved or a
// PollObserved. Other packages cannot add types.
type Observation interface{ observation() }

// RightObserved is a call of a service for a right of the subject. It is reported once the session of the call has
// ended.
type RightObserved struct {
	Right    Right
	Decision Decision // for a consent or a restriction; otherwise empty
	Outcome  Outcome  // OutcomeOK if the session has committed
}

// Right is a right of the subject.
type Right string

// The rights.
const (
	RightErasure       Right = "erasure"       // Art. 17 GDPR; the local part, which enqueues the external part
	RightExport        Right = "export"        // Art. 15 GDPR
	RightRectification Right = "rectification" // Art. 16 GDPR; the local part, which enqueues the external part
	RightConsent       Right = "consent"       // Art. 7 GDPR; a decision, not a query
	RightRestriction   Right = "restriction"   // Art. 18 GDPR; a decision, not a query
)

// Decision is the direction of a decision about a consent or a restriction.
type Decision string

// The decisions.
const (
	DecisionGranted   Decision = "granted"   // consent
	DecisionWithdrawn Decision = "withdrawn" // consent
	DecisionPlaced    Decision = "placed"    // restriction
	DecisionLifted    Decision = "lifted"    // restriction
)

// OutboxObserved is the state of the outbox. It replaces the state that was reported before.
type OutboxObserved struct {
	// Backlogs has a line for each resolver that is registered in the process or has entries that have not succeeded. A
	// line has the count of every status except succeeded. Backlogs belongs to the caller, so the observer copies the
	// parts that it keeps.
	Backlogs []OutboxBacklog
}

// BreakerObserved is the state of the circuit breaker of a system. It replaces the state that was reported before.
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

// PollObserved is the end of a batch of a worker.
type PollObserved struct {
	At      time.Time // the end of the batch
	Outcome Outcome
	Settled int // the number of entries that the batch has settled
}

func (RightObserved) observation()   {}
func (OutboxObserved) observation()  {}
func (BreakerObserved) observation() {}
func (PollObserved) observation()    {}
