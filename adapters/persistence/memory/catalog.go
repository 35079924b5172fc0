package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.CatalogReader = (*Store)(nil)

// Catalog implements ports.CatalogReader. The catalog has the tables, columns and primary keys of the data map, and of
// the data maps of the stores beside this one (see Options.Beside). It has the exact number of rows of each table, and
// a foreign key for each relation between these tables.
// Relations with a condition are an exception, because Store.Insert does not enforce them. The catalog has no indexes.
func (s *Store) Catalog(ctx context.Context) (datamap.Catalog, error) {
	if ctx.Err() != nil {
		return datamap.Catalog{}, endedBy(ctx)
	}
	committed := s.newest()
	live := datamap.Catalog{Tables: []datamap.CatalogTable{}}
	all := s.applicationTables()
	for _, table := range all {
		described := datamap.CatalogTable{
			Name: table.Name, Kind: datamap.KindTable, PrimaryKey: slices.Clone(table.PrimaryKey),
			Rows: int64(len(committed.rows[table.Name])),
		}
		for _, column := range table.Columns {
			described.Columns = append(described.Columns, datamap.CatalogColumn{
				Name: column.Name, Declared: string(column.Type), Type: column.Type, Length: column.Length,
				Nullable: !slices.Contains(table.PrimaryKey, column.Name),
			})
		}
		for _, relation := range table.Relations {
			if slices.ContainsFunc(all, isCalled(relation.References)) && relation.When == nil {
				described.ForeignKeys = append(described.ForeignKeys, foreignKey(relation))
			}
		}
		live.Tables = append(live.Tables, described)
	}
	return live, nil
}

// applicationTables returns the tables of the data maps of this store and of the stores beside it, ordered by name. If
// several data maps have a table, the result has the table once, with the columns and relations of all of them.
func (s *Store) applicationTables() []datamap.Table {
	tables := slices.Clone(s.dataMap.Tables())
	for _, beside := range *s.committed.Load() {
		for _, table := range beside.dataMap.Tables() {
			i := slices.IndexFunc(tables, isCalled(table.Name))
			if i < 0 {
				tables = append(tables, table)
				continue
			}
			tables[i].Columns = withFurther(tables[i].Columns, table.Columns,
				func(a, b datamap.Column) bool { return a.Name == b.Name })
			tables[i].Relations = withFurther(tables[i].Relations, table.Relations,
				func(a, b datamap.Relation) bool {
					return slices.Equal(a.Columns, b.Columns) && a.References == b.References
				})
		}
	}
	slices.SortFunc(tables, func(a, b datamap.Table) int { return cmp.Compare(a.Name, b.Name) })
	return tables
}

func isCalled(name string) func(datamap.Table) bool {
	return func(table datamap.Table) bool { return table.Name == name }
}

// withFurther returns a new slice of all items, and of each further item that equals none of them.
func withFurther[T any](items, further []T, equal func(a, b T) bool) []T {
	all := slices.Clone(items)
	for _, item := range further {
		if !slices.ContainsFunc(items, func(known T) bool { return equal(known, item) }) {
			all = append(all, item)
		}
	}
	return all
}

func foreignKey(relation datamap.Relation) datamap.CatalogForeignKey {
	key := datamap.CatalogForeignKey{
		Columns: slices.Clone(relation.Columns), References: relation.References,
		Referenced: slices.Clone(relation.ReferencedColumns), OnDelete: datamap.ActionNone,
	}
	if relation.SetsNull {
		key.OnDelete = datamap.ActionSetNull
	}
	return key
}

// Satisfies implements ports.CatalogReader. The tables have no constraints. See Schema.Satisfies.
func (s *Store) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	return Schema{}.Satisfies(ctx, table, check, rows)
}
