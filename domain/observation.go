package domain

import "time"

// Activity is something that takes time, as an observer is told of it; see ports.Observer. Only the fields of its kind
// are set. None of them holds an id, a value, a ref or a text that a client sent.
type Activity struct {
	Kind ActivityKind

	Method string // of a request: the method of its endpoint, such as "GET"
	Route  string // of a request: the pattern of its endpoint below the prefix, such as "/consent/{purpose}"

	System string        // of a call: the name of the resolver
	Call   CallOperation // of a call
}

// ActivityKind is what kind of activity it is.
type ActivityKind string

// The kinds of an Activity.
const (
	// ActivityRequest is an HTTP request to an endpoint, until its response is complete.
	ActivityRequest ActivityKind = "request"
	// ActivitySession is a call of SessionFactory.Do: all attempts, and the evidence of a failure.
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
	Status  int // of a request: the HTTP status that was sent, 100 to 599
	Retries int // of a session: how often it was run again, 0 or more
}

// Observation is one thing that an observer is told of, and that takes no time: a RightObserved, an OutboxObserved, a
// BreakerObserved or a PollObserved. No other package can add one.
type Observation interface{ observation() }

// RightObserved is a call of a service for a right of the subject, once its session has ended.
type RightObserved struct {
	Right    Right
	Decision Decision // of a consent or a restriction, else empty
	Outcome  Outcome  // OutcomeOK if the session has committed
}

// Right is a right of the subject.
type Right string

// The rights.
const (
	RightErasure       Right = "erasure"       // Art. 17 GDPR; the local part, which enqueues the external one
	RightExport        Right = "export"        // Art. 15 GDPR
	RightRectification Right = "rectification" // Art. 16 GDPR; the local part, which enqueues the external one
	RightConsent       Right = "consent"       // Art. 7 GDPR; a decision, not a question
	RightRestriction   Right = "restriction"   // Art. 18 GDPR; a decision, not a question
)

// Decision is which way a consent or a restriction was decided.
type Decision string

// The decisions.
const (
	DecisionGranted   Decision = "granted"   // consent
	DecisionWithdrawn Decision = "withdrawn" // consent
	DecisionPlaced    Decision = "placed"    // restriction
	DecisionLifted    Decision = "lifted"    // restriction
)

// OutboxObserved is the state of the outbox. It takes the place of the one observed before.
type OutboxObserved struct {
	// Backlogs has a line for each resolver that is registered in the process or has entries that are not settled, each
	// with the count of every status but succeeded. They belong to the caller: an observer copies what it keeps.
	Backlogs []OutboxBacklog
}

// BreakerObserved is the state of the circuit breaker of a system. It takes the place of the one observed before.
type BreakerObserved struct {
	System string // the name of the resolver
	State  BreakerState
}

// BreakerState is the state of a circuit breaker.
type BreakerState string

// The states of a circuit breaker.
const (
	BreakerClosed   BreakerState = "closed"    // the system is called
	BreakerHalfOpen BreakerState = "half_open" // one call is tried
	BreakerOpen     BreakerState = "open"      // the system is left alone
)

// PollObserved is a batch of a worker that has ended.
type PollObserved struct {
	At      time.Time // when it ended
	Outcome Outcome
	Settled int // entries that the batch has settled
}

func (RightObserved) observation()   {}
func (OutboxObserved) observation()  {}
func (BreakerObserved) observation() {}
func (PollObserved) observation()    {}
