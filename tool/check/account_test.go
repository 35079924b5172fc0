package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// withColumn adds a column to users, which the data map also has.
func withColumn(column datamap.Column) func(*world) {
	return func(w *world) { w.addToBoth("users", column) }
}

var accountCases = cases{
	"account-open by a role": {
		withColumn(datamap.Column{Name: "role", Type: datamap.TypeText, NotPersonal: true}),
		[]string{"account-open users.role"},
	},
	"account-open by a status": {
		withColumn(datamap.Column{Name: "is_active", Type: datamap.TypeBoolean}), []string{"account-open users.is_active"},
	},
	"account-open not if an erasure overwrites it": {
		withColumn(datamap.Column{Name: "role", Type: datamap.TypeText, Surrogate: "none", Personal: personal(anonymize)}),
		nil,
	},
	"account-open not after a question": {
		both(both(drafted("role"), withColumn(datamap.Column{Name: "role", Type: datamap.TypeText, NotPersonal: true})),
			func(w *world) {
				w.decisions = append(w.decisions, datamap.Decision{
					Object: "users", Columns: []string{"role"}, Answer: "not-personal", Options: []datamap.Option{{
						Name: "not-personal", Edit: datamap.Edit{Columns: []datamap.Column{
							{Name: "role", Type: datamap.TypeText, NotPersonal: true},
						}},
					}},
				})
			}), nil,
	},
	"account-open not of a row that goes": {
		both((*world).deleteUsers, withColumn(datamap.Column{Name: "role", Type: datamap.TypeText})), nil,
	},
}
