package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// coded adds a trigger with code in PL/pgSQL, which fires before each statement on a row.
func coded(table, event, code string, deletes ...string) func(*world) {
	return func(w *world) {
		w.live(table).Triggers = append(w.live(table).Triggers, datamap.CatalogTrigger{
			Name: "keep", Events: []string{event}, Deletes: deletes, Language: "plpgsql", Code: code,
			Definition: "CREATE TRIGGER keep BEFORE " + event + " ON " + table + " FOR EACH ROW EXECUTE FUNCTION keep()",
		})
	}
}

// settled adds the answer of a person that a table with the given columns stays out of the data map.
func settled(table string, columns ...string) func(*world) {
	return func(w *world) {
		w.leftOut = append(w.leftOut, datamap.LeftOut{Table: table, Decided: true, Columns: columns})
	}
}

// typedOutside adds a table with a column of the given type to the database only.
func typedOutside(table, column string, t datamap.ColumnType) func(*world) {
	return func(w *world) {
		w.addTable(table)
		w.add(table, column, t)
	}
}

// memberships adds a table to the data map whose rows belong to the person of a column, with further columns of texts.
// The column of the creator is no path.
func memberships(owner, maker string, columns ...string) func(*world) {
	return func(w *world) {
		table := datamap.Table{
			Name: "memberships", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{belongsTo("users", owner)},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: owner, Type: datamap.TypeBigInt},
				{Name: "agent", Type: datamap.TypeText, Personal: personal(anonymize)},
			},
		}
		for _, name := range columns {
			table.Columns = append(table.Columns, datamap.Column{Name: name, Type: datamap.TypeText})
		}
		w.tables = append(w.tables, table)
		w.catalog.Tables = append(w.catalog.Tables, liveOf(table))
		w.refer("memberships", maker, datamap.ActionNone)
	}
}

// withMember adds a column member_id without a foreign key to a table of the data map.
func withMember(w *world) {
	w.addToBoth("orders", datamap.Column{Name: "member_id", Type: datamap.TypeBigInt})
}

