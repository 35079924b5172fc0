package isolation

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// keySystems are the external systems whose keys (such as file names) may be the values of columns.
var keySystems = []string{"files", "photos"}

// keySystem is an external system whose keys are the values of columns. It records the keys that exports request.
type keySystem struct {
	desk
	queried map[string][]string // by system
}

func (h keySystem) ExportKeys(_ context.Context, keys []string) ([]domain.ExportRecord, error) {
	h.queried[h.name] = append(h.queried[h.name], keys...)
	return nil, nil
}

func (keySystem) EraseKeys(context.Context, []string, domain.ErasureCall) (int, error) {
	panic("no worker runs")
}

// drawKeySystem chooses the external system whose keys the column contains. It returns the name of this system, or ""
// if the column contains no keys.
func (g *generator) drawKeySystem(c *column) string {
	switch c.kind.Type { //nolint:exhaustive // columns of other types cannot contain keys
	case datamap.TypeText, datamap.TypeUUID, datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		return pick(g.T, "ref", append([]string{"", "", ""}, keySystems...)...)
	}
	return ""
}

// refs returns the names of the external systems whose keys are the values of columns in the generated tables.
func (s *schema) refs() []string {
	return slices.DeleteFunc(slices.Clone(keySystems), func(name string) bool {
		return !slices.ContainsFunc(s.tables, func(t *table) bool { return !t.outside && len(t.keysOf(name)) > 0 })
	})
}

func (t *table) keysOf(system string) []*column {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		return c.Personal == nil || c.Personal.Ref != system
	})
}

// keys returns the keys of an external system that are in the subject's rows. It reads these rows from a dump (the text
// of every cell of the database). An export or an erasure must find exactly these keys. If erasing is true, keys omits
// the values that are in a cell that an erasure retains, even if they are in another cell, too.
func (w *world) keys(subject int, system string, d dump, erasing bool) (keys []string) {
	var kept []string
	for _, t := range w.mapped() {
		for _, r := range t.rows {
			held, isThere := d[t][t.key(r)]
			if r.owner != subject || !isThere {
				continue
			}
			for _, c := range t.keysOf(system) {
				text, isSet := w.plain(held[c.Name].String), held[c.Name].Valid
				switch {
				case !isSet:
				case erasing && c.Personal.Strategy == domain.StrategyRetain && !w.retentionEnded(t, r, c):
					kept = append(kept, text)
				case text != "" && !w.isSurrogate(system, text):
					keys = append(keys, text)
				}
			}
		}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(kept, key) })
	slices.Sort(keys)
	return slices.Compact(keys)
}

// plain returns the stored text of a cell in a dump, without the prefix textPrefix.
func (w *world) plain(shown string) string {
	if w.textPrefix == "" {
		return shown
	}
	_, text, _ := strings.Cut(shown, " ") // SQLite shows the type, a blank and the text
	return text
}

// isSurrogate reports whether a text must be a surrogate of a column with keys of the system. It returns false for a
// random UUID and for short random digits, because a key can have the same form.
func (w *world) isSurrogate(system, text string) bool {
	return slices.ContainsFunc(w.mapped(), func(t *table) bool {
		return slices.ContainsFunc(t.keysOf(system), func(c *column) bool {
			switch {
			case c.placeholder() != nil:
				return c.placeholder().MatchString(text)
			case c.Surrogate != "":
				return text == c.Surrogate
			case c.kind.Type == datamap.TypeText:
				digits := 32
				if c.kind.length > 0 {
					digits = min(digits, c.kind.length-len("anon-"))
				}
				return digits >= 12 && regexp.MustCompile(fmt.Sprintf("^anon-[0-9a-f]{%d}$", digits)).MatchString(text)
			default:
				return c.kind.Type != datamap.TypeUUID && text == "0"
			}
		})
	})
}

// wanted maps each external system to its expected keys in the subject's rows. Systems without keys are omitted.
func (w *world) wanted(subject int, d dump, erasing bool) map[string][]string {
	wanted := map[string][]string{}
	for _, system := range w.refs() {
		if keys := w.keys(subject, system, d, erasing); len(keys) > 0 {
			wanted[system] = keys
		}
	}
	return wanted
}

// checkQueriedKeys checks which keys the export of the subject has requested from each external system. They must be
// exactly the keys in the subject's rows.
func (w *world) checkQueriedKeys(subject int, d dump) {
	want := w.wanted(subject, d, false)
	for _, system := range keySystems {
		queried := w.queried[system]
		slices.Sort(queried)
		if !slices.Equal(queried, want[system]) {
			w.Errorf("%s is queried for %q of subject %d, want %q", system, queried, subject, want[system])
		}
	}
	clear(w.queried)
}

// enqueued maps each external system to the keys in its outbox entries, and counts all entries. All entries must belong
// to the subject. It then empties the outbox.
func (w *world) enqueued(subject domain.Subject) (keys map[string][]string, entries int) {
	keys = map[string][]string{}
	rows, err := w.db.DB.QueryContext(w.Context(), "SELECT subject_id, resolver, CAST(ref AS text) FROM habeas_outbox")
	must(w.T, err)
	defer rows.Close()
	for ; rows.Next(); entries++ {
		var id, resolver, text string
		must(w.T, rows.Scan(&id, &resolver, &text))
		var ref domain.SubjectRef
		must(w.T, json.Unmarshal([]byte(text), &ref))
		if id != subject.ID.String() || ref.Kind != resolver {
			w.Errorf("an entry of another subject or system is in the outbox")
		}
		keys[resolver] = append(keys[resolver], ref.Keys...)
	}
	must(w.T, rows.Err())
	must(w.T, rows.Close())
	_, err = w.db.DB.ExecContext(w.Context(), "DELETE FROM habeas_outbox")
	must(w.T, err)
	return keys, entries
}
