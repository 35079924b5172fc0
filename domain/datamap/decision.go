package datamap

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// Decision is a question about a table of the database, which the schema cannot answer, and the answer of a person. It
// has no effect on any operation: an answer is in effect because its edit was applied to the data map (see Apply). A
// check of the data map reports a question without an answer, an answer that the data map contradicts, and an answer
// about a table that has changed since.
type Decision struct {
	// Object is the name of a table, as in the catalog. "legacy.*" means all tables of the schema legacy.
	Object string `json:"object"`
	// Columns are the columns that the question is about. It is empty if the question is about the rows of the table.
	Columns []string `json:"columns,omitempty"`
	// Seen are the columns and the references that the table had when the question was asked. A reference is a text such
	// as "user_id -> users". A column or reference that is not in it is open again.
	Seen     []string `json:"seen,omitempty"`
	Question string   `json:"question,omitempty"`
	Options  []Option `json:"options,omitempty"`
	Proposed string   `json:"proposed,omitempty"` // the option that the data map followed when the question was asked
	// Answer is the name of an option, or empty while the question is open. Without Options, it is a word for readers, and
	// says that the object stays out of the data map.
	Answer  string `json:"answer,omitempty"`
	By      string `json:"by,omitempty"` // the person who has answered
	Because string `json:"because,omitempty"`
}

// Option is a possible answer to the question of a Decision.
type Option struct {
	Name string `json:"name"` // such as "delete"
	Edit Edit   `json:"edit,omitzero"`
}

// Edit is the exact change of the data map that an Option means.
type Edit struct {
	// Tables are the tables that the option needs. The table of the question replaces the one in the data map. The others
	// are added if the data map does not have them. An option of a question about rows without its table takes the table
	// out of the data map.
	Tables []Table `json:"tables,omitempty"`
	// Columns replace those of the same name in the table of the question.
	Columns []Column `json:"columns,omitempty"`
}

// IsOpen reports whether nobody has answered the question.
func (d Decision) IsOpen() bool { return d.Answer == "" }

// Option returns the option of that name.
func (d Decision) Option(name string) (Option, bool) {
	i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return Option{}, false
	}
	return d.Options[i], true
}

// Covers reports whether the decision is about the table: it is the Object, or in the schema that the Object names.
func (d Decision) Covers(table CatalogTable) bool {
	schema, isSchema := strings.CutSuffix(d.Object, ".*")
	return isSchema && table.Schema == schema || !isSchema && table.IsCalled(d.Object)
}

// LeavesOut reports whether the option takes the table of the question out of the data map.
func (d Decision) LeavesOut(option string) bool {
	chosen, ok := d.Option(option)
	return ok && len(d.Columns) == 0 && !slices.ContainsFunc(chosen.Edit.Tables, d.isObject)
}

func (d Decision) isObject(t Table) bool { return t.Name == d.Object }

// Apply returns the tables of a data map after the edit of an option. The parameter tables stays as it is. Apply keeps
// the notes. It also keeps the purposes and legal bases of columns that are annotated before and after the edit, and
// that a column is not personal, unless the edit annotates it. If an erasure deletes the rows of the table, the columns
// that an edit annotates are deleted with the rows. Apply returns domain.ErrInvalid if the question has no such option.
// The caller checks the result with NewDataMap.
func (d Decision) Apply(tables []Table, option string) ([]Table, error) {
	chosen, ok := d.Option(option)
	if !ok {
		names := make([]string, len(d.Options))
		for i, o := range d.Options {
			names[i] = o.Name
		}
		return nil, &domain.Error{
			Code: domain.ErrInvalid, Op: "decide",
			Message: "the question about " + d.Object + " has no option " + strconv.Quote(option) + ", but " +
				strings.Join(names, ", "),
		}
	}
	after := slices.Clone(tables)
	at := slices.IndexFunc(after, d.isObject)
	if len(d.Columns) > 0 {
		if at >= 0 {
			after[at] = replaceColumns(after[at], chosen.Edit.Columns)
		}
		return after, nil
	}
	for _, edited := range chosen.Edit.Tables {
		i := slices.IndexFunc(after, func(t Table) bool { return t.Name == edited.Name })
		switch {
		case i < 0:
			after = append(after, cloneTable(edited))
		case d.isObject(edited):
			after[i] = keepTexts(cloneTable(edited), after[i])
		}
	}
	if at >= 0 && d.LeavesOut(option) {
		after = slices.Delete(after, at, at+1)
	}
	return after, nil
}

