package check_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/check"
)

// made adds a table whose rows say which user created them, without foreign keys.
func made(name string, columns ...string) func(*world) {
	return func(w *world) {
		w.addTable(name, columns...)
		w.add(name, "created_by", datamap.TypeBigInt)
	}
}

// listed adds a column with a list to a table of the database.
func listed(table, column, declared string) func(*world) {
	return func(w *world) {
		w.add(table, column, datamap.TypeArray)
		w.setType(table, column, datamap.TypeArray, declared)
	}
}

// parted adds a table with texts outside the data map, whose rows are parts of orders.
func parted(texts ...string) func(*world) {
	return func(w *world) {
		w.addTable("parts", texts...)
		w.add("parts", "order_id", datamap.TypeBigInt)
		w.live("parts").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("order_id", "orders", datamap.ActionNone)}
	}
}

// falseCases are tables of mails and their templates, which are neither lists of people nor copies of sessions.
var falseCases = cases{
	"table-unlinked not of the addresses of a mail": {
		both(textKeys, outside("mails"), listed("mails", "replyTo", "text[]"), listed("mails", "to", "text[]"),
			listed("mails", "cc", "text[]")), nil,
	},
	"table-unlinked of a role with the length of text keys": {
		both(textKeys, func(w *world) {
			w.column("users", "id").Length = 12
			w.addTable("marks", "author")
			w.column("marks", "author").Length = 12
			w.addTable("jottings", "author")
			w.column("jottings", "author").Length = 255
		}), []string{"table-unlinked marks.author"},
	},
	"table-unlinked not of a name as long as text keys": {
		both(textKeys, func(w *world) {
			w.column("users", "id").Length = 255
			w.addTable("marks", "author")
			w.column("marks", "author").Length = 255
		}), nil,
	},
	"table-unlinked not of a list of things that stay": {
		both(outside("boards"), listed("boards", "order_ids", "bigint[]")), nil,
	},
	"table-personal beside a list of things that stay": {
		both(outside("boards", "phone"), listed("boards", "order_ids", "bigint[]")), []string{"table-personal boards.phone"},
	},
	"table-unlinked of a list of rows that an erasure deletes": {
		both(outside("boards"), listed("boards", "session_ids", "bigint[]")), []string{"table-unlinked boards.session_ids"},
	},
	"table-unmapped not of a part with a code and a state": {parted("aasm_state", "short_code", "asset_id"), nil},
	"table-unmapped of a part with a text": {
		parted("aasm_state", "memo"), []string{"table-unmapped parts.order_id"},
	},
	"path-missing of people with text keys": {
		both(textKeys, listed("orders", "watchers", "text[]")), []string{"path-missing orders.watchers"},
	},
	"table-unlinked of people with text keys": {
		both(textKeys, outside("mails"), listed("mails", "watchers", "text[]"), listed("mails", "assigned_to", "text[]")),
		[]string{"table-unlinked mails.assigned_to", "table-unlinked mails.watchers"},
	},
	"table-personal not of a template": {
		both(wideSessions, outside("templates", "agent", "weight", "layout", "width")), nil,
	},
	"table-personal of a copy that tells its person": {
		both(wideSessions, outside("templates", "agent", "weight", "layout", "width", "user_id")),
		[]string{"table-personal templates.agent"},
	},
}

// textKeys changes the keys of "users" to texts.
func textKeys(w *world) {
	for table, column := range map[string]string{"users": "id", "orders": "user_id", "sessions": "user_id"} {
		w.field(table, column).Type = datamap.TypeText
		w.setType(table, column, datamap.TypeText, "text")
	}
}

// wideSessions adds columns to "sessions" that few tables have.
func wideSessions(w *world) {
	w.table("sessions").Owned = true
	for _, name := range []string{"weight", "layout", "width"} {
		w.addToBoth("sessions", datamap.Column{Name: name, Type: datamap.TypeText})
	}
}

