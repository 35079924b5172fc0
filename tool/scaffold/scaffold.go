// Package scaffold proposes a data map for the live schema of a database. A proposal is a draft of guesses from the
// names of tables and columns, from foreign keys and from constraints. Each guess has a reason, and a person has to
// confirm it. See the example of [Propose].
package scaffold

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// Options add information that the schema does not contain.
type Options struct {
	// SubjectTable is the name of the subject's table in the catalog. If it is empty, Propose guesses the table.
	SubjectTable string
	// Include are tables whose rows belong to the person, although Propose would leave the tables out. Parts of these rows
	// belong to the person, too.
	Include []string
}

// Proposal is a data map that a person has to review. It contains names of tables and columns, but no value of a row.
type Proposal struct {
	// Tables is the data map: first the subject's table, then the others, sorted by name. datamap.NewDataMap accepts it.
	// The notes of tables and columns state the reason for each guess, and repeat the decisions.
	Tables []datamap.Table `json:"tables"`
	// Candidates are the tables that may be the subject's table, with the chosen table first. If Options.SubjectTable is
	// set, its table is the only candidate.
	Candidates []Candidate `json:"candidates"`
	// LeftOut lists the tables of the catalog that are not in Tables, sorted by name. It does not list views.
	LeftOut []LeftOut `json:"left_out"`
	// Decisions are the questions that a person has to decide, because the schema is not sufficient. Each has the option
	// that the proposal uses. They are in the order of the tables.
	Decisions []Decision `json:"decisions"`
}

// LeftOut is a table that is not in the proposed data map.
type LeftOut struct {
	Table  string `json:"table"`
	Reason string `json:"reason"` // a sentence
}

// Decision is a question to a person, with the possible options.
type Decision struct {
	Table    string   `json:"table"`
	Column   string   `json:"column,omitempty"`  // empty if the question concerns the rows
	Further  []string `json:"further,omitempty"` // further columns of the table that the question concerns
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Chosen   string   `json:"chosen"` // the option that the proposal uses
}

// Columns returns the columns that the question concerns, or nil if it concerns the rows.
func (d Decision) Columns() []string {
	if d.Column == "" {
		return nil
	}
	return append([]string{d.Column}, d.Further...)
}

// String returns the decision in one line. The notes of the data map contain this line. If the question concerns
// several columns, the line is in the note of the first one, and begins with their names.
func (d Decision) String() string {
	of := ""
	if len(d.Further) > 0 {
		of = "Columns " + strings.Join(d.Columns(), ", ") + ": "
	}
	return datamap.Decide + of + d.Question + " (" + strings.Join(d.Options, " | ") + "; chosen: " + d.Chosen + ")"
}

// Propose reads the catalog once, and returns a data map for the schema. datamap.NewDataMap accepts its tables, and
// erasure.Planner can plan an erasure with it. The same schema always gives the same proposal. For the choice of the
// values that an erasure writes, the database evaluates its CHECK constraints on examples. Propose reads no row, and
// changes nothing.
//
// Propose returns the error of the reader if the reader fails. It returns ErrInvalid for the field subject_table, with
// a list of the candidates, in these cases:
//
//   - No table or several tables may be the subject's table.
//   - The catalog does not have the table in Options.SubjectTable.
//   - This table has no key that can identify a subject.
//
// It returns ErrInvalid for the field include if a table in Options.Include cannot be in the data map, or if an erasure
// would not change its rows.
func Propose(ctx context.Context, reader ports.CatalogReader, options Options) (Proposal, error) {
	catalog, err := reader.Catalog(ctx)
	if err != nil {
		return Proposal{}, err
	}
	p, err := propose(ctx, reader, catalog, options, datamap.DataMap{})
	if err != nil {
		return Proposal{}, err
	}
	return p.complete(), nil
}

// propose returns a proposal as Propose does, but with a decision for each column, and without decisions in the notes.
// The rows of the tables in mapped, which may be zero, belong to the person.
func propose(
	ctx context.Context, reader ports.CatalogReader, catalog datamap.Catalog, options Options, mapped datamap.DataMap,
) (Proposal, error) {
	remembered := memory{reader, map[string][]datamap.Verdict{}, map[string]match{}, map[[3]string]string{}}
	d, err := draftOf(ctx, remembered, catalog, options, mapped)
	if err != nil {
		return Proposal{}, err
	}
	d.checkOffers(func(tables []string) *draft {
		more := Options{SubjectTable: d.subject.Name, Include: slices.Concat(options.Include, tables)}
		trial, err := draftOf(ctx, remembered, catalog, more, mapped)
		if err == nil {
			_, err = trial.proposal()
		}
		if err != nil || slices.ContainsFunc(tables, func(name string) bool { return !trial.table(name).chosen }) {
			return nil
		}
		return trial
	})
	if !d.single {
		d.foldTables()
		d.foldEqual()
	}
	return d.proposal()
}

