package scaffold_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/tool/check"
	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestEachProposalLoadsAndHasAPlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		catalog := catalogs().Draw(t, "catalog")
		options := scaffold.Options{
			SubjectTable: rapid.SampledFrom([]string{"", "users", "users"}).Draw(t, "subject"),
			Include:      rapid.SliceOfNDistinct(rapid.SampledFrom(tableNames), 0, 3, rapid.ID[string]).Draw(t, "include"),
		}
		p, err := scaffold.Propose(t.Context(), reader{catalog}, options)
		if err != nil {
			var refused *domain.Error
			if !errors.As(err, &refused) || refused.Code != domain.ErrInvalid ||
				len(refused.Fields) > 0 && !slices.Contains([]string{"subject_table", "include"}, refused.Fields[0].Field) {
				t.Fatal(err)
			}
			return
		}
		m, err := datamap.NewDataMap(p.Tables...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := erasure.Planner{}.Plan(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := scaffold.Propose(t.Context(), reader{catalog}, options); !reflect.DeepEqual(p, again) {
			t.Fatal("equal input gave another proposal")
		}
		checkProposal(t, catalog, p)
		checkReferences(t, catalog, p)
		checkDeletions(t, catalog, m, plan)
		checkParents(t, m, options.Include)
		checkFindings(t, catalog, p, m, plan)
	})
}

func checkProposal(t *rapid.T, catalog datamap.Catalog, p scaffold.Proposal) {
	for _, d := range p.Decisions {
		if !slices.Contains(d.Options, d.Chosen) || d.Question == "" || len(d.Options) < 2 {
			t.Fatalf("%v", d)
		}
	}
	seen := map[string]bool{}
	for _, table := range p.Tables {
		seen[table.Name] = true
	}
	for _, out := range p.LeftOut {
		if seen[out.Table] || out.Reason == "" {
			t.Fatalf("%v", out)
		}
		seen[out.Table] = true
	}
	for _, table := range catalog.Tables {
		if !seen[table.Name] && table.Kind != datamap.KindView {
			t.Fatalf("%s is neither in the data map nor left out", table.Name)
		}
	}
}

// checkReferences fails the test if no decision names a table that refers to people and is left out.
func checkReferences(t *rapid.T, catalog datamap.Catalog, p scaffold.Proposal) {
	for _, out := range p.LeftOut {
		table, _ := catalog.Table(out.Table)
		isTable := table.Kind == datamap.KindTable || table.Kind == datamap.KindPartitioned
		refers := slices.ContainsFunc(table.ForeignKeys, func(key datamap.CatalogForeignKey) bool {
			return key.References == p.Tables[0].Name && slices.Equal(key.Referenced, p.Tables[0].PrimaryKey)
		})
		named := regexp.MustCompile(`\b` + out.Table + `\b`)
		if isTable && refers && !slices.ContainsFunc(p.Decisions, func(d scaffold.Decision) bool {
			return d.Table == out.Table || named.MatchString(d.Question)
		}) {
			t.Fatalf("no question about %s: %s", out.Table, out.Reason)
		}
	}
}

// checkDeletions fails the test if a foreign key would refuse a deletion of the plan, or would delete rows of other
// tables. A row may only lose its reference if it is deleted, too, or if it refers to one of its own parts.
func checkDeletions(t *rapid.T, catalog datamap.Catalog, m datamap.DataMap, plan datamap.Plan) {
	deleted := func(table string) int {
		return slices.IndexFunc(plan.Steps, func(s datamap.Step) bool {
			return s.Target == table && s.Strategy == domain.StrategyDelete
		})
	}
	for _, table := range catalog.Tables {
		for _, key := range table.ForeignKeys {
			child, parent := deleted(table.Name), deleted(key.References)
			isPart := slices.ContainsFunc(m.Paths(key.References), func(p datamap.Path) bool {
				return slices.ContainsFunc(p.Relations, func(r datamap.Relation) bool { return r.References == table.Name })
			})
			switch {
			case parent < 0, table.Name == key.References && child >= 0 && key.OnDelete != datamap.ActionRestrict,
				key.OnDelete == datamap.ActionSetNull && (child >= 0 || isPart):
				continue
			}
			if child < 0 || child >= parent {
				t.Fatalf("rows of %s are deleted, and those of %s refer to them", key.References, table.Name)
			}
		}
	}
}

