// Package scaffold proposes a data map for the live schema of a database. A schema does not say whose a row is, so the
// proposal takes in only what the schema itself gives to a person, and asks a person about all else. See the example of
// [Propose].
package scaffold

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/internal/facts"
)

// Options add information that the schema does not contain.
type Options struct {
	// SubjectTable is the name of the subject's table in the catalog. If it is empty, Propose chooses the table.
	SubjectTable string
	// Include are tables whose questions are answered with the first option. Propose refuses a table if this could
	// harm other people, or if several paths lead from the table to people.
	Include []string
}

// Proposal is a data map with the questions that the schema leaves open. It contains names of tables and columns, but
// no value of a row.
type Proposal struct {
	// Tables is the data map: first the subject's table, then the others, sorted by name. datamap.NewDataMap accepts it.
	Tables []datamap.Table `json:"tables"`
	// Candidates are the tables that may be the subject's table, with the chosen table first. If Options.SubjectTable is
	// set, its table is the only candidate.
	Candidates []Candidate `json:"candidates"`
	// LeftOut lists the tables that need no decision and are not in Tables, sorted by name. It does not list views.
	LeftOut []LeftOut `json:"left_out"`
	// Decisions are the questions, the most dangerous first, after those about the subject's table. Each option gives a
	// valid data map with Tables, and so do the first options of all questions together. A question about rows has no
	// answer if its table is left out. See datamap.Decision.Apply.
	Decisions []datamap.Decision `json:"decisions"`
}

// LeftOut is a table that is not in the proposed data map, and about which nobody has to decide.
type LeftOut struct {
	Table  string `json:"table"`
	Reason string `json:"reason"` // a sentence
}

// DataMap returns the proposed data map with its decisions.
func (p Proposal) DataMap() (datamap.DataMap, error) {
	m, err := datamap.NewDataMap(p.Tables...)
	return m.WithDecisions(p.Decisions...), err
}

// Propose reads the catalog once, and returns a data map for the schema. datamap.NewDataMap accepts its tables, and
// erasure.Planner can plan an erasure with it. The same schema always gives the same proposal. For the choice of the
// values that an erasure writes, the database evaluates its CHECK constraints on examples. Propose reads no row, and
// changes nothing.
//
// The data map has the row of the person, which an erasure overwrites, and tables whose rows the schema gives to the
// person: the only reference to people is NOT NULL with ON DELETE CASCADE, or is the primary key; no other column could
// hold the key of a person; nobody shares the rows; and no name asks for a question. Each other table is in a question,
// or in LeftOut.
//
// Propose returns the error of the reader if the reader fails. It returns ErrInvalid for the field subject_table, with
// a list of the candidates, in these cases:
//
//   - No table or several tables may be the subject's table.
//   - The catalog does not have the table in Options.SubjectTable.
//   - This table has no key that can identify a subject.
//
// It returns ErrInvalid for the field include if a table in Options.Include cannot be included.
func Propose(ctx context.Context, reader ports.CatalogReader, options Options) (Proposal, error) {
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return Proposal{}, err
	}
	return propose(ctx, reader, catalog, options, datamap.DataMap{})
}

// propose returns the proposal that keeps a former data map, which may be zero.
func propose(
	ctx context.Context, reader ports.CatalogReader, catalog datamap.Catalog, options Options, former datamap.DataMap,
) (Proposal, error) {
	d, err := newDraft(ctx, reader, catalog, options.SubjectTable, former)
	if err != nil {
		return Proposal{}, err
	}
	d.keepFormer()
	d.mapPerson()
	d.mapOwnRows()
	d.ask()
	d.sortDecisions()
	if err := d.include(options.Include); err != nil {
		return Proposal{}, err
	}
	if d.failed != nil {
		return Proposal{}, d.failed
	}
	if err := check(d.mapped); err != nil {
		return Proposal{}, &domain.Error{
			Code: domain.ErrManifest, Op: "scaffold", Err: err,
			Message: "no valid data map can be proposed: " + strings.TrimPrefix(err.Error(), "habeas: "),
		}
	}
	slices.SortStableFunc(d.mapped[1:], func(a, b datamap.Table) int { return strings.Compare(a.Name, b.Name) })
	return Proposal{d.mapped, d.candidates, d.leftOut, d.decisions}, nil
}