// draftOf returns the draft from which propose makes a proposal.
func draftOf(
	ctx context.Context, remembered memory, catalog datamap.Catalog, options Options, mapped datamap.DataMap,
) (*draft, error) {
	d := newDraft(catalog)
	d.memory, d.single = remembered, !mapped.IsZero()
	if len(d.tables) == 0 {
		return nil, &domain.Error{
			Code: domain.ErrInvalid, Op: "scaffold", Message: "the database has no tables; check that the URL names the" +
				" database of the application, that its migrations were run, and that the user may see its schema",
		}
	}
	d.readForeignKeys()
	d.guessByTable()
	if err := d.chooseSubject(options.SubjectTable); err != nil {
		return nil, err
	}
	d.markIncluded(options.Include)
	d.guessByKey()
	d.guessByRole()
	d.guessPairs()
	d.guessMedia()
	d.preferKeys()
	d.dropAddresses()
	d.dropTwins()
	d.markLoose()
	d.recognise()
	d.measurePaths()
	d.findTwins()
	d.reversePaths()
	d.choosePaths()
	if err := d.include(options.Include); err != nil {
		return nil, err
	}
	d.includeMapped(mapped)
	d.decideRows()
	var failed error
	d.annotate(func(table string, check datamap.CatalogCheck, rows []map[string]any) []datamap.Verdict {
		verdicts, err := remembered.Satisfies(ctx, table, check, rows)
		failed = cmp.Or(failed, err)
		return verdicts
	})
	if failed != nil {
		return nil, failed
	}
	d.markErased()
	d.choose()
	d.askForUnchosen()
	if err := d.checkIncluded(options.Include); err != nil {
		return nil, err
	}
	d.askForUnclear()
	d.askForLeftOut()
	d.askForHistories()
	d.askForStrays()
	d.askForPersonal()
	d.askForKey()
	if options.SubjectTable != "" {
		d.askForName()
	}
	return d, nil
}

// proposal returns the proposal of a complete draft.
func (d *draft) proposal() (Proposal, error) {
	p := Proposal{Candidates: d.candidates, LeftOut: d.leftOut()}
	p.Tables, p.Decisions = d.result()
	if _, err := datamap.NewDataMap(p.Tables...); err != nil {
		return Proposal{}, &domain.Error{
			Code: domain.ErrManifest, Op: "scaffold", Err: err,
			Message: "no valid data map can be proposed: " + strings.TrimPrefix(err.Error(), "habeas: "),
		}
	}
	return p, nil
}

// draft is a proposal under construction. The methods that Propose calls fill it step by step.
type draft struct {
	memory     memory
	catalog    datamap.Catalog
	tables     []*table // all tables of the catalog except views, sorted by name
	candidates []Candidate
	subject    *table
	twins      []*table // tables with one row for each person; see findTwins
	subjectID  []string // the key columns of the subject
	single     bool     // no question is about several tables, because Update returns those about new tables only
}

// table is a table of the catalog with the results of the steps of Propose.
type table struct {
	datamap.CatalogTable
	base        string       // the name without its schema and without the prefix of all tables; see sharedPrefix
	key         []string     // the columns that identify a row; empty if the table has no key
	out         []*reference // references from this table
	in          []*reference // references to this table, also from its own rows
	distance    int          // the length of the path to the subject's table, or unreachable
	paths       []*reference // the references that begin the paths to the subject's table
	found       map[string]names.Match
	isSubject   bool   // the subject's table
	own         bool   // the name suggests that each row belongs to one person
	included    bool   // the caller says that the rows are the person's
	mapped      bool   // an existing data map has the table
	deletes     bool   // an existing data map says that an erasure deletes the rows
	group       bool   // several people may belong to each row; see findShared
	partition   bool   // the rows only divide the database; see isPartition
	shared      bool   // the rows may belong to several people, because they are groups or parts of groups
	goesAlong   bool   // the application declares that the rows go with the person; see isDeclared
	byAddress   string // the column of a dropped reference to the people; see dropAddresses
	ofTwo       bool   // a dropped reference leads to a second person; see dropAddresses
	present     bool   // the rows seem to be parts of rows that stay; see ofThing
	reversed    bool   // the path of the table begins with a reversed reference; see reversePaths
	fate        fate   // what an erasure does with the rows
	rowsDeleted bool   // an erasure deletes the rows
	reason      string // a sentence: why an erasure deletes or keeps the rows
	columns     []datamap.Column
	chosen      bool // the data map has the table
	evaluate    evaluate
	asked       []Decision
	folded      bool      // a question about the rows is a part of a question about several tables; see foldEqual
	unclear     []unclear // columns that may refer to one of two tables; see askForUnclear
}

const unreachable = 1 << 30

func newDraft(catalog datamap.Catalog) *draft {
	d := &draft{catalog: catalog}
	prefix := sharedPrefix(catalog.Tables)
	for _, t := range catalog.Tables {
		if t.Kind == datamap.KindView || t.Kind == datamap.KindMatView {
			continue
		}
		read := &table{CatalogTable: t, distance: unreachable, found: map[string]names.Match{}}
		read.base = strings.TrimPrefix(names.BaseName(t.Name), prefix)
		if (t.Kind == datamap.KindTable || t.Kind == datamap.KindPartitioned) && len(t.Inherits) == 0 {
			read.key = keyOf(t)
		}
		d.tables = append(d.tables, read)
	}
	slices.SortFunc(d.tables, func(a, b *table) int { return strings.Compare(a.Name, b.Name) })
	return d
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

// canBeMapped reports whether the table may be in a data map: it is a table with a key.
func (t *table) canBeMapped() bool { return len(t.key) > 0 }

func (t *table) ask(column, question, chosen string, others ...string) {
	t.asked = append(t.asked, Decision{
		Table: t.Name, Column: column, Question: question, Options: append([]string{chosen}, others...), Chosen: chosen,
	})
}

func (d *draft) table(name string) *table {
	live, ok := d.catalog.Table(name)
	i := slices.IndexFunc(d.tables, func(t *table) bool { return t.Name == live.Name })
	if !ok || i < 0 {
		return nil
	}
	return d.tables[i]
}