// checkParents fails the test if the data map deletes rows of a table that the caller does not include, although the
// rows of the parent stay.
func checkParents(t *rapid.T, m datamap.DataMap, include []string) {
	for _, table := range m.Tables() {
		if !table.Owned || slices.Contains(include, table.Name) {
			continue
		}
		for _, path := range m.Paths(table.Name) {
			to := path.Relations[0].References
			if parent, _ := m.Table(to); to != m.SubjectTable().Name && !parent.Owned {
				t.Fatalf("rows of %s are deleted, and the rows of %s stay", table.Name, to)
			}
		}
	}
}

// checkFindings fails the test if package check reports an error that no decision of the proposal covers.
func checkFindings(t *rapid.T, catalog datamap.Catalog, p scaffold.Proposal, m datamap.DataMap, plan datamap.Plan) {
	result, err := check.Run(t.Context(), reader{catalog}, m, plan, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range result.Findings {
		asked := slices.ContainsFunc(p.Decisions, func(d scaffold.Decision) bool {
			return d.Table == f.Table && (f.Column == "" || slices.ContainsFunc(d.Columns(), func(column string) bool {
				return slices.Contains(strings.Split(f.Column, ", "), column)
			}))
		})
		if f.Severity == datamap.SeverityError && !asked {
			t.Fatal(f)
		}
	}
}

// reader returns a given catalog. Its verdicts are arbitrary, but always the same about the same constraint and the
// same value, whatever the random digits of the value.
type reader struct{ catalog datamap.Catalog }

func (r reader) Catalog(context.Context) (datamap.Catalog, error) { return r.catalog, nil }

func (r reader) Satisfies(
	_ context.Context, _ string, check datamap.CatalogCheck, rows []map[string]any,
) (verdicts []datamap.Verdict, _ error) {
	digits := regexp.MustCompile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,}")
	for _, row := range rows {
		sum := fnv.New32()
		_, _ = fmt.Fprint(sum, check.Text, digits.ReplaceAllString(fmt.Sprint(row), "#"))
		verdicts = append(verdicts, []datamap.Verdict{
			datamap.VerdictHolds, datamap.VerdictFails, datamap.VerdictUndecided,
		}[sum.Sum32()%3])
	}
	return verdicts, nil
}

var tableNames = []string{
	"users", "accounts", "posts", "user_settings", "invoices", "sessions", "follows", "audit_logs", "teams",
	"user_addresses", "messages", "files",
}

// catalogs draws schemas that may have cycles, composite keys, tables without keys, and foreign keys of every kind.
func catalogs() *rapid.Generator[datamap.Catalog] {
	return rapid.Custom(func(t *rapid.T) datamap.Catalog {
		var catalog datamap.Catalog
		list := rapid.Permutation(tableNames).Draw(t, "names")[:rapid.IntRange(1, len(tableNames)).Draw(t, "tables")]
		for _, name := range list {
			catalog.Tables = append(catalog.Tables, drawTable(t, name))
		}
		for i, table := range catalog.Tables {
			if table.Kind != datamap.KindTable && table.Kind != datamap.KindPartitioned {
				continue
			}
			for range rapid.IntRange(0, 4).Draw(t, "references") {
				to := rapid.SampledFrom(catalog.Tables).Draw(t, "to")
				if to.Kind == datamap.KindTable || to.Kind == datamap.KindPartitioned {
					drawReference(t, &catalog.Tables[i], to)
				}
			}
		}
		return catalog
	})
}

var kinds = []datamap.TableKind{
	datamap.KindTable, datamap.KindTable, datamap.KindTable, datamap.KindTable, datamap.KindTable, datamap.KindPartitioned,
	datamap.KindView, datamap.KindForeign, datamap.KindVirtual,
}

var declared = map[datamap.ColumnType]string{
	datamap.TypeText: "text", datamap.TypeBigInt: "bigint", datamap.TypeUUID: "uuid", datamap.TypeTime: "date",
	datamap.TypeBoolean: "boolean", datamap.TypeJSON: "jsonb", datamap.TypeNumber: "numeric", datamap.TypeBytes: "bytea",
	datamap.TypeArray: "text[]",
}

