package check

import (
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkKinds reports relations without a foreign key and without a condition beside a column that names the table of
// the row to which they lead, as owner_type does beside owner_id. The relation then also takes rows that refer to other
// tables.
func (s *schema) checkKinds(table datamap.Table, live datamap.CatalogTable) {
	for _, path := range s.Paths(table.Name) {
		if len(path.Relations) == 0 || path.Relations[0].When != nil {
			continue
		}
		relation := path.Relations[0]
		if kind := kindOf(live, relation); kind != "" {
			s.report("condition-missing", place{table: table.Name, column: list(relation.Columns)},
				"The relation leads to "+relation.References+" and has no condition, but "+kind+" may name another table to "+
					"which the column refers. Exports and erasures then also take rows that refer to a row of another table with "+
					"the same key.",
				"If "+kind+" names a table, give the relation a condition ({when}) with the value of "+kind+" for "+
					relation.References+". If not, create a foreign key, or accept the finding.")
		}
	}
}

// kindOf returns the text column that may name the table to which a relation refers: it has the name of the relation's
// only column, with type in place of id. It returns "" if the relation has a foreign key, and if the column lists its
// values, or tells the kind of a row of the referenced table, as device_type beside the device_id of devices.
func kindOf(live datamap.CatalogTable, relation datamap.Relation) string {
	stem, isID := strings.CutSuffix(strings.ToLower(relation.Columns[0]), "_id")
	if len(relation.Columns) > 1 || !isID || inForeignKey(live, relation.Columns[0]) ||
		strings.HasPrefix(strings.ToLower(relation.References), stem) {
		return ""
	}
	for _, column := range live.Columns {
		if strings.EqualFold(column.Name, stem+"_type") && column.Type == datamap.TypeText && !live.IsChoice(column) {
			return column.Name
		}
	}
	return ""
}
