package isolation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// TestAnUntouchedDraftHurtsNobodyElse fills random schemas with rows of two people, and erases the first person with
// the proposed data map. In some schemas, each table also has a row that belongs to the second person and refers to the
// first person's rows of all other tables.
func TestAnUntouchedDraftHurtsNobodyElse(t *testing.T) {
	t.Parallel()
	checkDrafts(t, (*drawnSchema).checkDraft)
}

// TestFirstAnswersHurtNobodyUnlessTheQuestionSaysSo does the same after each question has its first answer. The erasure
// may fail, and then changes nothing. It may change rows of others in a table whose question names this harm.
func TestFirstAnswersHurtNobodyUnlessTheQuestionSaysSo(t *testing.T) {
	t.Parallel()
	checkDrafts(t, (*drawnSchema).checkAnswers)
}

func checkDrafts(t *testing.T, check func(*drawnSchema, *rapid.T, *bun.DB)) {
	t.Helper()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		if err := bunstore.Migrate(t.Context(), db, bunstore.Options{}); err != nil {
			t.Fatal(err)
		}
		first := 1
		rapid.Check(t, func(t *rapid.T) {
			d := drawnSchema{first: first}
			first += len(lives)
			d.draw(t)
			defer d.drop(db)
			must(t, d.create(t.Context(), db))
			check(&d, t, db)
		})
	})
}

// drawnSchema is a random schema. Each of its tables has the primary key id.
type drawnSchema struct {
	first   int  // the id of the first person
	between bool // rows of the second person refer to rows of the first one
	tenants bool // each table has a column tenant_id, which is also in each reference
	tables  []drawnTable
}

type drawnTable struct {
	name       string
	columns    []drawnColumn
	references []drawnReference
}

type drawnColumn struct {
	name, sqlType     string
	notNull, isUnique bool
}

type drawnReference struct {
	column, to, action string
	notNull            bool
}

// lives are the sets of rows: those of the first person, of the second person, those of the second person that refer to
// rows of the first one, and those of the second person on which the first person only worked, as a moderator does.
var lives = []string{"first", "second", "between", "worked"}

var (
	holders = []string{"user_id", "owner_id", "member_id"}
	workers = []string{"moderator_id", "inviter_id", "invited_by_id", "deleted_by_id"}
)

func (d *drawnSchema) draw(t *rapid.T) {
	d.between = rapid.Bool().Draw(t, "between")
	d.tenants = rapid.Bool().Draw(t, "tenants")
	d.tables = []drawnTable{{name: "users", columns: []drawnColumn{
		{"email", "text", true, true}, {"bio", "text", false, false}, {"password_hash", "text", true, false},
	}}}
	names := rapid.Permutation([]string{
		"teams", "webhooks", "channels", "products", "invitations", "posts", "comments", "messages", "follows", "mentions",
		"memberships", "user_settings", "post_tags", "sessions", "api_tokens", "invoices", "audit_logs", "notifications",
		"profiles",
		"contacts", "files", "searches", "addresses", "flags", "saved_posts", "subscriptions", "folders", "notes", "labels",
		"tasks", "devices", "likes", "remarks", "diaries",
	}).Draw(t, "names")
	for _, name := range names[:rapid.IntRange(2, 8).Draw(t, "tables")] {
		d.tables = append(d.tables, d.drawTable(t, name))
	}
}