// check returns the error of a data map that is invalid, or that has no plan.
func check(tables []datamap.Table) error {
	m, err := datamap.NewDataMap(tables...)
	if err == nil {
		_, err = erasure.Planner{}.Plan(m, nil)
	}
	return err
}

// draft is a proposal under construction.
type draft struct {
	facts.Schema
	catalog    datamap.Catalog
	satisfies  evaluate
	failed     error
	tables     []*table // all tables of the catalog except views, sorted by name
	candidates []Candidate
	subject    *table
	subjectID  []string // the key columns of the subject
	former     datamap.DataMap
	mapped     []datamap.Table // the subject's table first
	leftOut    []LeftOut
	decisions  []datamap.Decision
	danger     map[string]int     // of the decisions, by their objects
	several    map[string]bool    // the objects of which several options or a harm forbid Options.Include
	below      map[[2]string]bool // whether foreign keys lead from one table to another; see leads
}

// table is a table of the catalog.
type table struct {
	datamap.CatalogTable
	key         []string // the columns that identify a row; empty if the table has no key
	links       []facts.Link
	evaluate    evaluate
	overwritten []datamap.Column // the annotated columns of rows that an erasure overwrites
	found       map[string]bool  // the columns that are annotated, or that will be
	isRead      bool             // overwritten is complete
}

func newDraft(
	ctx context.Context, reader ports.CatalogReader, catalog datamap.Catalog, subject string, former datamap.DataMap,
) (*draft, error) {
	d := &draft{
		catalog: catalog, former: former, danger: map[string]int{}, several: map[string]bool{}, below: map[[2]string]bool{},
		leftOut: []LeftOut{}, decisions: []datamap.Decision{},
	}
	d.satisfies = func(table string, check datamap.CatalogCheck, rows []map[string]any) []datamap.Verdict {
		verdicts, err := reader.Satisfies(ctx, table, check, rows)
		d.failed = cmp.Or(d.failed, err)
		return verdicts
	}
	for _, t := range catalog.Tables {
		if t.Kind == datamap.KindView {
			continue
		}
		read := &table{CatalogTable: t, evaluate: d.satisfies, found: map[string]bool{}}
		if (t.Kind == datamap.KindTable || t.Kind == datamap.KindPartitioned) && len(t.Inherits) == 0 {
			read.key = keyOf(t)
		}
		d.tables = append(d.tables, read)
	}
	if len(d.tables) == 0 {
		return nil, &domain.Error{
			Code: domain.ErrInvalid, Op: "scaffold", Message: "the database has no tables; check that the URL names the" +
				" database of the application, that its migrations were run, and that the user may see its schema",
		}
	}
	slices.SortFunc(d.tables, func(a, b *table) int { return strings.Compare(a.Name, b.Name) })
	if err := d.chooseSubject(subject); err != nil {
		return nil, err
	}
	d.Schema = facts.Read(catalog, d.subject.Name, d.subjectID)
	for _, t := range d.tables {
		t.links = slices.DeleteFunc(d.Links(t.CatalogTable), func(l facts.Link) bool { return d.isNoKey(t, l.Column()) })
	}
	return d, nil
}

// keyOf returns the primary key of the table. If there is none, it returns the first unique constraint on columns that
// are NOT NULL, or nil.
func keyOf(t datamap.CatalogTable) []string {
	if len(t.PrimaryKey) > 0 {
		return t.PrimaryKey
	}
	for _, u := range t.Uniques {
		if isPlain(u) && !slices.ContainsFunc(u.Columns, func(name string) bool {
			c, ok := t.Column(name)
			return !ok || c.Nullable
		}) {
			return u.Columns
		}
	}
	return nil
}

// isPlain reports whether the constraint makes the combination of its columns unique. NULL counts as different from
// NULL.
func isPlain(u datamap.CatalogUnique) bool {
	return len(u.Columns) > 0 && !u.Partial && !u.Exclusion && !u.Expressions
}

func (d *draft) table(name string) *table {
	live, ok := d.catalog.Table(name)
	i := slices.IndexFunc(d.tables, func(t *table) bool { return t.Name == live.Name })
	if !ok || i < 0 {
		return nil
	}
	return d.tables[i]
}

// mappedTable returns the table of the data map for a table of the catalog.
func (d *draft) mappedTable(t *table) (datamap.Table, bool) {
	i := slices.IndexFunc(d.mapped, func(m datamap.Table) bool { return t.IsCalled(m.Name) })
	if i < 0 {
		return datamap.Table{}, false
	}
	return d.mapped[i], true
}
