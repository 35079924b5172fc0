package story

import (
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports/porttest"
)

// dataMap returns the data map of the shop in package porttest with two changes. It has no tables whose rows belong to
// several people. No column has the keys of an external system, because the only external system of this test has no
// keys.
func dataMap() (datamap.DataMap, error) {
	shop := porttest.DataMap()
	tables := slices.DeleteFunc(slices.Clone(shop.Declared()), func(t datamap.Table) bool {
		return slices.ContainsFunc(shop.Paths(t.Name), func(p datamap.Path) bool { return p.Via != "" })
	})
	for i := range tables {
		tables[i].Columns = slices.Clone(tables[i].Columns)
		for j, column := range tables[i].Columns {
			if column.Personal != nil {
				annotation := *column.Personal
				annotation.Ref = ""
				tables[i].Columns[j].Personal = &annotation
			}
		}
	}
	return datamap.NewDataMap(tables...)
}
