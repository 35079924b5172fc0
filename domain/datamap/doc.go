// Package datamap describes the personal data of an application: the tables and columns that hold it, the paths from
// each table to the subject, and the treatment of each value in exports, erasures and rectifications. A [Plan] has the
// steps of an erasure, which follow from the data map. A [Catalog] is the schema of the live database, with which
// checks compare the data map.
//
//	m, err := datamap.NewDataMap(datamap.Table{
//		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
//		Columns: []datamap.Column{
//			{Name: "id", Type: datamap.TypeBigInt},
//			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
//		},
//	})
//	err = m.CheckSubject(subject)
//
// Readers create a data map from another description: package bunmodels from struct tags, and package manifest from
// JSON. The data map is a value. All its methods are safe for concurrent use.
package datamap