func (d *drawnSchema) drawTable(t *rapid.T, name string) drawnTable {
	table := drawnTable{name: name}
	columns := rapid.Permutation([]string{
		"name", "title", "email", "body", "token", "url", "ip", "user_agent", "description", "price", "secret", "note",
		"street",
	}).Draw(t, "columns")
	for _, column := range columns[:rapid.IntRange(0, 5).Draw(t, "columns of "+name)] {
		table.columns = append(table.columns, drawnColumn{
			name: column, sqlType: "text", notNull: rapid.Bool().Draw(t, "not null"),
			isUnique: rapid.IntRange(0, 4).Draw(t, "unique") == 0,
		})
	}
	actions := []string{"", "CASCADE", "CASCADE", "SET NULL"}
	add := func(column, to string) {
		if slices.ContainsFunc(table.references, func(r drawnReference) bool { return r.column == column }) {
			return
		}
		r := drawnReference{column: column, to: to, action: rapid.SampledFrom(actions).Draw(t, "action")}
		r.notNull = r.action != "SET NULL" && rapid.Bool().Draw(t, "not null")
		table.references = append(table.references, r)
	}
	for range rapid.IntRange(0, 2).Draw(t, "people") {
		add(rapid.SampledFrom([]string{
			"user_id", "user_id", "user_id", "owner_id", "author_id", "created_by", "recipient_id", "moderator_id",
			"inviter_id", "invited_by_id", "deleted_by_id", "member_id",
		}).Draw(t, "person"), "users")
	}
	for range rapid.IntRange(0, 2).Draw(t, "parents") {
		to := rapid.SampledFrom(append(slices.Clone(d.tables[1:]), table)).Draw(t, "parent").name
		add(strings.TrimSuffix(to, "s")+"_id", to)
	}
	return table
}