var judgedCases = cases{
	"path-missing of a member": {withMember, []string{"path-missing orders.member_id"}},
	"path-missing not of a member of a table": {
		both(withMember, func(w *world) { w.addTable("team_members", "color") }), nil,
	},
	"path-missing not of one of several members": {
		both(withMember, func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "member_type", Type: datamap.TypeText})
			w.column("orders", "member_type").Values = []string{"node", "way"}
		}), nil,
	},
	"path-missing not of a member of another type": {
		both(withMember, func(w *world) { w.column("orders", "member_id").Type = datamap.TypeUUID }), nil,
	},
	"left-out-changed": {
		both(outside("boards", "title", "guest_email", "guest_phone"), settled("boards", "id", "title")),
		[]string{"left-out-changed boards.guest_email, guest_phone"},
	},
	"left-out-changed by a reference": {
		both(posted, settled("letters", "id", "body")), []string{"left-out-changed letters.user_id"},
	},
	"left-out-changed not without new columns": {both(posted, settled("letters", "id", "body", "user_id", "gone")), nil},
	"left-out-changed not by a generated column": {
		func(w *world) {
			both(outside("boards", "title", "words"), settled("boards", "id", "title"))(w)
			w.column("boards", "words").Generated = true
		}, nil,
	},
	"left-out-changed not without the columns of the decision": {both(posted, leftOut("letters", true)), nil},

	"trigger-refuses": {
		coded("sessions", "DELETE", "BEGIN RAISE EXCEPTION 'no'; END"),
		[]string{"trigger-refuses sessions keep"},
	},
	"trigger-refuses some statements": {
		both(coded("sessions", "DELETE", "BEGIN IF OLD.id = 1 THEN RAISE EXCEPTION 'no'; END IF; RETURN OLD; END"),
			coded("users", "UPDATE", "BEGIN IF OLD.id = 1 THEN RETURN NULL; END IF; RETURN NEW; END"),
		), []string{"trigger-refuses users keep of sessions, keep of users"},
	},
	"trigger-refuses not if no erasure fires it": {
		coded("sessions", "UPDATE", "BEGIN RAISE EXCEPTION 'no'; END"), nil,
	},
	"trigger-replaces a row that it skips": {
		coded("sessions", "DELETE", "BEGIN RETURN NULL; END"),
		[]string{"trigger-replaces sessions keep"},
	},

	"trigger-writes-outside once for each table": {
		both(outside("totals", "last"), trigger("sessions", "DELETE", "totals"), trigger("users", "UPDATE", "totals")),
		[]string{"trigger-writes-outside users keep"},
	},
	"trigger-writes-outside for two tables": {
		both(outside("totals", "last"), outside("sums", "last"), trigger("users", "UPDATE", "sums", "totals")),
		[]string{"trigger-writes-outside users keep", "trigger-writes-outside users.totals keep"},
	},
	"trigger-writes-outside not to numbers": {
		both(typedOutside("totals", "n", datamap.TypeInteger), trigger("users", "UPDATE", "totals")), nil,
	},
	"trigger-writes-outside to numbers like those of a person": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "born", Type: datamap.TypeInteger, Personal: personal(null)})
			both(typedOutside("totals", "n", datamap.TypeBigInt), trigger("users", "UPDATE", "totals"))(w)
		}, []string{"trigger-writes-outside users keep"},
	},
	"trigger-writes-outside not to a table that stays out": {
		both(outside("totals", "last"), settled("totals", "id", "last"), trigger("users", "UPDATE", "totals")), nil,
	},
	"trigger-writes-outside not to a table with an accepted finding": {
		both(outside("calls", "phone"), accepted("table-personal", "calls", "phone"),
			trigger("users", "UPDATE", "calls")), nil,
	},
	"trigger-deletes": {
		both(trigger("sessions", "DELETE"), memberships("user_id", "added_by"), func(w *world) {
			w.live("sessions").Triggers[0].Deletes = []string{"memberships"}
		}), []string{"trigger-deletes sessions keep"},
	},
	"trigger-deletes not rows of the same person": {
		both(memberships("user_id", "added_by"), coded("sessions", "DELETE",
			"BEGIN DELETE FROM memberships WHERE user_id = OLD.user_id; RETURN OLD; END", "memberships")), nil,
	},
	"trigger-deletes rows with the same other key": {
		both(memberships("user_id", "added_by", "theme"), coded("sessions", "DELETE",
			"BEGIN DELETE FROM memberships WHERE theme = OLD.theme; RETURN OLD; END", "memberships")),
		[]string{"trigger-deletes sessions keep"},
	},

	"trigger-deletes rows of the same person that a person has left out": {
		both(typedOutside("marks", "user_id", datamap.TypeBigInt), settled("marks", "id", "user_id"),
			coded("sessions", "DELETE", "BEGIN DELETE FROM marks WHERE user_id = OLD.user_id; RETURN OLD; END", "marks")),
		[]string{"trigger-deletes sessions keep"},
	},

	"table-unlinked by a role": {
		typedOutside("alert_logs", "sub_user_id", datamap.TypeBigInt), []string{"table-unlinked alert_logs.sub_user_id"},
	},
	"table-unlinked by a role beside a foreign key elsewhere": {
		func(w *world) {
			posted(w)
			typedOutside("alert_logs", "invitedUserId", datamap.TypeBigInt)(w)
		}, []string{"table-unmapped letters.user_id", "table-unlinked alert_logs.invitedUserId"},
	},
	"table-unlinked not by the name of another table": {
		both(outside("bank_users"), typedOutside("alert_logs", "bank_user_id", datamap.TypeBigInt)), nil,
	},
	"table-unlinked by a list in JSON": {
		typedOutside("boards", "watchers", datamap.TypeJSON), []string{"table-unlinked boards.watchers"},
	},
	"table-unlinked not by a document about a person": {typedOutside("boards", "watcher", datamap.TypeJSON), nil},
	"table-unlinked not by a reference of a region": {
		func(w *world) {
			w.addTable("regions", "source_type")
			w.add("regions", "source_id", datamap.TypeBigInt)
		}, nil,
	},

	"table-personal of a waiting list": {
		outside("waitlist", "mail", "ref"), []string{"table-personal waitlist.mail"},
	},
	"table-personal of applicants": {
		outside("applicants", "full_name", "cv"), []string{"table-personal applicants.full_name"},
	},
	"table-personal not of repositories": {outside("repos", "full_name", "cv"), nil},
	"table-personal of the actors of a log": {
		outside("access_log", "actor", "path"), []string{"table-personal access_log.actor"},
	},
	"table-personal not of the actors of a setting": {outside("labels", "actor", "path"), nil},
	"table-personal of sent texts": {
		outside("sms", "recipient_number", "message"), []string{"table-personal sms.recipient_number"},
	},
	"table-personal not of numbers of other things": {outside("parcels", "recipient_code", "number"), nil},
	"table-personal of a store of sessions": {
		outside("web_store", "sid", "payload", "expires"), []string{"table-personal web_store.payload"},
	},
	"table-personal not of a cache": {outside("web_store", "name", "payload", "expires"), nil},
	"table-personal of the attributes of sessions": {
		typedOutside("spring_session_attributes", "attribute_bytes", datamap.TypeBytes),
		[]string{"table-personal spring_session_attributes.attribute_bytes"},
	},
	"table-personal of raw documents": {
		typedOutside("imports", "raw_payload", datamap.TypeJSON), []string{"table-personal imports.raw_payload"},
	},
	"table-personal not of the state of an engine": {typedOutside("engine_versions", "state", datamap.TypeJSON), nil},
	"table-personal not of documents after an answer": {
		both(typedOutside("switchover_log", "data", datamap.TypeJSON), settled("switchover_log", "id", "data")), nil,
	},
	"table-personal not of a thing like a person": {
		func(w *world) {
			named("users", "motto", "pages")(w)
			w.addTable("site", "nick", "theme", "motto", "pages")
		}, nil,
	},

	"path-missing of an author": {
		memberships("recipient_id", "creator_id", "body"), []string{"path-missing memberships.creator_id creator_id_fkey"},
	},
	"path-missing not of who made a row of another person": {memberships("user_id", "created_by", "email"), []string{
		"personal-unannotated memberships.email",
	}},
	"path-missing not of who decides": {memberships("user_id", "resolver_id"), nil},
	"path-missing not after an answer": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "subject_type", Type: datamap.TypeText})
			w.addToBoth("orders", datamap.Column{Name: "subject_id", Type: datamap.TypeBigInt, Note: "DECIDED: Whose?"})
		}, nil,
	},
	"path-missing not after an answer about a reference": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{Name: "sender_id", Type: datamap.TypeBigInt, Note: "DECIDED: Whose?"})
		}, nil,
	},
	"personal-unannotated of an editor": {
		named("orders", "edited_by_name"), []string{"personal-unannotated orders.edited_by_name"},
	},
	"personal-unannotated not of the name of a thing": {named("orders", "plan_name"), nil},

	"surrogate-cast": {
		viewing("u.email::integer"), []string{"surrogate-cast users.email mails"},
	},
	"surrogate-cast in brackets": {
		viewing("(email)::date"), []string{"surrogate-cast users.email mails"},
	},
	"surrogate-cast not of a text":                {viewing("email::character varying(9)"), nil},
	"surrogate-cast not of another column":        {viewing("theme::integer, some_email::integer"), nil},
	"surrogate-cast not of a column that is NULL": {viewing("nick::integer"), nil},
	"personal-unannotated of a phone": {
		func(w *world) {
			memberships("user_id", "added_by")(w)
			w.table("memberships").Name, w.live("memberships").Name = "user_phone_numbers", "user_phone_numbers"
			named("user_phone_numbers", "number")(w)
		}, []string{"personal-unannotated user_phone_numbers.number"},
	},
	"duty-missing": {
		billed("invoices", "number", "issued_at"), []string{"duty-missing invoices"},
	},
	"duty-missing of a document": {
		billed("billing_documents", "number", "model"), []string{"duty-missing billing_documents"},
	},
	"duty-missing not of other rows":            {billed("letters", "number", "issued_at"), nil},
	"duty-missing not of rows without a number": {billed("invoices", "theme"), nil},
	"duty-missing not after an answer": {
		both(billed("invoices", "number", "issued_at"), noted("invoices", "", "DECIDED: Must they be kept by law?")), nil,
	},
	"duty-missing not after an answer about several tables": {
		both(billed("invoices", "number", "issued_at"),
			noted("users", "", "DECIDED: Tables calls, invoices: Must they be kept by law?")), nil,
	},
	"duty-missing not after a second answer": {
		both(billed("invoices", "number", "issued_at"),
			noted("invoices", "", "DECIDED: Are they hers? (yes | no) DECIDED: May they go? (yes | retain; chosen: yes)")), nil,
	},
	"duty-missing after an answer to another question": {
		both(billed("invoices", "number", "issued_at"), noted("invoices", "", "DECIDED: Its rows are deleted with the rows "+
			"of orders, which connect a person with rows of teams. Do they belong to the person? (yes: delete the rows | no: "+
			"keep the rows, and those of orders; chosen: yes: delete the rows)")),
		[]string{"duty-missing invoices"},
	},
	"duty-missing after an answer about the duty of other rows": {
		both(billed("invoices", "number", "issued_at"),
			noted("users", "", "DECIDED: Tables calls: Must they be kept by law?")),
		[]string{"duty-missing invoices"},
	},
	"duty-missing beside another question": {
		both(billed("invoices", "number", "issued_at"), noted("invoices", "", "DECIDE: Are they hers?")),
		[]string{"duty-missing invoices", questions},
	},
	"path-missing after an answer to another question": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{
				Name: "sender_id", Type: datamap.TypeBigInt,
				Note: "DECIDED: Can every program that reads the column read NULL? (yes: NULL | no; chosen: yes: NULL)",
			})
		}, []string{"path-missing orders.sender_id"},
	},
	"duty-missing not beside the question": {
		both(billed("invoices", "number", "issued_at"), noted("invoices", "", "DECIDE: Must they be kept by law?")),
		[]string{questions},
	},
	"secret-exported of a pin": {exported("pin"), []string{"secret-exported users.pin"}},
	"secret-exported not of a postal code": {
		both(exported("pin"), exported("street_address")), nil,
	},
	"foreign-key-missing not in the other direction": {
		func(w *world) {
			table := datamap.Table{
				Name: "homes", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
					{Name: "id", Type: datamap.TypeBigInt}, {Name: "street", Type: datamap.TypeText, Personal: personal(null)},
				},
				Relations: []datamap.Relation{
					{Columns: []string{"id"}, References: "users", ReferencedColumns: []string{"home_id"}},
				},
			}
			w.addToBoth("users", datamap.Column{Name: "home_id", Type: datamap.TypeBigInt})
			w.tables = append(w.tables, table)
			live := liveOf(table)
			w.live("users").Uniques = append(w.live("users").Uniques, datamap.CatalogUnique{Columns: []string{"home_id"}})
			live.ForeignKeys = nil
			w.catalog.Tables = append(w.catalog.Tables, live)
			w.live("users").ForeignKeys = append(w.live("users").ForeignKeys, foreignKey("home_id", "homes", datamap.ActionNone))
		}, nil,
	},
}