func accepted(rule, table, column string) func(*world) {
	return func(w *world) {
		w.accepted = append(w.accepted, datamap.Acceptance{
			Rule: rule, Table: table, Column: column, Reason: "is known", Until: "2026-12-31",
		})
	}
}

// A data map with a second path needs further options, which the remedy names.
func TestTheRemedyOfAMissingPathIsComplete(t *testing.T) {
	w := newWorld()
	memberships("owner_id", "invitee_id")(w)
	found := w.findings(t)
	if len(found) != 1 || found[0].Code != "path-missing" {
		t.Fatalf("got %v", found)
	}
	dataMap, err := datamap.NewDataMap(w.tables...)
	must(t, err)
	plan, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	result, err := check.Run(t.Context(), memory.NewSchema(w.catalog), dataMap, plan, check.Options{Manifest: true})
	must(t, err)
	for _, option := range []string{`"path": true`, `"name"`, `"via"`, `"erasure": "delete"`, `"erasure": "null"`} {
		if !strings.Contains(result.Findings[0].Remedy, option) {
			t.Errorf("%q does not name %s", result.Findings[0].Remedy, option)
		}
	}
	table := w.table("memberships")
	second := belongsTo("users", "invitee_id")
	second.OnErasure, second.Path, second.Name = domain.StrategyNull, true, "Invitee"
	table.Relations[0].Path, table.Relations[0].Name = true, "Owner"
	table.Relations = append(table.Relations, second)
	table.Columns = append(table.Columns, datamap.Column{Name: "invitee_id", Type: datamap.TypeBigInt})
	w.field("memberships", "agent").Personal.Via = "Owner"
	if found := w.findings(t); len(found) > 0 {
		t.Errorf("after the remedy, got %v", found)
	}
}

const makers = "makers-unmapped users"