func (d *drawnSchema) create(ctx context.Context, db *bun.DB) error {
	for _, table := range d.tables {
		parts := []string{"id bigint PRIMARY KEY"}
		var keys []string
		if d.tenants {
			parts, keys = append(parts, "tenant_id bigint"), append(keys, "UNIQUE (id, tenant_id)")
		}
		for _, c := range table.columns {
			part := c.name + " " + c.sqlType
			if c.notNull {
				part += " NOT NULL"
			}
			if c.isUnique {
				part += " UNIQUE"
			}
			parts = append(parts, part)
		}
		for _, r := range table.references {
			part := r.column + " bigint"
			if r.notNull {
				part += " NOT NULL"
			}
			action := ""
			if r.action != "" {
				action = " ON DELETE " + r.action
			}
			if d.tenants {
				keys = append(keys, "FOREIGN KEY ("+r.column+", tenant_id) REFERENCES "+r.to+" (id, tenant_id)"+action)
			} else {
				part += " REFERENCES " + r.to + action
			}
			parts = append(parts, part)
		}
		parts = append(parts, keys...)
		if _, err := db.ExecContext(ctx, "CREATE TABLE "+table.name+" ("+strings.Join(parts, ", ")+")"); err != nil {
			return err
		}
		for i := range lives {
			if lives[i] == "between" && (table.name == "users" || !d.between) || lives[i] == "worked" && !table.has(holders) {
				continue
			}
			if _, err := db.ExecContext(ctx, d.row(table, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// row returns the statement that adds a row to the table, for the set of rows with the given index.
func (d *drawnSchema) row(table drawnTable, life int) string {
	columns, values := []string{"id"}, []string{fmt.Sprint(d.first + life)}
	if d.tenants {
		columns, values = append(columns, "tenant_id"), append(values, "1")
	}
	for _, c := range table.columns {
		columns, values = append(columns, c.name), append(values, "'"+lives[life]+" "+table.name+" "+c.name+"'")
	}
	for _, r := range table.references {
		to := d.first + life
		switch {
		case lives[life] == "worked" && slices.Contains(workers, r.column):
			to = d.first
		case lives[life] == "worked":
			to = d.first + 1
		case lives[life] != "between":
		case r.to == "users":
			to = d.first + 1
		default:
			to = d.first
		}
		columns, values = append(columns, r.column), append(values, fmt.Sprint(to))
	}
	return "INSERT INTO " + table.name + " (" + strings.Join(columns, ", ") + ") VALUES (" +
		strings.Join(values, ", ") + ")"
}

func (d *drawnSchema) drop(db *bun.DB) {
	for _, table := range slices.Backward(d.tables) {
		_, _ = db.ExecContext(context.Background(), "DROP TABLE IF EXISTS "+table.name)
	}
}

// rows returns all rows of the schema. The keys are table and id.
func (d *drawnSchema) rows(t *rapid.T, db *bun.DB) map[string]string {
	found := map[string]string{}
	for _, table := range d.tables {
		var rows []map[string]any
		// The comment prevents the driver from reusing the statement for a table of the same name that was dropped.
		query := fmt.Sprintf("SELECT * FROM %s -- %d", table.name, d.first)
		if err := db.NewRaw(query).Scan(t.Context(), &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			var cells []string
			for _, column := range slices.Sorted(maps.Keys(row)) {
				cells = append(cells, fmt.Sprintf("%s=%v", column, row[column]))
			}
			found[fmt.Sprintf("%s %v", table.name, row["id"])] = strings.Join(cells, ", ")
		}
	}
	return found
}

func (d *drawnSchema) checkDraft(t *rapid.T, db *bun.DB) {
	p := d.propose(t, db)
	before, after, err := d.erase(t, db, p.Tables)
	must(t, err)
	mapped := map[string]bool{}
	for _, table := range p.Tables {
		mapped[table.Name] = true
	}
	for _, table := range d.tables {
		for i := range lives {
			place := fmt.Sprintf("%s %d", table.name, d.first+i)
			is, was := after[place], before[place]
			isOthers := i > 0 && d.refersToPeople(table)
			if is != was && (!mapped[table.name] || isOthers || lives[i] == "second" || lives[i] == "worked") {
				t.Fatalf("the erasure changes a row of %s (%s person):\n%s\n%s", table.name, lives[i], was, is)
			}
			if mapped[table.name] && strings.Count(is, "=<nil>") > strings.Count(was, "=<nil>") {
				t.Fatalf("a value of %s becomes NULL:\n%s\n%s", table.name, was, is)
			}
		}
	}
	if strings.Contains(after[fmt.Sprintf("users %d", d.first)], "first users") {
		t.Fatal("the person is not erased")
	}
}

func (d *drawnSchema) checkAnswers(t *rapid.T, db *bun.DB) {
	p := d.propose(t, db)
	tables, questions := p.Tables, map[string]string{}
	for _, decision := range p.Decisions {
		if decision.LeavesOut(decision.Options[0].Name) {
			continue
		}
		after, err := decision.Apply(tables, decision.Options[0].Name)
		must(t, err)
		tables, questions[decision.Object] = after, questions[decision.Object]+decision.Question
	}
	before, after, err := d.erase(t, db, tables)
	if err != nil {
		if !errors.Is(err, domain.ErrConflict) || !maps.Equal(before, after) {
			t.Fatalf("the erasure fails: %v", err)
		}
		return
	}
	for _, table := range d.tables {
		says := questions[table.name]
		isNamed := strings.Contains(says, "other people") || strings.Contains(says, "several people") ||
			strings.Contains(says, "others'")
		for i := range lives {
			place := fmt.Sprintf("%s %d", table.name, d.first+i)
			if i > 0 && after[place] != before[place] && d.refersToPeople(table) && !isNamed {
				t.Fatalf("the erasure changes a row of %s (%s person), and its question is %q:\n%s\n%s", table.name, lives[i],
					says, before[place], after[place])
			}
		}
	}
}

func (d *drawnSchema) propose(t *rapid.T, db *bun.DB) scaffold.Proposal {
	schema, err := bunstore.NewSchema(db, bunstore.Options{})
	must(t, err)
	p, err := scaffold.Propose(t.Context(), schema, scaffold.Options{SubjectTable: "users"})
	must(t, err)
	return p
}

// erase erases the first person, and returns all rows before and after it.
func (d *drawnSchema) erase(
	t *rapid.T, db *bun.DB, tables []datamap.Table,
) (before, after map[string]string, err error) {
	dataMap, err := datamap.NewDataMap(tables...)
	must(t, err)
	gdpr, err := app.New(app.Config{DB: db, DataMap: dataMap, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	before = d.rows(t, db)
	subject, err := domain.NewSubject(fmt.Sprint(d.first))
	must(t, err)
	_, err = gdpr.Operator().Erase(t.Context(), subject)
	return before, d.rows(t, db), err
}

func (table drawnTable) has(columns []string) bool {
	return slices.ContainsFunc(table.references, func(r drawnReference) bool { return slices.Contains(columns, r.column) })
}

// refersToPeople reports whether the rows of the table refer to people directly. Other rows belong to the person whose
// rows they refer to.
func (d *drawnSchema) refersToPeople(table drawnTable) bool {
	return table.name == "users" ||
		slices.ContainsFunc(table.references, func(r drawnReference) bool { return r.to == "users" })
}