// viewing adds a view of users with the expression.
func viewing(expression string) func(*world) {
	return func(w *world) {
		w.catalog.Tables = append(w.catalog.Tables, datamap.CatalogTable{
			Name: "mails", Kind: datamap.KindView, Reads: []string{"users"}, Rows: -1,
			Definition: " SELECT id, " + expression + " AS x FROM users u;",
		})
	}
}

// billed adds a table to the data map, with further columns of texts. An erasure deletes its rows.
func billed(name string, columns ...string) func(*world) {
	return func(w *world) {
		table := datamap.Table{
			Name: name, PrimaryKey: []string{"id"}, Owned: true, Relations: []datamap.Relation{belongsTo("users", "user_id")},
			Columns: []datamap.Column{{Name: "id", Type: datamap.TypeBigInt}, {Name: "user_id", Type: datamap.TypeBigInt}},
		}
		for _, column := range columns {
			table.Columns = append(table.Columns, datamap.Column{Name: column, Type: datamap.TypeText})
		}
		w.tables = append(w.tables, table)
		w.catalog.Tables = append(w.catalog.Tables, liveOf(table))
	}
}

// exported adds an annotated column of users that exports show.
func exported(name string) func(*world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: anonymize,
		}})
	}
}

// A trigger that writes to the referring rows at a deletion may make them refer elsewhere, so lint cannot say that the
// deletion fails. A remedy must not harm: SET NULL of a NOT NULL column would make the erasure fail.
func TestAForeignKeyOnlyMayRefuseADeletionIfATriggerWrites(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*world)
		severity datamap.Severity
		remedy   string
	}{
		"a trigger":       {trigger("sessions", "DELETE", "states"), datamap.SeverityWarning, "Rehearse an erasure"},
		"another trigger": {trigger("sessions", "INSERT", "states"), datamap.SeverityError, "or declare ON DELETE SET NULL"},
		"no trigger":      {func(*world) {}, datamap.SeverityError, "or declare ON DELETE SET NULL"},
		"a column that is not nullable": {
			func(w *world) { w.column("states", "session_id").Nullable = false }, datamap.SeverityError,
			"drop NOT NULL and declare",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.addTable("states", "label")
			w.add("states", "session_id", datamap.TypeBigInt)
			live := w.live("states")
			live.ForeignKeys = append(live.ForeignKeys, foreignKey("session_id", "sessions", datamap.ActionNone))
			live.Indexes = append(live.Indexes, datamap.CatalogIndex{Columns: []string{"session_id"}})
			c.change(w)
			found := slices.DeleteFunc(w.findings(t), func(f datamap.Finding) bool { return f.Code != "delete-restricted" })
			if len(found) != 1 || found[0].Severity != c.severity || !strings.Contains(found[0].Remedy, c.remedy) {
				t.Errorf("got %v", found)
			}
		})
	}
}
