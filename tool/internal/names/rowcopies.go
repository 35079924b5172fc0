package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// RowCopies returns the columns in which a table seems to hold rows of other tables before or after a change, in
// documents such as object_changes. If each row tells of one other row (isOfRow), such columns may also be long texts.
func RowCopies(table datamap.CatalogTable, isOfRow bool) (found []string) {
	has := func(name string, list []string) bool {
		return slices.ContainsFunc(partsOf(name), func(word string) bool { return slices.Contains(list, word) })
	}
	isHistory, isLog, several := has(table.Name, ofHistories), has(table.Name, ofLogs), IsOfSeveral(table)
	for _, c := range table.Columns {
		isWord := (isHistory || isLog) && has(c.Name, ofRows) || isHistory && has(c.Name, ofContents) ||
			several && isLog && has(c.Name, ofParameters)
		isNamed := isWord && !Describes(c.Name) || several && isCopy(c.Name)
		isDocument := c.Type == datamap.TypeJSON || strings.Contains(c.Declared, "hstore")
		if isNamed && (isDocument || isOfRow && IsLong(c)) && !table.IsChoice(c) {
			found = append(found, c.Name)
		}
	}
	return found
}

// IsLong reports whether a column can hold a document as a text or as bytes.
func IsLong(c datamap.CatalogColumn) bool {
	const shortText = 500 // the greatest length of a text that cannot hold a document
	return c.Type == datamap.TypeBytes || c.Type == datamap.TypeText && (c.Length == 0 || c.Length > shortText)
}

// IsOfSeveral reports whether each row tells of a row of one of several tables: columns have the key of that row and
// the name of its table, such as item_id and item_type, or record_id and table_name.
func IsOfSeveral(table datamap.CatalogTable) bool {
	namesTable := slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		return slices.Contains(ofTables, strings.Join(partsOf(c.Name), " "))
	})
	return slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
		stem, isReference := Stem(c.Name)
		return isReference && (namesTable && slices.Contains(anyRows, strings.Join(partsOf(stem), " ")) ||
			slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool { return TellsTable(c.Name, stem) }))
	})
}

// TellsTable reports whether a column has the name of the table to which the key with the stem leads, as target_type
// beside target_id. See Stem.
func TellsTable(column, stem string) bool {
	parts := partsOf(column)
	name := strings.Join(parts, "")
	return len(parts) > 1 && slices.Contains(ofTypes, parts[len(parts)-1]) &&
		Same(strings.Join(parts[:len(parts)-1], " "), stem) ||
		slices.ContainsFunc(ofTypes, func(word string) bool { return name == strings.Join(partsOf(stem), "")+word })
}

// isCopy reports whether the name of a column means the values of a row before or after a change in any table that
// tells of rows, such as object_changes and old_values.
func isCopy(column string) bool {
	parts := partsOf(column)
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return len(parts) == 1 && slices.Contains(ofCopies, last) ||
		slices.Contains(ofTimes, parts[0]) && slices.Contains(ofValues, last) || slices.Contains(ofChanges, last)
}

// ofHistories and ofLogs are words in the names of tables that hold changes of rows. The documents of a log may also
// tell other things.
var (
	ofHistories = strings.Fields(`
		version versions revision revisions audit audits audited history histories changelog changelogs changeset changesets
		changes snapshot snapshots archive archives archived shadow`)
	ofLogs = strings.Fields("log logs activity activities trail trails journal journals")
)

// ofRows, ofContents and ofParameters are words in the names of columns with the content of a row. The words of
// ofContents mean it only in a history, and those of ofParameters only in a log about rows of several tables. See
// isCopy for the others.
var (
	ofRows = strings.Fields(`
		object changes changed changeset diff delta old new before after previous prev snapshot row record modifications
		values`)
	ofContents   = strings.Fields("data payload content contents attributes fields body document entity")
	ofParameters = strings.Fields("parameters params data details properties")
	ofCopies     = strings.Fields("object before after old new")
	ofTimes      = strings.Fields("old new before after previous prev original")
	ofValues     = strings.Fields("row data values value record object attributes fields state")
	ofChanges    = strings.Fields("changes changeset changed diff delta snapshot patch")
)

// ofTypes are the last words of the names of columns with the name of a table, beside the key of its row. A column of
// ofTables has the name of a table, too; the key may then have any name of anyRows.
var (
	ofTypes  = strings.Fields("type kind class model table")
	ofTables = []string{
		"table name", "tablename", "tbl", "table", "model name", "modelname", "model", "entity", "entity name", "entityname",
	}
	anyRows = strings.Fields("record row entity object model item instance")
)

// IsHistoryName reports whether a word in the name of a table means a history of rows, such as versions.
func IsHistoryName(word string) bool { return slices.Contains(ofHistories, word) }
