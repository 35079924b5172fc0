package domain

import (
	"time"
)

// EventType is the type of an audit event.
type EventType string

// The event types. Each service records the events of one operation in a fixed order.
const (
	EventConsentGranted              EventType = "consent_granted"
	EventConsentWithdrawn            EventType = "consent_withdrawn"
	EventRestrictionPlaced           EventType = "restriction_placed"
	EventRestrictionLifted           EventType = "restriction_lifted"
	EventExportRequested             EventType = "export_requested"
	EventExportCompleted             EventType = "export_completed"
	EventErasureRequested            EventType = "erasure_requested"
	EventErasureStepSucceeded        EventType = "erasure_step_succeeded"
	EventErasureStepFailed           EventType = "erasure_step_failed"
	EventErasureLocalCompleted       EventType = "erasure_local_completed"
	EventErasureCompleted            EventType = "erasure_completed"
	EventErasureRequeued             EventType = "erasure_requeued"
	EventErasureDiscarded            EventType = "erasure_discarded"
	EventErasureReplayed             EventType = "erasure_replayed"
	EventRetentionSwept              EventType = "retention_swept"
	EventRetentionSweepFailed        EventType = "retention_sweep_failed"
	EventErasureVerified             EventType = "erasure_verified"
	EventErasureLeftOver             EventType = "erasure_left_over"
	EventRectificationRequested      EventType = "rectification_requested"
	EventRectificationStepSucceeded  EventType = "rectification_step_succeeded"
	EventRectificationStepFailed     EventType = "rectification_step_failed"
	EventRectificationLocalCompleted EventType = "rectification_local_completed"
	EventRectificationCompleted      EventType = "rectification_completed"
	EventRectificationDiscarded      EventType = "rectification_discarded"
	EventRequestReceived             EventType = "request_received"
	EventRequestAssigned             EventType = "request_assigned"
	EventRequestAsked                EventType = "request_asked"
	EventRequestAnswered             EventType = "request_answered"
	EventRequestExtended             EventType = "request_extended"
	EventRequestScheduled            EventType = "request_scheduled"
	EventRequestHeld                 EventType = "request_held"
	EventRequestReleased             EventType = "request_released"
	EventRequestRefused              EventType = "request_refused"
	EventRequestWithdrawn            EventType = "request_withdrawn"
	EventRequestExecuting            EventType = "request_executing"
	EventRequestFulfilled            EventType = "request_fulfilled"
	EventRequestLapsed               EventType = "request_lapsed"
	EventHoldPlaced                  EventType = "hold_placed"
	EventHoldReviewed                EventType = "hold_reviewed"
	EventHoldLifted                  EventType = "hold_lifted"
	EventNoticeSent                  EventType = "notice_sent"
	EventNoticeFailed                EventType = "notice_failed"
)

// Payload holds the details of an event: short scalars (string, bool, int, int64) under fixed names. It never contains:
//
//   - personal data
//   - a ref (the id of the subject in an external system)
//   - an error message; an error is recorded as its ErrorClass
//   - a text that a client sent, with two exceptions: a declared purpose, and the policy version of a consent for it
//
// All events of one operation have the same id under the name PayloadOperationID: the EventID of the first of these
// events, or the number of the request that the operation carries out (WithRequest). An operation is an export, an
// erasure, a rectification, or a sweep, which overwrites retained values after the end of their retention period. An
// event about a later call to an external system has the id of the operation that requested the call. Two erasures of
// one subject are two operations.
//
// If an operator (a person or a job that acts for the subject) calls the service, the events have the operator's id
// under the name PayloadOperator. See WithOperator.
type Payload map[string]any

// PayloadOperationID is the name under which a payload holds the id of the operation. The payload has no such entry if
// this id is unknown.
const PayloadOperationID = "operation_id"

// AuditEvent is one line of the append-only audit trail, the accountability record of Art. 5(2) GDPR.
type AuditEvent struct {
	EventID    string    `json:"event_id"`
	EventType  EventType `json:"event_type"`
	SubjectRef SubjectID `json:"subject_ref"`
	OccurredAt time.Time `json:"occurred_at"`
	Payload    Payload   `json:"payload"`
}
