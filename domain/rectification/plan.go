package rectification

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Planner turns corrections into a plan. It uses no clock and no I/O. Equal data maps and corrections give equal plans.
type Planner struct{}

// Plan lists the values that a rectification writes into the application's tables and sends to external systems.
type Plan struct {
	// Steps are in the order of the data map's tables. The step for all rows of a table comes before the steps for single
	// rows. The steps for single rows are in the order of the corrections.
	Steps       []domain.RectificationStep
	Corrections domain.Corrections // the corrections that name a category, for external systems

	categories map[domain.Category]bool
}

// Categories returns the corrected categories, sorted.
func (p Plan) Categories() []domain.Category { return slices.Sorted(maps.Keys(p.categories)) }

// Plan returns the plan for the corrections. The value of a correction must fit each column that it is written into:
//
//   - A text column takes a string of valid UTF-8 without NUL, up to the length of the column in characters.
//   - An integer column takes a value of each integer type of Go, a json.Number without fraction and exponent, and a
//     float without a fraction up to 2^53. Beyond 2^53, a float64 does not hold every integer exactly. The number must
//     be in the range of the column.
//   - A number column takes the values of an integer column, every finite float, and a domain.Number or json.Number
//     that is domain.Number.Storable.
//   - A boolean column takes a bool.
//   - A time column takes a time.Time of the years 1 to 9999, or a string like "2024-02-29T12:00:00Z" or "2024-02-29".
//   - A UUID column takes a string of 36 characters, with hyphens and in lower case, such as
//     "01234567-89ab-cdef-0123-456789abcdef".
//   - A JSON column takes a domain.JSON that is Storable.
//   - A bytes column takes a []byte.
//   - An array column takes no value.
//
// No column takes nil. A column that identifies or links rows (a key) cannot be corrected. If a category has such a
// column, a correction of the category must name another column. A correction of a category never applies to a column
// that exports do not show (datamap.ExportNo), such as a password hash, or that holds keys of an external system
// (datamap.Annotation.Ref). A retained column with such keys cannot be corrected at all: the object with the old key
// must be kept, and no row would name it. If a category has several other columns, the correction must name a column or
// apply to all columns. The parameter external is true if an external system receives the corrections. A category
// without a column is for external systems only, so it is an error if external is false. No cell may be corrected
// twice, and no category may be sent twice.
//
// Plan returns domain.ErrInvalid with one FieldError per invalid correction. The Field of the error is "table.column"
// if the data map has the column. Otherwise it is the category, or "corrections" if the category does not have the form
// of one.
func (Planner) Plan(m datamap.DataMap, corrections []domain.Correction, external bool) (Plan, error) {
	const op = "rectify"
	if len(corrections) == 0 {
		return Plan{}, domain.Invalid(op, []domain.FieldError{{
			Field: "corrections", Code: domain.FieldRequired, Message: "must not be empty",
		}})
	}
	p := planning{
		dataMap: m, external: external, sent: domain.Corrections{}, categories: map[domain.Category]bool{},
		written: map[cell]bool{}, steps: map[place]*domain.RectificationStep{},
	}
	for _, correction := range corrections {
		if wrong := p.add(correction); wrong != nil {
			if wrong.Field == "" {
				wrong.Field = p.fieldOf(correction)
			}
			p.faults = append(p.faults, *wrong)
		}
	}
	if len(p.faults) > 0 {
		return Plan{}, domain.Invalid(op, p.faults)
	}
	return Plan{Steps: p.inOrder(), Corrections: p.sent, categories: p.categories}, nil
}

// planning is a plan under construction.
type planning struct {
	dataMap    datamap.DataMap
	external   bool
	sent       domain.Corrections
	categories map[domain.Category]bool
	written    map[cell]bool
	steps      map[place]*domain.RectificationStep
	rows       []place // the steps for single rows, in the order of the corrections
	faults     []domain.FieldError
}

// place identifies the rows that a step writes: one row of a table, or all rows of the table if the field row is empty.
type place struct{ table, row string }

// cell is a column of a place.
type cell struct {
	place
	column string
}

// target is a column that a correction is written into.
type target struct {
	table  datamap.Table
	column datamap.Column
}

func (t target) String() string { return t.table.Name + "." + t.column.Name }

// add adds a correction to the plan, or returns its error.
func (p *planning) add(c domain.Correction) *domain.FieldError {
	if c.Category != "" && !c.Category.Valid() {
		return fault(domain.FieldUnknown, "is not a category of personal data")
	}
	value, wrong := canonicalValue(c.Value)
	if wrong != nil {
		return wrong
	}
	targets, wrong := p.targets(c)
	if wrong != nil {
		return wrong
	}
	fitting := make([]any, len(targets))
	for i, t := range targets {
		if p.dataMap.IsKey(t.table, t.column.Name) {
			return fault(domain.FieldUnknown, "identifies or links records, and cannot be corrected")
		}
		if t.column.Personal.Ref != "" && t.column.Personal.Strategy == domain.StrategyRetain {
			return fault(domain.FieldUnknown, "names an object that must be retained, and cannot be corrected")
		}
		if fitting[i], wrong = fit(t.column, value); wrong != nil {
			return wrong
		}
	}
	if c.Category != "" {
		if _, twice := p.sent[c.Category]; twice {
			return fault(domain.FieldDuplicate, "is corrected twice")
		}
		p.sent[c.Category] = value
		p.categories[c.Category] = true
	}
	for i, t := range targets {
		if wrong := p.write(t, c.Row, fitting[i]); wrong != nil {
			return wrong
		}
	}
	return nil
}

