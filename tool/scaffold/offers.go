package scaffold

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// offer is the beginning of the option that takes a table into the data map.
const offer = "yes: --include "

// annotateIt is the option about a table that --include cannot take in, because the rows would stay and no column looks
// personal.
const annotateIt = "yes: add it to the data map, and annotate its columns"

// eraseInHook is the option about a table that neither --include nor an annotation can help.
const eraseInHook = "yes: erase them in the hook BeforeErasure"

// maxTogether is the maximum number of tables in an option.
const maxTogether = 4

// staying says that an erasure would not delete the rows of a table that a person takes in.
const staying = " With --include, an erasure keeps them, and overwrites personal values."

// checkOffers makes sure that a person can choose each option that takes a table into the data map. The function try
// returns the draft with these further tables in Options.Include, or nil if its proposal would not have the tables. If
// it would not have a table alone, checkOffers offers the table together with those that prevent it. If that does not
// work, either, it offers another way. It drops the question if no column looks personal and the rows do not refer to a
// person. If the rows would stay, the question says so.
func (d *draft) checkOffers(try func(tables []string) *draft) {
	for _, t := range d.tables {
		i := slices.IndexFunc(t.asked, func(asked Decision) bool { return slices.Contains(asked.Options, offer+t.Name) })
		if i < 0 {
			continue
		}
		j := slices.Index(t.asked[i].Options, offer+t.Name)
		switch found, trial := t.tablesToInclude(try); {
		case found != nil:
			t.asked[i].Options[j] = offer + strings.Join(found, " --include ")
			if !trial.table(t.Name).rowsDeleted {
				t.asked[i].Question += staying
			}
		case d.refersToPerson(t) && t.mayBeAnnotated() && t.addressKey() == "":
			t.asked[i].Options[j] = annotateIt
		case t.isOfDuty(), t.isPointing(), t.addressKey() != "", d.refersToPerson(t), len(t.personal()) > 0, d.namesTwin(t):
			t.asked[i].Options[j] = eraseInHook
		default:
			t.asked = slices.Delete(t.asked, i, i+1)
		}
	}
}

// mayBeAnnotated reports whether a column may hold personal data, although its name does not suggest it.
func (t *table) mayBeAnnotated() bool {
	return len(t.found) > 0 || len(t.texts()) > 0 || slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool {
		return c.Type == datamap.TypeJSON || c.Type == datamap.TypeBytes
	})
}

// tablesToInclude returns the table alone, with the tables on its path, or with the tables that refer to it, whichever
// works first, and the draft with these tables. It returns nil if nothing works.
func (t *table) tablesToInclude(try func([]string) *draft) ([]string, *draft) {
	parents, referring := []string{t.Name}, []string{t.Name}
	for to := t.parent(); to != nil && !to.isSubject; to = to.parent() {
		parents = append(parents, to.Name)
	}
	for _, r := range t.in {
		if !r.from.rowsDeleted && !slices.Contains(referring, r.from.Name) {
			referring = append(referring, r.from.Name)
		}
	}
	for _, list := range [][]string{parents[:1], parents, referring} {
		if len(list) > maxTogether {
			continue
		}
		if trial := try(list); trial != nil {
			return list, trial
		}
	}
	return nil, nil
}

// memory keeps the answers about a schema, because checkOffers makes several drafts of it.
type memory struct {
	ports.CatalogReader
	verdicts map[string][]datamap.Verdict
	matches  map[string]match
	rivals   map[[3]string]string // the key has the names of a table, its column, and another table
}

// rival returns the result of names.Rival, or "" if there is no rival.
func (m memory) rival(
	tables []datamap.CatalogTable, from datamap.CatalogTable, c datamap.CatalogColumn, to datamap.CatalogTable,
) string {
	key := [3]string{from.Name, c.Name, to.Name}
	rival, ok := m.rivals[key]
	if !ok {
		rival, _ = names.Rival(tables, from, c, to)
		m.rivals[key] = rival
	}
	return rival
}

// match is the result of names.Find.
type match struct {
	names.Match
	ok bool
}

// find returns the result of names.Find.
func (m memory) find(table string, c datamap.CatalogColumn) (names.Match, bool) {
	key := table + "\x00" + c.Name + "\x00" + string(c.Type)
	found, ok := m.matches[key]
	if !ok {
		found.Match, found.ok = names.Find(table, c.Name, c.Type)
		m.matches[key] = found
	}
	return found.Match, found.ok
}

// Satisfies implements ports.CatalogReader.
func (m memory) Satisfies(
	ctx context.Context, table string, check datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	question := fmt.Sprint(table, check, rows)
	if verdicts, ok := m.verdicts[question]; ok {
		return verdicts, nil
	}
	verdicts, err := m.CatalogReader.Satisfies(ctx, table, check, rows)
	if err == nil {
		m.verdicts[question] = verdicts
	}
	return verdicts, err
}
