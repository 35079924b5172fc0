// Package domain defines the data types of habeas and the rules that need only values. The types describe data
// subjects, consents and restrictions of processing, the personal data of an application, exports, erasures,
// rectifications and the audit trail.
//
// A subject is identified by a [SubjectID], and a [DataMap] describes the personal data of the application:
//
//	subject, err := domain.NewSubject("42", domain.SubjectRef{Kind: "crm", Value: "c-7"})
//	m, err := datamap.NewDataMap(datamap.Table{
//		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
//		Columns: []datamap.Column{
//			{Name: "id", Type: datamap.TypeBigInt},
//			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
//		},
//	})
//	err = m.CheckSubject(subject)
//
// The main types are:
//
//   - [Subject], [SubjectID] and [SubjectRef]: the person of a request
//   - [ConsentRecord] and [RestrictionRecord]: the lines of the ledgers
//   - [DataMap], [Table], [Column] and [Annotation]: the location and the treatment of personal data
//   - [Plan] and [Step]: the steps of an erasure
//   - [ExportBundle] and [ExportRecord]: the result of an export
//   - [Correction]: a corrected value of a rectification
//   - [OutboxEntry]: a call to an external system that is still due
//   - [AuditEvent]: a line of the audit trail
//   - [Error] and [Code]: the errors of all packages
//
// The package imports only the standard library, and does not access files, the network or a database. The services
// that use these types are in the packages below domain, such as consent, restriction, export, erasure, rectification
// and saga. Package ports declares the interfaces between the services and their environment. The JSON form of the
// result types is public API, because the HTTP adapters send these types unchanged.
package domain