// targets returns the columns that a correction applies to.
func (p *planning) targets(c domain.Correction) ([]target, *domain.FieldError) {
	switch {
	case c.Table != "" || c.Column != "":
		return p.namedColumn(c)
	case c.Category == "":
		return nil, fault(domain.FieldRequired, "must name a column or a category")
	case c.Row != "":
		return nil, fault(domain.FieldRequired, "must name a table and a column, because it names a row")
	}
	var targets []target
	for _, table := range p.dataMap.Tables() {
		for _, column := range table.Exported() {
			if column.Personal.Category == c.Category && column.Personal.Ref == "" {
				targets = append(targets, target{table, column})
			}
		}
	}
	switch {
	case len(targets) == 0 && !p.external:
		return nil, fault(domain.FieldUnknown, "has no column and no external system that can correct it")
	case len(targets) > 1 && !c.AllColumns:
		return nil, ambiguous(targets)
	}
	return targets, nil
}

// namedColumn returns the column that a correction names.
func (p *planning) namedColumn(c domain.Correction) ([]target, *domain.FieldError) {
	table, _ := p.dataMap.Table(c.Table)
	column, ok := table.Column(c.Column)
	switch {
	case !ok || column.Personal == nil:
		return nil, fault(domain.FieldUnknown, "must name the table and the column of an annotated column of the data map")
	case c.AllColumns:
		return nil, fault(domain.FieldUnknown, "names a column, so it cannot apply to all columns of its category")
	case c.Category != "" && c.Category != column.Personal.Category:
		return nil, fault(domain.FieldUnknown, "is of the category "+string(column.Personal.Category))
	}
	if c.Row != "" && !table.NamesRowsByKey() {
		return nil, fault(domain.FieldUnknown, "is in a table whose key is not exported, so its rows cannot be named")
	}
	isText := utf8.ValidString(c.Row) && !strings.ContainsRune(c.Row, 0)
	if _, ok := domain.SplitTuple(c.Row, len(table.PrimaryKey)); c.Row != "" && (!ok || !isText) {
		return nil, fault(domain.FieldUnknown, "must name the row as an export names it")
	}
	return []target{{table, column}}, nil
}

func ambiguous(targets []target) *domain.FieldError {
	names := make([]string, len(targets))
	for i, t := range targets {
		names[i] = t.String()
	}
	return fault(domain.FieldAmbiguous,
		"has the columns "+strings.Join(names, ", ")+": name one of them, or correct all columns")
}

// write adds a value to the step for one row, or for all rows of a table if no row is given. It returns an error if the
// plan already writes one of these cells.
func (p *planning) write(t target, row string, value any) *domain.FieldError {
	at, allRows := place{t.table.Name, row}, place{table: t.table.Name}
	twice := p.written[cell{at, t.column.Name}] || p.written[cell{allRows, t.column.Name}]
	for _, single := range p.rows {
		twice = twice || row == "" && single.table == t.table.Name && p.written[cell{single, t.column.Name}]
	}
	if twice {
		return &domain.FieldError{Field: t.String(), Code: domain.FieldDuplicate, Message: "is corrected twice"}
	}
	p.written[cell{at, t.column.Name}] = true
	step := p.steps[at]
	if step == nil {
		step = &domain.RectificationStep{Table: t.table.Name, Row: row}
		p.steps[at] = step
		if row != "" {
			p.rows = append(p.rows, at)
		}
	}
	step.Values = append(step.Values, domain.ColumnValue{Column: t.column.Name, Value: value})
	p.categories[t.column.Personal.Category] = true
	return nil
}

// inOrder returns the steps. The values of a step are in the order of the columns.
func (p *planning) inOrder() (steps []domain.RectificationStep) {
	for _, table := range p.dataMap.Tables() {
		places := slices.DeleteFunc(slices.Clone(p.rows), func(at place) bool { return at.table != table.Name })
		for _, at := range append([]place{{table: table.Name}}, places...) {
			step := p.steps[at]
			if step == nil {
				continue
			}
			position := func(v domain.ColumnValue) int {
				return slices.IndexFunc(table.Columns, func(c datamap.Column) bool { return c.Name == v.Column })
			}
			slices.SortFunc(step.Values, func(a, b domain.ColumnValue) int { return position(a) - position(b) })
			steps = append(steps, p.perPath(table, *step)...)
		}
	}
	return steps
}

// perPath divides a step on a table with several paths into one step per path. Each step writes only the columns of its
// path.
func (p *planning) perPath(table datamap.Table, step domain.RectificationStep) []domain.RectificationStep {
	paths := p.dataMap.Paths(table.Name)
	if len(paths) == 1 {
		return []domain.RectificationStep{step}
	}
	var steps []domain.RectificationStep
	for _, path := range paths {
		values := slices.DeleteFunc(slices.Clone(step.Values), func(v domain.ColumnValue) bool {
			column, _ := table.Column(v.Column)
			return !path.Has(column)
		})
		if len(values) > 0 {
			along := domain.RectificationStep{Table: step.Table, Row: step.Row, Via: path.Via, Values: values}
			steps = append(steps, along)
		}
	}
	return steps
}

// fieldOf returns the Field of an error about a correction. It returns the name in the correction only if the data map
// has this name, or if the name has the form of a category. Otherwise it returns "corrections", because the name comes
// from a client and may hold personal data.
func (p *planning) fieldOf(c domain.Correction) string {
	table, _ := p.dataMap.Table(c.Table)
	if column, ok := table.Column(c.Column); ok {
		return target{table, column}.String()
	}
	const most = 32
	unlike := func(r rune) bool { return (r < 'a' || 'z' < r) && r != '_' }
	if c.Category == "" || len(c.Category) > most || strings.ContainsFunc(string(c.Category), unlike) {
		return "corrections"
	}
	return string(c.Category)
}
