package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

var _ ports.CatalogReader = (*Store)(nil)

// Catalog implements ports.CatalogReader. The catalog has the tables, columns and primary keys of the data map, and the
// exact number of rows of each table. The catalog has a foreign key for each relation between tables of the data map.
// Relations with a condition are an exception, because Store.Insert does not enforce them. The catalog has no indexes.
func (s *Store) Catalog(ctx context.Context) (domain.Catalog, error) {
	if ctx.Err() != nil {
		return domain.Catalog{}, endedBy(ctx)
	}
	committed := s.committed.Load()
	live := domain.Catalog{Tables: []domain.CatalogTable{}}
	for _, table := range s.dataMap.Tables() {
		described := domain.CatalogTable{
			Name: table.Name, Kind: domain.KindTable, PrimaryKey: slices.Clone(table.PrimaryKey),
			Rows: int64(len(committed.rows[table.Name])),
		}
		for _, column := range table.Columns {
			described.Columns = append(described.Columns, domain.CatalogColumn{
				Name: column.Name, Declared: string(column.Type), Type: column.Type, Length: column.Length,
				Nullable: !slices.Contains(table.PrimaryKey, column.Name),
			})
		}
		for _, relation := range table.Relations {
			if _, inMap := s.dataMap.Table(relation.References); inMap && relation.When == nil {
				described.ForeignKeys = append(described.ForeignKeys, foreignKey(relation))
			}
		}
		live.Tables = append(live.Tables, described)
	}
	slices.SortFunc(live.Tables, func(a, b domain.CatalogTable) int { return cmp.Compare(a.Name, b.Name) })
	return live, nil
}

func foreignKey(relation domain.Relation) domain.CatalogForeignKey {
	key := domain.CatalogForeignKey{
		Columns: slices.Clone(relation.Columns), References: relation.References,
		Referenced: slices.Clone(relation.ReferencedColumns), OnDelete: domain.ActionNone,
	}
	if relation.SetsNull {
		key.OnDelete = domain.ActionSetNull
	}
	return key
}