func drawTable(t *rapid.T, name string) datamap.CatalogTable {
	table := datamap.CatalogTable{Name: name, Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	columns := []string{
		"email", "name", "token", "body", "iban", "birthday", "ip", "created_at", "paid_at", "data", "salary", "type",
		"gender",
		"user_id", "author_id", "post_type", "post_id", "phone", "password_hash", "is_pregnant",
	}
	columns = rapid.Permutation(columns).Draw(t, "columns")[:rapid.IntRange(0, 8).Draw(t, "how many")]
	types := []datamap.ColumnType{
		datamap.TypeText, datamap.TypeText, datamap.TypeText, datamap.TypeBigInt, datamap.TypeUUID, datamap.TypeTime,
		datamap.TypeBoolean, datamap.TypeJSON, datamap.TypeNumber, datamap.TypeBytes, datamap.TypeArray, "",
	}
	for _, column := range append([]string{"id", "part"}, columns...) {
		c := datamap.CatalogColumn{
			Name: column, Type: rapid.SampledFrom(types).Draw(t, "type"), Nullable: rapid.Bool().Draw(t, "nullable"),
			Generated: rapid.IntRange(0, 9).Draw(t, "generated") == 0,
		}
		if column == "id" {
			c.Type, c.Nullable = rapid.SampledFrom(types[:5]).Draw(t, "type of the key"), false
		}
		if c.Type == datamap.TypeText {
			c.Length = rapid.SampledFrom([]int{0, 0, 1, 7, 8, 40}).Draw(t, "length")
			if rapid.IntRange(0, 5).Draw(t, "enum") == 0 {
				c.Values, c.Length = []string{"a", "unknown"}, 0
			}
		}
		c.Declared = declared[c.Type]
		if c.Type == "" {
			c.Declared = rapid.SampledFrom([]string{"inet", "xml"}).Draw(t, "declared")
		}
		table.Columns = append(table.Columns, c)
	}
	drawConstraints(t, &table)
	return table
}

func drawConstraints(t *rapid.T, table *datamap.CatalogTable) {
	keys := [][]string{{"id"}, {"id"}, {"id"}, {"part", "id"}, nil, {"part"}}
	table.PrimaryKey = rapid.SampledFrom(keys).Draw(t, "primary key")
	some := func(what string) []string {
		var names []string
		for _, c := range table.Columns {
			if rapid.IntRange(0, 3).Draw(t, what) == 0 {
				names = append(names, c.Name)
			}
		}
		return names
	}
	for range rapid.IntRange(0, 2).Draw(t, "uniques") {
		table.Uniques = append(table.Uniques, datamap.CatalogUnique{
			Name: "u", Columns: some("unique"), Partial: rapid.Bool().Draw(t, "partial"),
		})
	}
	texts := []string{
		"%[1]s ~ '^[A-Z]+$'", "length(%[1]s) < 20", "%[1]s > 0", "%[1]s IN ('x', 'y')", "f(%[1]s)",
		"%[1]s IS NOT NULL", "%[1]s > '1980-01-01'",
	}
	for _, column := range some("check") {
		table.Checks = append(table.Checks, datamap.CatalogCheck{
			Name: "c", Columns: []string{column}, Text: fmt.Sprintf(rapid.SampledFrom(texts).Draw(t, "text"), column),
		})
	}
}

func drawReference(t *rapid.T, table *datamap.CatalogTable, to datamap.CatalogTable) {
	referenced := rapid.SampledFrom([][]string{{"id"}, {"id"}, {"part", "id"}, {"part"}}).Draw(t, "referenced")
	key := datamap.CatalogForeignKey{
		References: to.Name, Referenced: referenced,
		OnDelete: rapid.SampledFrom([]datamap.ForeignKeyAction{
			datamap.ActionNone, datamap.ActionCascade, datamap.ActionSetNull, datamap.ActionRestrict,
		}).Draw(t, "on delete"),
	}
	for _, name := range referenced {
		target, _ := to.Column(name)
		var alike []string
		for _, c := range table.Columns {
			if c.Declared == target.Declared && c.Type == target.Type && !slices.Contains(key.Columns, c.Name) {
				alike = append(alike, c.Name)
			}
		}
		column := rapid.SampledFrom([]string{"sender_id", "owner_id", "created_by", "parent_id"}).Draw(t, "role")
		_, exists := table.Column(column)
		switch {
		case !exists:
			table.Columns = append(table.Columns, datamap.CatalogColumn{
				Name: column, Type: target.Type, Declared: target.Declared, Nullable: rapid.Bool().Draw(t, "nullable"),
			})
		case len(alike) == 0:
			return
		default:
			column = rapid.SampledFrom(alike).Draw(t, "referring")
		}
		key.Columns = append(key.Columns, column)
	}
	for _, other := range table.ForeignKeys {
		if other.References == key.References && slices.ContainsFunc(other.Columns, func(name string) bool {
			return slices.Contains(key.Columns, name)
		}) {
			return // no schema refers to a row by a column and by a part of its key
		}
	}
	table.ForeignKeys = append(table.ForeignKeys, key)
}
