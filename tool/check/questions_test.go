package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// answered adds the answer of a person to a question about a table outside the data map.
func answered(table, question string) func(*world) {
	return func(w *world) {
		w.leftOut = append(w.leftOut, datamap.LeftOut{Table: table, Decided: true, Note: "It leads to users. " + question})
	}
}

// readers adds the table letters outside the data map, with a list of users.
func readers(column string) func(*world) { return both(posted, listed("letters", column, "bigint[]")) }

var answeredCases = cases{
	"table-unlinked of a list after an answer about another column": {
		both(readers("reader_ids"), answered("letters", "DECIDED: Its rows lead to a person by user_id. Are they hers?")),
		[]string{"table-unlinked letters.reader_ids"},
	},
	"table-unlinked of a list with the name of the people after an answer about another column": {
		both(readers("users"), answered("letters", "DECIDED: Columns look personal (body), but no relation leads to users.")),
		[]string{"table-unlinked letters.users"},
	},
	"table-unlinked not of a list after an answer about it": {
		both(readers("reader_ids"), answered("letters", "DECIDED: Columns look personal (body, reader_ids). Whose?")),
		nil,
	},
	"table-unlinked not of a list after a second answer about it": {
		both(readers("reader_ids"), answered("letters", "DECIDED: Columns look personal (body). DECIDED: And reader_ids?")),
		nil,
	},
	"table-unlinked not of a list after an answer about the table": {
		both(readers("reader_ids"), answered("letters", "DECIDED: The rows belong to a robot.")), nil,
	},

	"table-personal of a document after an answer about another one": {
		both(tokens, noted("users", "", "DECIDED: No relation leads from these documents to users: jobs.claims. Do they?")),
		[]string{"table-personal tokens.claims"},
	},
	"table-personal of a document with a question not about it": {
		both(tokens, noted("users", "", "DECIDED: Documents: tokens.claims? DECIDE: Documents: jobs.args?")),
		[]string{questions},
	},
	"table-personal not of a document after an answer": {
		both(tokens, noted("users", "", "DECIDED: No relation leads from these JSON documents to users: jobs.args, "+
			"tokens.claims. Do they hold data or ids of people? (no | yes; chosen: no)")), nil,
	},
	"questions-open about a document": {
		both(tokens, noted("users", "", "DECIDE: Documents: tokens.claims. Do they?")), []string{questions},
	},
	"table-personal of a document if its finding is accepted": {
		both(tokens, accepted("table-personal", "tokens", "claims"),
			noted("users", "", "DECIDE: Documents: tokens.claims. Do they?")), []string{questions},
	},
}

// tokens adds a table outside the data map with the claims of tokens as documents.
func tokens(w *world) { typedOutside("tokens", "claims", datamap.TypeJSON)(w) }
