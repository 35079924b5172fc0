package datamap

import (
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// checkTable reports the mistakes of one table that do not depend on the paths to the subject's table.
func (d *draft) checkTable(table Table) {
	if table.Name == "" {
		d.report(domain.Problem{Message: "a table has no name"})
		return
	}
	seen := map[string]bool{}
	for _, column := range table.Columns {
		if column.Name == "" || strings.ContainsRune(column.Name, 0) {
			d.report(domain.Problem{Table: table.Name, Message: "a column has no name, or a name that contains NUL"})
			continue
		}
		if seen[column.Name] {
			d.report(domain.Problem{
				Table: table.Name, Column: column.Name, Message: "is declared twice",
				Remedy: "declare it once",
			})
			continue
		}
		seen[column.Name] = true
		d.checkColumn(table, column)
	}
	d.checkPrimaryKey(table)
	d.checkSubjectKey(table)
	for _, relation := range table.Relations {
		d.checkRelation(table, relation)
	}
}

func (d *draft) checkColumn(table Table, column Column) {
	if !column.Type.Valid() && (column.Type != "" || column.Personal != nil) {
		d.report(domain.Problem{
			Table: table.Name, Column: column.Name, Message: "has no known type", Found: string(column.Type),
			Possible: texts(columnTypes()),
		})
	}
	if column.Length < 0 {
		d.report(domain.Problem{
			Table: table.Name, Column: column.Name, Message: "has a negative length", Found: strconv.Itoa(column.Length),
			Remedy: "remove it, or give the maximum number of characters of the column",
		})
	}
	if _, ok := column.Constant(); column.Always && (!ok || column.Personal == nil || !column.isOverwritten()) {
		d.report(domain.Problem{
			Table: table.Name, Column: column.Name,
			Message: "has always, but an erasure does not overwrite it at once with a surrogate of its own",
			Remedy:  "annotate it with erasure:anonymize, and give a surrogate; or remove always",
		})
	}
	if column.Personal == nil {
		return
	}
	if column.NotPersonal {
		d.report(domain.Problem{
			Table: table.Name, Column: column.Name, Message: "is annotated, and is declared to hold no personal data",
			Remedy: "remove one of the two",
		})
	}
	d.checkAnnotation(table, column)
}

func (d *draft) checkPrimaryKey(table Table) {
	if len(table.PrimaryKey) == 0 {
		d.report(domain.Problem{
			Table: table.Name, Message: "has no primary key, which an export needs to name a row",
			Remedy: `mark its columns: bun:",pk" in a model, primary_key in a manifest`,
		})
	}
	for i, name := range table.PrimaryKey {
		d.checkKeyColumn(table, table.PrimaryKey, i, name, "primary key")
	}
}

// checkKeyColumn checks and returns one column of a key: key[i], which has the given name. If the column occurs twice
// in the key, or if the table does not have it, checkKeyColumn reports the column and returns ok false. The parameter
// keyName is the name of the key in messages.
func (d *draft) checkKeyColumn(table Table, key []string, i int, name, keyName string) (column Column, ok bool) {
	column, ok = table.Column(name)
	switch {
	case slices.Contains(key[:i], name):
		d.report(domain.Problem{
			Table: table.Name, Column: name, Message: "is in the " + keyName + " twice",
			Remedy: "name it once",
		})
		return column, false
	case !ok:
		d.report(domain.Problem{
			Table: table.Name, Column: name, Message: "is in the " + keyName + " but not among the columns",
			Possible: columnNames(table),
		})
	}
	return column, ok
}

func (d *draft) checkSubjectKey(table Table) {
	for i, name := range table.SubjectKey {
		column, ok := d.checkKeyColumn(table, table.SubjectKey, i, name, "subject key")
		if ok && !column.Type.canBeKey() {
			d.report(domain.Problem{
				Table: table.Name, Column: name, Message: "cannot hold a subject id: its type is " + string(column.Type),
				Found: string(column.Type), Possible: texts(keyTypes()),
			})
		}
	}
	if len(table.SubjectKey) > 0 && isPartOf(table.SubjectKey, table.PrimaryKey) {
		d.report(domain.Problem{
			Table: table.Name, Message: "has a subject key that is only a part of its primary key (" +
				strings.Join(table.PrimaryKey, ", ") + "): rows of different subjects may share it",
			Found: strings.Join(table.SubjectKey, ", "), Remedy: "mark every column of the primary key",
		})
	}
}

// isPartOf reports whether columns is a proper subset of the columns of the key.
func isPartOf(columns, key []string) bool {
	return len(columns) < len(key) && !slices.ContainsFunc(columns, func(name string) bool {
		return !slices.Contains(key, name)
	})
}

func columnNames(table Table) []string {
	names := make([]string, len(table.Columns))
	for i, column := range table.Columns {
		names[i] = column.Name
	}
	return names
}

func (d *draft) checkAnnotation(table Table, column Column) {
	a := column.Personal
	report := d.reporter(table, column.Name)
	if !a.Category.Valid() {
		report(domain.Problem{
			Message: "has no known category", Found: string(a.Category), Possible: texts(domain.Categories()),
		})
	}
	if a.Basis != "" && !a.Basis.Valid() {
		report(domain.Problem{
			Message: "has no known legal basis", Found: string(a.Basis),
			Possible: texts(domain.LegalBases()),
		})
	}
	checkExport(column, report)
	checkRef(column, report)
	if !a.Strategy.Valid() {
		report(domain.Problem{
			Message: "has no known erasure strategy", Found: string(a.Strategy), Possible: texts(domain.Strategies()),
		})
		return // the checks of the retention duty need a valid strategy
	}
	if a.Strategy != domain.StrategyRetain {
		if duty := dutyOf(*a); duty != "" {
			report(domain.Problem{
				Message: "has the option reason, retain, since or from, but is not retained", Found: duty,
				Remedy: "set erasure:retain, or remove them",
			})
		}
		return
	}
	if a.Reason == "" {
		report(domain.Problem{Message: "is retained without a reason", Remedy: "name the duty: reason:'...'"})
	}
	d.checkDuration(table, *a, report)
}

// dutyOf returns the names of those fields of an annotation that are set and describe a retention duty.
func dutyOf(a Annotation) string {
	var names []string
	for name, set := range map[string]bool{
		"reason": a.Reason != "", "retain": !a.Retain.IsZero(), "since": a.Since != "",
		"from": a.From != "",
	} {
		if set {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// checkDuration checks the length of a retention duty, and the column with the start of the duty.
func (d *draft) checkDuration(table Table, a Annotation, report func(domain.Problem)) {
	if (a.Since == "") != a.Retain.IsZero() {
		report(domain.Problem{
			Message: "has only one of retain and since", Found: dutyOf(Annotation{Retain: a.Retain, Since: a.Since}),
			Remedy: "give the period and the time column from which it counts: retain:10y,since:<column>",
		})
	}
	if a.Retain != (Period{}) {
		if parsed, err := ParsePeriod(a.Retain.String()); err != nil || parsed != a.Retain {
			report(domain.Problem{
				Message: "has a retention period that is negative or longer than 100 years", Found: a.Retain.String(),
				Remedy: "give a period like \"10y\", \"6m\", \"30d\" or \"1y6m\", or leave `retain` out for a duty without end",
			})
		}
	}
	if a.From != "" && (a.From != FromYearEnd || a.Since == "") {
		report(domain.Problem{
			Message: "counts its retention period from something unknown", Found: a.From, Possible: []string{FromYearEnd},
			Remedy: "give the period and its time column, too: retain:10y,since:<column>,from:" + FromYearEnd,
		})
	}
	if a.Since == "" {
		return
	}
	times := slices.DeleteFunc(slices.Clone(table.Columns), func(c Column) bool {
		return c.Type != TypeTime || c.Personal != nil && c.Personal.Strategy != domain.StrategyRetain
	})
	possible := columnNames(Table{Columns: times})
	since, ok := table.Column(a.Since)
	switch {
	case !ok:
		report(domain.Problem{
			Message: "counts its retention period from a column that the table does not have",
			Found:   a.Since, Possible: possible,
		})
	case since.Type != TypeTime:
		report(domain.Problem{
			Message: "counts its retention period from a column that is not a time column",
			Found:   a.Since, Possible: possible,
		})
	case since.Personal != nil && since.Personal.Strategy != domain.StrategyRetain:
		report(domain.Problem{
			Message: "counts its retention period from a column that the erasure overwrites",
			Found:   a.Since, Possible: possible,
			Remedy: "retain that column too",
		})
	}
}

func (d *draft) checkRelation(table Table, relation Relation) {
	report := func(column, message, found string, possible []string, remedy string) {
		d.report(domain.Problem{
			Table: table.Name, Column: column, Message: message, Found: found, Possible: possible, Remedy: remedy,
		})
	}
	if len(relation.Columns) == 0 || len(relation.Columns) != len(relation.ReferencedColumns) {
		report("", "has a relation to "+relation.References+" that does not have one column for each referenced column",
			strings.Join(relation.Columns, ", ")+" -> "+strings.Join(relation.ReferencedColumns, ", "), nil,
			"name one column for each referenced column")
		return
	}
	for _, name := range relation.Columns {
		if _, ok := table.Column(name); !ok {
			report(name, "is in a relation but not among the columns", "", columnNames(table), "")
		}
	}
	d.checkCondition(table, relation)
	i, inMap := d.index[relation.References]
	if relation.Path && relation.References == table.Name {
		report(strings.Join(relation.Columns, ", "),
			"is marked as a path, but leads to its own table, which is not a path to a subject", relation.called(), nil,
			"remove the mark; erasure:null alone clears references to deleted rows")
	}
	if relation.Path && !inMap && !d.incomplete {
		report("", "is marked as a path through "+relation.References+
			", which is not another table of the data map", relation.References, d.otherTables(table),
			"add that table to the data map, or mark another relation")
	}
	if !inMap {
		return
	}
	missing := false
	for _, name := range relation.ReferencedColumns {
		if _, ok := d.tables[i].Column(name); !ok {
			missing = true
			d.report(domain.Problem{
				Table: relation.References, Column: name,
				Message:  "is referred to by " + table.Name + " but not among the columns",
				Possible: columnNames(d.tables[i]),
			})
		}
	}
	if key := d.tables[i].PrimaryKey; !missing && isPartOf(relation.ReferencedColumns, key) {
		report(strings.Join(relation.Columns, ", "), "refers to only a part of the primary key of "+
			relation.References+" ("+strings.Join(key, ", ")+"): rows of different subjects may share it",
			strings.Join(relation.ReferencedColumns, ", "), nil, "refer to all of "+strings.Join(key, ", "))
	}
}

func (d *draft) otherTables(table Table) []string {
	var names []string
	for _, other := range d.tables {
		if other.Name != table.Name {
			names = append(names, other.Name)
		}
	}
	return names
}

// keepsRow reports whether a column with the strategy prevents an erasure from deleting the row.
func keepsRow(s domain.Strategy) bool {
	return s != "" && s != domain.StrategyErase && s != domain.StrategyDelete
}
