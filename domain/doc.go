// Package domain has the vocabulary of habeas, and the rules that need only values. Its types describe data subjects,
// consents and restrictions of processing, exports, erasures, rectifications, calls to external systems, the audit
// trail and errors.
//
// A subject is identified by a [SubjectID]:
//
//	subject, err := domain.NewSubject("42", domain.SubjectRef{Kind: "crm", Value: "c-7"})
//
// The main types are:
//
//   - [Subject], [SubjectID] and [SubjectRef]: the person of a request
//   - [Category], [LegalBasis] and [Strategy]: the words that describe personal data
//   - [ConsentRecord] and [RestrictionRecord]: the lines of the ledgers
//   - [ExportBundle] and [ExportRecord]: the result of an export
//   - [ErasureResult] and [ErasureMark]: the result and the mark of an erasure
//   - [Correction]: a corrected value of a rectification
//   - [OutboxEntry]: a call to an external system
//   - [AuditEvent]: a line of the audit trail
//   - [Error] and [Code]: the errors of all packages
//
// Package datamap below describes the location and the treatment of personal data, and has the plan of an erasure.
// Package observation has the observations for metrics and traces, and package search the forms in which a database may
// store a value.
//
// The packages import no third-party package, and do not access files, the network or a database. The services that use
// these types are in the other packages below domain, such as consent, restriction, export, erasure, rectification and
// saga. Package ports declares the interfaces between the services and their environment. The JSON form of the result
// types is public API, because the HTTP adapters send these types unchanged.
package domain