func replaceColumns(table Table, columns []Column) Table {
	deleted := table.RowsDeleted()
	former := table
	table = cloneTable(table)
	for _, column := range columns {
		if column.Personal != nil && deleted {
			annotation := *column.Personal
			annotation.Strategy, column.Surrogate, column.Always = domain.StrategyErase, "", false
			column.Personal = &annotation
		}
		i := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == column.Name })
		if i < 0 {
			table.Columns = append(table.Columns, column)
		} else {
			table.Columns[i] = column
		}
	}
	return keepTexts(table, former)
}

// keepTexts returns the table with what people have written into the former one, and what no edit says.
func keepTexts(table, former Table) Table {
	if table.Note == "" {
		table.Note = former.Note
	}
	for i := range table.Columns {
		column := &table.Columns[i]
		before, _ := former.Column(column.Name)
		if column.Note == "" {
			column.Note = before.Note
		}
		if column.Personal == nil || before.Personal == nil {
			column.NotPersonal = column.NotPersonal || column.Personal == nil && before.NotPersonal
			continue
		}
		annotation := *column.Personal
		if annotation.Purpose == "" {
			annotation.Purpose = before.Personal.Purpose
		}
		if annotation.Basis == "" {
			annotation.Basis = before.Personal.Basis
		}
		column.Personal = &annotation
	}
	return table
}

// CheckDecisions returns a problem for each mistake in the decisions.
func CheckDecisions(all []Decision) (problems []domain.Problem) {
	for i, d := range all {
		report := func(message, found, remedy string) {
			problems = append(problems, domain.Problem{
				Table: d.Object, Message: "decisions[" + strconv.Itoa(i) + "]: " + message, Found: found, Remedy: remedy,
			})
		}
		if d.Object == "" {
			report("has no object", "", "name the table")
		}
		isAsked := slices.ContainsFunc(all[:i], func(o Decision) bool {
			return o.Object == d.Object && slices.Equal(o.Columns, d.Columns)
		})
		if isAsked {
			report("is about the same object as an earlier one", "", "remove one of them")
		}
		for j, option := range d.Options {
			if option.Name == "" || slices.ContainsFunc(d.Options[:j], func(o Option) bool { return o.Name == option.Name }) {
				report("options["+strconv.Itoa(j)+"] has no name of its own", option.Name, "give each option another name")
			}
		}
		isOption := func(name string) bool {
			_, ok := d.Option(name)
			return ok || name == "" || len(d.Options) == 0
		}
		if !isOption(d.Proposed) {
			report("proposed is not the name of an option", d.Proposed, "write the name of one of the options")
		}
		if !isOption(d.Answer) {
			report("answer is not the name of an option", d.Answer, "write the name of one of the options")
		}
		if len(d.Options) == 0 && (d.Answer == "" || strings.TrimSpace(d.Because) == "") {
			report("has no options, so it needs an answer and a reason", "", "write answer and because")
		}
	}
	return problems
}

// WithDecisions returns the data map with further decisions. See Decision.
func (m DataMap) WithDecisions(decisions ...Decision) DataMap {
	m.decisions = slices.Concat(m.decisions, decisions)
	return m
}

// Decisions returns the decisions of WithDecisions.
func (m DataMap) Decisions() []Decision { return m.decisions }