var foldedCases = cases{
	"makers-unmapped":            {made("boards", "color"), []string{makers}},
	"makers-unmapped of several": {both(made("boards"), made("tags")), []string{makers}},
	"makers-unmapped of somebody who finished": {
		func(w *world) { made("boards")(w); w.add("boards", "finished_by_user_id", datamap.TypeBigInt) },
		[]string{makers},
	},
	"makers-unmapped with foreign keys": {
		func(w *world) {
			w.addTable("boards")
			w.refer("boards", "created_by_user_id", datamap.ActionNone)
			w.refer("boards", "updated_by", datamap.ActionNone)
		}, []string{makers},
	},
	"makers-unmapped with a reference to a thing": {
		func(w *world) {
			made("boards", "resource_type")(w)
			w.add("boards", "resource_id", datamap.TypeBigInt)
			w.add("boards", "parent_id", datamap.TypeBigInt)
		}, []string{makers},
	},
	"makers-unmapped not if an erasure deletes the user": {
		both((*world).deleteUsers, made("boards")), []string{"table-unlinked boards.created_by"},
	},
	"makers-unmapped not beside personal data": {
		made("boards", "phone"), []string{"table-unlinked boards.created_by"},
	},
	"makers-unmapped not beside a document of a history": {
		func(w *world) { made("board_versions")(w); w.add("board_versions", "data", datamap.TypeJSON) },
		[]string{"table-unlinked board_versions.created_by"},
	},
	"makers-unmapped not beside a reference of another kind": {
		func(w *world) { made("boards")(w); w.refer("boards", "user_id", datamap.ActionNone) },
		[]string{"table-unmapped boards.user_id"},
	},
	"makers-unmapped not beside the name of a person": {
		func(w *world) { made("boards")(w); w.add("boards", "to_user_id", datamap.TypeBigInt) },
		[]string{"table-unlinked boards.created_by"},
	},
	"makers-unmapped not beside a list of people": {
		func(w *world) {
			made("boards")(w)
			w.add("boards", "user_ids", datamap.TypeArray)
			w.setType("boards", "user_ids", datamap.TypeArray, "bigint[]")
		},
		[]string{"table-unlinked boards.created_by", "table-unlinked boards.user_ids"},
	},
	"makers-unmapped not beside a list of people under another name": {
		func(w *world) {
			w.addTable("pages", "title", "text_content")
			w.add("pages", "content", datamap.TypeJSON)
			w.refer("pages", "creator_id", datamap.ActionNone)
			listed("pages", "contributor_ids", "bigint[]")(w)
		},
		[]string{"table-unlinked pages.contributor_ids", "table-unmapped pages.creator_id"},
	},
	"makers-unmapped beside a list of things": {
		func(w *world) {
			w.addTable("painters")
			made("boards")(w)
			for _, name := range []string{"external_ids", "painter_ids", "folder_ids", "server_ids"} {
				listed("boards", name, "bigint[]")(w)
			}
			listed("boards", "contributor_ids", "uuid[]")(w)
		}, []string{makers},
	},
	"makers-unmapped not of a creator with whom the row goes": {
		func(w *world) {
			w.addTable("boards", "title")
			w.refer("boards", "creator_id", datamap.ActionCascade)
			w.column("boards", "creator_id").Nullable = false
		}, []string{"table-unmapped boards.creator_id"},
	},
	"makers-unmapped of a creator who may be missing": {
		func(w *world) {
			w.addTable("boards", "title")
			w.refer("boards", "creator_id", datamap.ActionCascade)
		}, []string{makers},
	},
	"makers-unmapped not of a creator with whom a row of the data map goes": {
		func(w *world) {
			w.addBadges()
			w.addToBoth("badges", datamap.Column{Name: "note", Type: datamap.TypeText, Personal: personal(null)})
			w.addToBoth("badges", datamap.Column{Name: "deleted_by", Type: datamap.TypeBigInt})
			w.live("badges").ForeignKeys = append(w.live("badges").ForeignKeys,
				foreignKey("deleted_by", "users", datamap.ActionCascade))
			w.column("badges", "deleted_by").Nullable = false
		}, []string{"path-missing badges.deleted_by deleted_by_fkey"},
	},
	"makers-unmapped not of chats": {
		func(w *world) { w.addTable("ai_chats", "title"); w.refer("ai_chats", "creator_id", datamap.ActionNone) },
		[]string{"table-unmapped ai_chats.creator_id"},
	},
	"makers-unmapped not beside a reference to another table of the data map": {
		func(w *world) { made("boards")(w); w.add("boards", "order_id", datamap.TypeBigInt) },
		[]string{"table-unlinked boards.created_by"},
	},
	"makers-unmapped not beside a reference to one of several tables": {
		func(w *world) {
			made("boards", "target_type")(w)
			w.add("boards", "target_id", datamap.TypeBigInt)
		}, []string{"table-unlinked boards.created_by"},
	},
	"makers-unmapped not of rows of one person": {
		both(made("bookmarks"), made("board_subscriptions"), made("access_logs")), []string{
			"table-unlinked access_logs.created_by", "table-unlinked board_subscriptions.created_by",
			"table-unlinked bookmarks.created_by",
		},
	},
	"makers-unmapped not of who sent a row": {
		func(w *world) { w.addTable("boards"); w.add("boards", "sender_id", datamap.TypeBigInt) },
		[]string{"table-unlinked boards.sender_id"},
	},
	"makers-unmapped not only of a column of the data map": {
		func(w *world) {
			w.addBadges()
			w.addToBoth("badges", datamap.Column{Name: "created_by", Type: datamap.TypeBigInt})
			w.live("badges").ForeignKeys = append(w.live("badges").ForeignKeys,
				foreignKey("created_by", "users", datamap.ActionCascade))
			w.column("badges", "created_by").Nullable = false
		}, nil,
	},
	"makers-unmapped not only of who changed a row with personal data": {
		func(w *world) {
			for _, name := range []string{"added_by_id", "last_edited_by_id", "resolved_by_id", "deleted_by_id"} {
				w.addToBoth("orders", datamap.Column{Name: name, Type: datamap.TypeBigInt})
			}
			w.live("orders").ForeignKeys = append(w.live("orders").ForeignKeys,
				foreignKey("resolved_by_id", "users", datamap.ActionSetNull))
		}, nil,
	},
	"makers-unmapped not of who changed a row if an erasure deletes the user": {
		func(w *world) {
			w.deleteUsers()
			w.table("sessions").Owned = true
			w.addToBoth("sessions", datamap.Column{Name: "deleted_by", Type: datamap.TypeBigInt})
		}, []string{"path-missing sessions.deleted_by"},
	},
	"makers-unmapped not of the rows of an owner": {
		func(w *world) { w.addToBoth("orders", datamap.Column{Name: "created_by", Type: datamap.TypeBigInt}) }, nil,
	},
	"makers-unmapped not of those who work on the rows of an owner": {
		func(w *world) {
			for _, name := range []string{"grader_id", "confirmer_id", "publisher_id", "creator_id"} {
				w.refers("orders", name, "users")
			}
		}, nil,
	},
	"makers-unmapped not of what those who work on a row write": {
		func(w *world) {
			w.refers("orders", "confirmer_id", "users")
			w.addToBoth("orders", datamap.Column{Name: "confirmer_note", Type: datamap.TypeText, Personal: personal(null)})
		},
		[]string{"path-missing orders.confirmer_id confirmer_id_fkey"},
	},
	"makers-unmapped not if it is accepted": {
		both(made("boards"), accepted("makers-unmapped", "users", "")), nil,
	},
	"makers-unmapped not if all parts are accepted": {
		both(made("boards"), accepted("table-unlinked", "boards", "created_by")), nil,
	},
}

