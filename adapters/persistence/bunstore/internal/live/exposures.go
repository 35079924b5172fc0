package live

import (
	"cmp"
	"context"
	"database/sql"
	"regexp"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain/datamap"
)

// ownTrigger matches the names of the triggers of the migrations. The first group is the name of the table.
var ownTrigger = regexp.MustCompile(`^(.+)_no_(?:change|removal|truncate|update|delete|replace)$`)

// exposures returns the exposures of the removed tables. Exposures of the same kind by the same role or trigger are
// one.
func (l *reader) exposures(ctx context.Context) (all []datamap.Exposure) {
	if l.err != nil || len(l.removed) == 0 {
		return nil
	}
	add := func(kind datamap.ExposureKind, table, by string) {
		at := slices.IndexFunc(all, func(e datamap.Exposure) bool { return e.Kind == kind && e.By == by })
		if at < 0 {
			at = len(all)
			all = append(all, datamap.Exposure{Kind: kind, By: by})
		}
		if !slices.Contains(all[at].Tables, table) {
			all[at].Tables = append(all[at].Tables, table)
		}
	}
	for _, table := range l.removed {
		for _, trigger := range table.triggers {
			if found := ownTrigger.FindStringSubmatch(trigger.Name); found == nil || found[1] != table.nameInSchema() {
				add(datamap.ExposureTrigger, table.Name, trigger.Name)
			}
		}
	}
	if text := l.own.exposures(l.removed); text != "" {
		l.err = l.query(ctx, func(rows *sql.Rows) error {
			var kind, table, by string
			err := rows.Scan(&kind, &table, &by)
			add(datamap.ExposureKind(kind), table, by)
			return err
		}, text)
	}
	for _, found := range all {
		slices.Sort(found.Tables)
	}
	slices.SortFunc(all, func(a, b datamap.Exposure) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.By, b.By))
	})
	return all
}

func (sqlite) exposures([]*Table) string { return "" }

func (postgres) exposures(tables []*Table) string {
	return syntax.FillWithStrangers(exposuresOfPostgres, "tables", syntax.Join(tables, ", ", func(t *Table) string {
		place, rest, _ := placeOf(t)
		return "(" + syntax.Join([]string{t.Name, place.schema, place.prefix, rest}, ", ", syntax.Literal) + ")"
	}))
}

// exposuresOfPostgres compares each owner with that of the table installation, which the statement finds by its name. A
// trigger can have the name of one of ours, but then the function that it calls has another owner. All roles that own a
// database are members of pg_database_owner.
const exposuresOfPostgres = `, own (name, oid, owner, acl, installer, schema, schema_owner, schema_acl) AS (
		SELECT v.name, c.oid, c.relowner, c.relacl, i.relowner, n.oid, n.nspowner, n.nspacl
		FROM (VALUES {tables}) AS v (name, schema, prefix, rest)
		JOIN pg_catalog.pg_namespace AS n ON n.nspname = v.schema
		JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = concat(v.prefix, v.rest)
		LEFT JOIN pg_catalog.pg_class AS i ON i.relnamespace = n.oid AND i.relname = concat(v.prefix, 'installation')
	), creator (name, oid) AS (
		SELECT o.name, a.grantee FROM own AS o
		CROSS JOIN LATERAL aclexplode(COALESCE(o.schema_acl, acldefault('n', o.schema_owner))) AS a
		WHERE a.privilege_type = 'CREATE' AND a.grantee <> o.owner
		UNION
		SELECT o.name, o.schema_owner FROM own AS o WHERE o.schema_owner <> o.owner
	)
	SELECT 'owned', o.name, CAST(current_user AS text) FROM own AS o
	WHERE pg_has_role(o.owner, 'MEMBER') AND (SELECT NOT r.rolsuper FROM pg_catalog.pg_roles AS r
		WHERE r.rolname = current_user)
	UNION ALL
	SELECT 'owner', o.name, CAST(r.rolname AS text) FROM own AS o
	JOIN pg_catalog.pg_roles AS r ON r.oid = o.owner JOIN stranger AS s ON s.oid = o.owner
	WHERE o.owner <> o.installer
	UNION ALL
	SELECT DISTINCT 'granted', o.name, COALESCE(CAST(r.rolname AS text), 'PUBLIC') FROM own AS o
	CROSS JOIN LATERAL aclexplode(o.acl) AS a LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = a.grantee
	WHERE a.privilege_type IN ('TRIGGER', 'TRUNCATE', 'REFERENCES') AND a.grantee <> o.owner AND r.rolsuper IS NOT TRUE
	UNION ALL
	SELECT 'create', c.name, COALESCE(CAST(r.rolname AS text), 'PUBLIC') FROM creator AS c
	LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = c.oid
	WHERE c.oid = 0 OR c.oid IN (SELECT s.oid FROM stranger AS s) AND r.rolname <> 'pg_database_owner'
	UNION ALL
	SELECT 'trigger', o.name, CAST(t.tgname AS text) FROM own AS o
	JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = o.oid JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
	WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND p.proowner <> o.owner`
