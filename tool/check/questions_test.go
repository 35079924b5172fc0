package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// answered adds the answer of a person to a question about a table outside the data map.
func answered(table, question string) func(*world) {
	return func(w *world) {
		w.leftOut = append(w.leftOut, datamap.LeftOut{Table: table, Decided: true, Note: "It leads to users. " + question})
	}
}

// open adds an open question about a table outside the data map.
func open(table, question string) func(*world) {
	return func(w *world) { w.leftOut = append(w.leftOut, datamap.LeftOut{Table: table, Note: question}) }
}

// stamped adds a table with a text, whose rows are parts of letters.
func stamped(column string) func(*world) {
	return func(w *world) {
		w.addTable("stamps", column).ForeignKeys = []datamap.CatalogForeignKey{
			foreignKey("id", "letters", datamap.ActionCascade),
		}
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
	"table-personal of a part of a table that stays out": {
		both(letters(datamap.ActionCascade), answered("letters", "DECIDED: Are they hers?"), stamped("phone")),
		[]string{"table-personal stamps.phone"},
	},
	"table-unmapped not of a part of a table that stays out": {
		both(letters(datamap.ActionCascade), answered("letters", "DECIDED: Are they hers?"), stamped("display_name")), nil,
	},
	"questions-open about a document in the note of its table": {
		both(tokens, open("tokens", "DECIDE: Columns look personal (claims), but no relation leads to users. Whose?")),
		[]string{questions},
	},
	"table-personal of a document with a question about another column of its table": {
		both(tokens, open("tokens", "DECIDE: Columns look personal (email), but no relation leads to users. Whose?")),
		[]string{"table-personal tokens.claims"},
	},
	"table-personal of a document if its finding is accepted": {
		both(tokens, accepted("table-personal", "tokens", "claims"),
			noted("users", "", "DECIDE: Documents: tokens.claims. Do they?")), []string{questions},
	},

	"table-unlinked of a link with a text":             {paired("story"), []string{"table-unlinked pairs.order_id"}},
	"table-unlinked not of a link with its kind alone": {paired("kind"), nil},
	"table-unlinked not of a link with a code alone":   {paired("short_code"), nil},
	"table-unlinked of a link that names a person": {
		both(paired("kind"), func(w *world) { w.add("pairs", "editor_id", datamap.TypeBigInt) }),
		[]string{"table-unlinked pairs.order_id"},
	},

	"questions-open about people with a key of their own": {
		both(crew("crew_key"), leftOut("crew_members", false)), []string{questions},
	},
	"table-personal of a copy in spite of a question": {
		both(crew("id"), leftOut("crew_members", false)), []string{"table-personal crew_members.email, nick"},
	},

	"questions-open about a further column": {
		both(further, noted("users", "theme", "DECIDE: Columns theme, phone: Must an erasure overwrite it?")),
		[]string{questions},
	},
	"personal-unannotated not after an answer about a further column": {
		both(further, noted("users", "theme", "DECIDED: Columns theme, phone: Must an erasure overwrite it?")), nil,
	},
	"personal-unannotated of a column that a question mentions": {
		both(further, noted("users", "theme", "DECIDED: Must an erasure overwrite it, as phone?")),
		[]string{"personal-unannotated users.phone"},
	},
	"questions-open about one of several tables": {
		both(posted, noted("users", "", "DECIDE: Tables letters, calls: Are they of the person? (no | yes; chosen: no)")),
		[]string{questions},
	},
	"table-unmapped not after an answer about several tables": {
		both(posted, noted("users", "", "DECIDED: Tables letters, calls: Are they of the person? (no | yes; chosen: no)")),
		nil,
	},
	"questions-open about one of several tables with columns": {
		both(posted, noted("users", "", "DECIDE: Tables calls (size, tint), letters (user_id): Are they hers? (no | yes)")),
		[]string{questions},
	},
	"table-unmapped not after an answer about several tables with columns": {
		both(posted, noted("users", "", "DECIDED: Tables calls (size, tint), letters (user_id): Are they hers? (no | yes)")),
		nil,
	},
	"questions-open about the columns of several tables": {
		both(ofAny, noted("users", "", "DECIDE: Columns calls.item_id, pins.item_id: Do they lead to a person?")),
		[]string{questions},
	},
	"table-unlinked not after an answer about the columns of several tables": {
		both(ofAny, noted("users", "", "DECIDED: Columns calls.item_id, pins.item_id: Do they lead to a person?")), nil,
	},
	"table-unlinked after an answer about the columns of other tables": {
		both(ofAny, noted("users", "", "DECIDED: Columns calls.item_id, my.pins.item_id: Do they lead to a person?")),
		[]string{"table-unlinked pins.item_id"},
	},
	"questions-open about one of several tables with their columns": {
		both(posted, noted("users", "", "DECIDE: Tables calls (a, b), letters (user_id): By these columns. Are they hers?")),
		[]string{questions},
	},
	"table-unmapped not after an answer about several tables with their columns": {
		both(posted, noted("users", "", "DECIDED: Tables calls (a, b), letters (user_id): By these columns. Are they hers?")),
		nil,
	},
	"table-unmapped not after an answer about the last of several tables": {
		both(func(w *world) { posted(w); w.live("letters").Schema = "public" },
			noted("users", "", "DECIDED: Tables calls and public.\"letters\": Are they hers?")),
		nil,
	},
	"questions-open about a table with an answer to another question": {
		both(posted, noted("users", "", "DECIDED: Tables calls, letters: Are they hers? DECIDE: Tables letters: And these?")),
		[]string{questions},
	},
	"questions-open about a table with an answer in its own note": {
		both(both(posted, answered("letters", "DECIDED: Its texts?")),
			noted("users", "", "DECIDE: Tables calls, letters: Are they hers?")),
		[]string{questions},
	},
	"table-unlinked not after an answer about columns of several tables": {
		both(posted, noted("users", "", "DECIDED: Columns calls.target_id, letters.user_id: Do they lead to a person?")), nil,
	},
	"table-unlinked of a list after an answer about another column of several tables": {
		both(readers("reader_ids"), noted("users", "", "DECIDED: Tables calls (a), letters (user_id): Are they hers?")),
		[]string{"table-unlinked letters.reader_ids"},
	},
	"makers-unmapped not of a table with a question about several tables": {
		both(made("boards"), noted("users", "", "DECIDE: Tables boards (created_by), calls (a): Are they hers?")),
		[]string{questions},
	},
	"makers-unmapped not of a table with an answer about several tables": {
		both(made("boards"), noted("users", "", "DECIDED: Tables boards (created_by), calls (a): Are they hers?")), nil,
	},
	"trigger-copies into a table with an answer about several tables": {
		func(w *world) {
			posted(w)
			w.add("letters", "email", datamap.TypeText)
			w.live("users").Triggers = []datamap.CatalogTrigger{{
				Name: "keep", Events: []string{"UPDATE"}, Writes: []string{"letters"},
			}}
			noted("users", "", "DECIDED: Tables calls (a), letters (user_id): Are they hers?")(w)
		}, []string{"trigger-copies users keep"},
	},
	"table-unmapped of a table that a question mentions": {
		both(posted, noted("users", "", "DECIDED: Tables calls: Are they like letters? (no | yes; chosen: no)")),
		[]string{"table-unmapped letters.user_id"},
	},
}

// paired adds a table outside the data map that refers by name to orders, whose rows stay, with a text column.
func paired(text string) func(*world) {
	return func(w *world) {
		w.addTable("pairs", text)
		w.add("pairs", "order_id", datamap.TypeBigInt)
	}
}

// crew adds a table of people outside the data map that has the columns of users, with the given key.
func crew(key string) func(*world) {
	return func(w *world) {
		w.addTable("crew_members", "email", "nick", "theme")
		if key != "id" {
			w.add("crew_members", key, datamap.TypeBigInt)
		}
		w.live("crew_members").PrimaryKey = []string{key}
	}
}

// ofAny adds a table outside the data map that refers to a row of one of several tables.
func ofAny(w *world) {
	w.addTable("pins")
	oneOfColumns("pins", "item")(w)
}

// further adds a column with a telephone number to users.
func further(w *world) { w.addToBoth("users", datamap.Column{Name: "phone", Type: datamap.TypeText}) }

// tokens adds a table outside the data map with the claims of tokens as documents.
func tokens(w *world) { typedOutside("tokens", "claims", datamap.TypeJSON)(w) }