func TestANoticeNamesItsParts(t *testing.T) {
	w := newWorld()
	both(made("boards"), made("tags"))(w)
	found := w.findings(t)
	for _, text := range []string{"2 tables outside of the data map refer to a person only", ": boards, tags."} {
		if !slices.ContainsFunc(found, func(f datamap.Finding) bool {
			return f.Severity == datamap.SeverityNotice && strings.Contains(f.Reason, text)
		}) {
			t.Errorf("no notice says %q: %v", text, found)
		}
	}
	w = newWorld()
	made("boards")(w)
	const one = "1 table outside of the data map refers to a person"
	if found := w.findings(t); len(found) != 1 || !strings.HasPrefix(found[0].Reason, one) {
		t.Errorf("one table: %v", found)
	}
}

// An accepted part comes back on its own after the end of the acceptance.
func TestTheAcceptanceOfAPartEnds(t *testing.T) {
	w := newWorld()
	both(noIndex("orders", -1), accepted("index-missing", "orders", "user_id"))(w)
	w.accepted[0].Until = "2026-03-30"
	var codes []string
	for _, f := range w.findings(t) {
		codes = append(codes, f.Code)
	}
	if !slices.Equal(codes, []string{"acceptance-expired", "index-missing"}) {
		t.Errorf("got %q", codes)
	}
}

func TestTablesThatOnlySayWhoMadeThemDoNotCountForTheCoverage(t *testing.T) {
	w := newWorld()
	before := w.coverage(t)
	made("boards", "color")(w)
	if after := w.coverage(t); after.Percent != before.Percent || len(after.Tables) != len(before.Tables) {
		t.Errorf("got %+v, want %+v", after, before)
	}
}

func TestAFindingSaysThatTheDatabaseClearsTheReference(t *testing.T) {
	for action, want := range map[datamap.ForeignKeyAction]bool{
		datamap.ActionSetNull: true, datamap.ActionNone: false,
	} {
		w := newWorld()
		w.deleteUsers()
		w.addTable("letters", "text")
		w.refer("letters", "user_id", action)
		says := slices.ContainsFunc(w.findings(t), func(f datamap.Finding) bool {
			return f.Code == "table-unmapped" && strings.Contains(f.Reason, "only sets the reference to NULL")
		})
		if says != want {
			t.Errorf("%s: says so %t, want %t", action, says, want)
		}
	}
}
