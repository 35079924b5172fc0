package porttest

import (
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// changesDataMap returns a function that makes a store defective: it uses a data map whose tables were changed by fn.
func changesDataMap(fn func(table *datamap.Table)) func(*Store) {
	tables := shop()
	for i := range tables {
		fn(&tables[i])
	}
	return func(store *Store) {
		other := openInMemory(tables)
		store.Sessions, store.Insert, store.Rows = other.Sessions, other.Insert, other.Rows
		store.Erased, store.Entries = other.Erased, other.Entries
		store.Connections, store.Statements = other.Connections, other.Statements
	}
}

// addsAllPaths changes the personal columns that belong to only some paths: it assigns them to all paths of the table.
func addsAllPaths(table *datamap.Table) {
	for i, column := range table.Columns {
		if column.Personal == nil || column.Personal.Via == "" {
			continue
		}
		annotation := *column.Personal
		annotation.Via = ""
		for _, relation := range table.Relations {
			name := relation.Name
			if table.Name == "wraps" {
				name = "Giver,Receiver"
			}
			annotation.Via += "," + name
		}
		annotation.Via = annotation.Via[1:]
		table.Columns[i].Personal = &annotation
	}
}

func sharedDefects() defects {
	ofTable := func(records []domain.ExportRecord, table string) []domain.ExportRecord {
		return slices.DeleteFunc(slices.Clone(records), func(r domain.ExportRecord) bool { return r.Source != table })
	}
	return defects{
		"parts that are not distinguished": {changesDataMap(addsAllPaths), found{
			"the export of customer":          {subjectSharedRowsAreExportedInParts, subjectSharedRowsAreErasedInParts},
			"want the error habeas: manifest": {subjectStepsNameTheirPath},
		}},
		"conditions that are not looked at": {changesDataMap(func(table *datamap.Table) {
			for i := range table.Relations {
				table.Relations[i].When = nil
			}
			if table.Name == "remarks" { // a column that two relations use cannot be set to NULL
				table.Relations[1].OnErasure = ""
			}
		}), found{"the export of customer": {subjectConditionsPickRows}}},
		"a row twice": {changesExport(func(records []domain.ExportRecord) []domain.ExportRecord {
			return slices.Concat(records, ofTable(records, "gifts"))
		}), found{"the export of customer": {subjectSharedRowsAreExportedInParts, subjectSharedRowsAreErasedInParts}}},
		"rows of one path": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			_, err := DataMap().CheckSteps([]datamap.Step{step})
			return step, err != nil || step.Via != "Receiver" && step.Via != "Followed" && step.Via != "Order"
		}), found{
			"rows, want":                             {subjectSharedRowsAreErasedInParts},
			"gifts.receiver has an unexpected value": {subjectSharedRowsAreRetainedInParts},
			"the steps were about":                   {subjectConditionsPickRows},
		}},
		"references that stay": {changesSteps(func(step datamap.Step) (datamap.Step, bool) {
			if len(step.Columns) == 0 || step.Target == "desk" {
				return step, true
			}
			if step.Target == "gifts" && len(step.ClearedColumns) == 1 && step.ClearedColumns[0] != "receiver" {
				return step, true // the store must still refuse the step
			}
			step.ClearedColumns = nil
			return step, true
		}), found{
			"gifts.receiver has an unexpected value": {subjectSharedRowsAreErasedInParts, subjectSharedRowsAreRetainedInParts},
			"remarks.target has an unexpected value": {subjectConditionsPickRows},
		}},
		"a duty that keeps the part of another": {brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
			if slices.ContainsFunc(c.steps, func(step datamap.Step) bool { return step.Via != "" && len(step.Expired) > 0 }) {
				c.steps = slices.Clone(c.steps)
				for i, step := range c.steps {
					step.Columns = slices.DeleteFunc(slices.Clone(step.Columns), func(name string) bool { return name == "thanks" })
					c.steps[i] = step
				}
			}
			return c.apply()
		}}.breaks, found{"gifts.thanks has an unexpected value": {
			subjectSharedRowsAreRetainedInParts, subjectSharedRowsAreErasedInParts,
		}}},
		"a path that need not be named": {brokenSubjects{
			apply: func(c subjectCall) ([]int64, error) {
				steps := slices.Clone(c.steps)
				for i, step := range steps {
					if paths := DataMap().Paths(step.Target); len(paths) > 1 && step.Via == "" {
						steps[i].Via = paths[0].Via
					}
				}
				return rowsOf(c.Apply(c.ctx, c.id, steps))
			},
			rectify: func(c subjectCall) (int64, error) {
				if paths := DataMap().Paths(c.step.Table); len(paths) > 1 && c.step.Via == "" {
					c.step.Via = paths[0].Via
				}
				return c.rectify()
			},
		}.breaks, found{"want the error habeas: manifest": {subjectStepsNameTheirPath}}},
		"a table that is judged as a whole": {changesExported(func(record *domain.ExportRecord) bool {
			if table, _ := DataMap().Table(record.Source); record.Erased && table.RowsDeleted() {
				record.Erased, record.Value = false, "anon-"
			}
			return true
		}), found{"wraps.color is marked as erased: false, want true": {subjectExportOmitsSurrogatesOfSharedRows}}},
		"surrogates of another person": {showsSurrogates("motto", "anon-"), found{
			`overwritten are ["1.paid" "2.paid"], want ["1.motto"`: {subjectExportOmitsSurrogatesOfSharedRows},
		}},
		"surrogates of another person that look like values": {showsSurrogates("paid", false), found{
			`overwritten are ["1.motto" "2.motto"], want ["1.motto"`: {subjectExportOmitsSurrogatesOfSharedRows},
		}},
		"a right value for all paths": {brokenSubjects{rectify: func(c subjectCall) (rows int64, err error) {
			rows, err = c.rectify()
			for _, path := range DataMap().Paths(c.step.Table) {
				table, _ := DataMap().Table(c.step.Table)
				if column, _ := table.Column("motto"); err != nil || c.step.Values[0].Column != "motto" || !path.Has(column) {
					continue
				}
				c.step.Via = path.Via
				if _, err := c.rectify(); err != nil {
					return 0, err
				}
			}
			return rows, err
		}}.breaks, found{"but for the column: gifts.motto has changed": {subjectSharedRowsAreRectifiedInParts}}},
	}
}

// showsSurrogates returns a defect: unless zoe's data is exported, a value of the field that an erasure has overwritten
// is exported as the given surrogate.
func showsSurrogates(field string, surrogate any) func(*Store) {
	return brokenSubjects{export: func(c subjectCall) error {
		yield := c.yield
		c.yield = func(record domain.ExportRecord) error {
			if record.Erased && record.Field == field && !slices.Equal(c.id.Elements(), []string{"acme", "7"}) {
				record.Erased, record.Value = false, surrogate
			}
			return yield(record)
		}
		return c.export()
	}}.breaks
}
