package isolation

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// fill generates rows. References may be NULL. The conditions of relations test the column "kind": some rows fulfil a
// condition, and some do not.
func (p *people) fill() {
	for i, t := range p.tables {
		rows := between(p.T, "rows", 2, 8)
		if i == 0 {
			rows = between(p.T, "subjects", 2, 4)
		}
		for n := range rows {
			row := map[string]any{
				"kind": pick(p.T, "kind", []any{nil, "plain", "Plain", `it's ?1 "$1" \ ü`, ""}...), "plain": "plain",
			}
			for _, c := range t.columns {
				row[c.Name] = pick(p.T, "cell", []any{nil, "cell", "", fmt.Sprint(t.name, n, c.Name)}...)
			}
			if i == 0 {
				p.identify(t, row, n)
			} else {
				row["id"] = int64(n)
				for _, r := range t.relations {
					p.refer(t, r, row)
				}
				if row[selfColumn] = nil; t.answers && n > 0 && !oneIn(p.T, "answers nothing", 3) {
					row[selfColumn] = pick(p.T, "answered", t.rows...)["id"]
				}
			}
			t.rows = append(t.rows, row)
		}
	}
}

// identify gives the n-th subject a key. The keys of different subjects have some equal parts.
func (p *people) identify(t *peopleTable, row map[string]any, n int) {
	for j, name := range t.key {
		value := n
		if len(t.key) > 1 {
			value = []int{n % 2, n / 2}[j]
		}
		row[name] = int64(value)
		if t.kind == "TEXT" {
			row[name] = fmt.Sprint("k", value)
		}
	}
}

// refer sets the foreign key of a relation to the key of a random row, or to NULL. If some columns of the foreign key
// already have values, refer keeps these values and chooses a row that has the same values in its key.
func (p *people) refer(t *peopleTable, r *peopleRelation, row map[string]any) {
	var candidates []map[string]any
	for _, parent := range r.to.rows {
		fits := true
		for j, name := range r.columns {
			value, set := row[name]
			fits = fits && (!set || value == parent[r.to.key[j]])
		}
		if fits {
			candidates = append(candidates, parent)
		}
	}
	nothing := len(candidates) == 0 || oneIn(p.T, "refers to nothing", 6)
	for j, name := range r.columns {
		if _, set := row[name]; set {
			continue
		}
		row[name] = nil
		if !nothing {
			row[name] = pick(p.T, "refers to", candidates...)[r.to.key[j]]
			candidates = slices.DeleteFunc(candidates, func(c map[string]any) bool { return c[r.to.key[j]] != row[name] })
		}
	}
}

// pathsTo returns the expected names of the paths that connect the row to the subject.
func (t *peopleTable) pathsTo(row, subject map[string]any) (vias []string) {
	if len(t.relations) == 0 {
		for _, name := range t.key {
			if row[name] != subject[name] {
				return nil
			}
		}
		return []string{""}
	}
	for _, r := range t.relations {
		if r.when != nil && row[r.when.Column] != r.when.Value {
			continue
		}
		for _, parent := range r.to.rows {
			same := true
			for j, name := range r.columns {
				same = same && row[name] != nil && row[name] == parent[r.to.key[j]]
			}
			if !same {
				continue
			}
			for _, onward := range r.to.pathsTo(parent, subject) {
				vias = append(vias, t.via(r, onward))
			}
		}
	}
	return vias
}

// isTheirs reports whether the annotation of a column names one of the paths in vias. An annotation without names
// applies to every path.
func isTheirs(c datamap.Column, vias []string) bool {
	return slices.ContainsFunc(vias, func(via string) bool {
		return c.Personal.Via == "" || slices.ContainsFunc(strings.Split(c.Personal.Via, ", "), func(name string) bool {
			return via == name || strings.HasPrefix(via, name+".")
		})
	})
}

// relationOf returns the first relation of the path with the given name.
func (t *peopleTable) relationOf(via string) *peopleRelation {
	for _, r := range t.relations {
		if len(t.relations) == 1 || via == r.name || strings.HasPrefix(via, r.name+".") {
			return r
		}
	}
	return &peopleRelation{}
}

// erased returns the expected row after an erasure of the subject, or nil if the row is deleted.
func (t *peopleTable) erased(row, subject map[string]any) map[string]any {
	left := t.erasedByPaths(row, subject)
	if left == nil || !t.answers {
		return left
	}
	for _, answered := range t.rows {
		if answered["id"] == row[selfColumn] && t.erasedByPaths(answered, subject) == nil {
			left[selfColumn] = nil
		}
	}
	return left
}

// erasedByPaths is erased without the references of a table to itself.
func (t *peopleTable) erasedByPaths(row, subject map[string]any) map[string]any {
	vias := t.pathsTo(row, subject)
	left := map[string]any{}
	for name, value := range row {
		left[name] = value
	}
	isBlank, first := true, "" // of the columns that hold a surrogate after the erasure
	for _, c := range t.columns {
		switch {
		case !isTheirs(c, vias) || c.Personal.Strategy == domain.StrategyRetain:
		case c.Personal.Strategy == domain.StrategyNull:
			left[c.Name] = nil
		case left[c.Name] == nil: // NULL stays NULL
			first = cmp.Or(first, c.Name)
		default:
			left[c.Name], isBlank = "anon", false
		}
	}
	if isOwn := reflect.ValueOf(row).Pointer() == reflect.ValueOf(subject).Pointer(); isOwn && isBlank && first != "" {
		left[first] = "anon" // a blank row of the subject gets one surrogate, by which it is known
	}
	for _, via := range vias {
		r := t.relationOf(via)
		if !t.acts(via) {
			continue
		}
		switch r.erasure { //nolint:exhaustive // other strategies do not occur on relations
		case domain.StrategyDelete:
			return nil
		case domain.StrategyNull:
			for _, name := range r.clears {
				left[name] = nil
			}
		}
	}
	return left
}

// shown formats rows as sorted lines. It replaces random values of an erasure by "anon".
func (t *peopleTable) shown(rows []map[string]any) string {
	var lines []string
	for _, row := range rows {
		var cells []string
		for _, name := range t.all() {
			text := fmt.Sprint(row[name])
			if strings.HasPrefix(text, "anon-") {
				text = "anon"
			}
			cells = append(cells, fmt.Sprintf("%q", text))
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (p *people) insert(e engine, db *bun.DB) {
	must(p.T, e.run(p.Context(), db, p.script()))
	for _, t := range p.tables {
		for _, row := range t.rows {
			var places []string
			var args []any
			for _, name := range t.all() {
				args = append(args, row[name])
				places = append(places, fmt.Sprint("$", len(args)))
			}
			_, err := db.DB.ExecContext(p.Context(), "INSERT INTO "+quote(t.name)+" "+tuple(t.all())+" VALUES ("+
				strings.Join(places, ", ")+")", args...)
			must(p.T, err)
		}
	}
}

func (p *people) read(db *bun.DB, t *peopleTable) (rows []map[string]any) {
	columns := strings.Trim(tuple(t.all()), "()")
	found, err := db.DB.QueryContext(p.Context(), "SELECT "+columns+" FROM "+quote(t.name))
	must(p.T, err)
	defer func() { _ = found.Close() }()
	for found.Next() {
		values, targets := make([]any, len(t.all())), make([]any, len(t.all()))
		for i := range values {
			targets[i] = &values[i]
		}
		must(p.T, found.Scan(targets...))
		row := map[string]any{}
		for i, name := range t.all() {
			row[name] = values[i]
		}
		rows = append(rows, row)
	}
	must(p.T, found.Err())
	return rows
}

func (p *people) id(row map[string]any) domain.SubjectID {
	var elements []string
	for _, name := range p.tables[0].key {
		elements = append(elements, fmt.Sprint(row[name]))
	}
	id, err := domain.NewSubjectID(elements...)
	must(p.T, err)
	return id
}

// In a row of several people, some columns belong to one person and some to another. An export or an erasure of a
// person concerns only the columns of this person.
func TestEachPersonHasTheirPartOfSharedRows(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		rapid.Check(t, func(t *rapid.T) {
			p := drawPeople(t)
			dataMap, err := p.dataMap()
			must(t, err)
			planned, err := erasure.Planner{}.Plan(dataMap, nil)
			must(t, err)
			db, _ := e.open(t)
			t.Logf("%s", p.script())
			p.insert(e, db)
			must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
			store, err := bunstore.New(db, dataMap, bunstore.Options{})
			must(t, err)
			for _, subject := range p.tables[0].rows {
				p.checkExport(store, dataMap, subject)
				must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					return p.checkKeys(ctx, s, subject, time.Time{})
				}))
			}
			subject := pick(t, "erased", p.tables[0].rows...)
			for again := range 2 {
				must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					if _, err := s.Subjects().Lock(ctx, p.id(subject), judgedAt); err != nil {
						return err
					}
					if again == 0 {
						if err := p.checkKeys(ctx, s, subject, judgedAt); err != nil {
							return err
						}
					}
					_, err := s.Subjects().Apply(ctx, p.id(subject), planned.Local())
					return err
				}))
				p.checkErased(db, subject)
			}
		})
	})
}

func (p *people) checkExport(store *bunstore.Store, dataMap datamap.DataMap, subject map[string]any) {
	var got, want []string
	must(p.T, store.Do(p.Context(), func(ctx context.Context, s ports.Session) error {
		return s.Subjects().Export(ctx, p.id(subject), func(r domain.ExportRecord) error {
			got = append(got, fmt.Sprintf("%s %q %s %v", r.Source, r.Row, r.Field, r.Value))
			return nil
		})
	}))
	for _, t := range p.tables {
		table, _ := dataMap.Table(t.name)
		for _, row := range t.rows {
			vias := t.pathsTo(row, subject)
			var key []string
			for _, name := range t.key {
				key = append(key, fmt.Sprint(row[name]))
			}
			columns := t.columns
			if len(columns) == 0 { // an export has the keys of the rows if no column is annotated
				columns = dataMap.ExportedColumns(table)
			}
			for _, c := range columns {
				if isTheirs(c, vias) {
					want = append(want, fmt.Sprintf("%s %q %s %v", t.name, domain.CanonicalTuple(key), c.Name, row[c.Name]))
				}
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.Errorf("exported\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// checkKeys checks the keys of external systems that the store returns for the subject. If erasedAt is zero, the
// operation is an export, and the store must return the keys in the subject's cells. Otherwise, the operation is an
// erasure:
//
//   - If the erasure deletes a row, the store must return the keys in all cells of the row.
//   - The store must not return a key that a cell in the rows of the subject holds after the erasure.
func (p *people) checkKeys(ctx context.Context, s ports.Session, subject map[string]any, erasedAt time.Time) error {
	for _, system := range keySystems {
		query := plan.KeyQuery{Resolver: system, ErasedAt: erasedAt, Limit: 1000}
		got, err := s.Subjects().Keys(ctx, p.id(subject), query)
		if err != nil {
			return err
		}
		var want, kept []string
		for _, t := range p.tables {
			for _, row := range t.rows {
				vias := t.pathsTo(row, subject)
				goes := !erasedAt.IsZero() && t.erased(row, subject) == nil
				for _, c := range t.columns {
					text, _ := row[c.Name].(string)
					retained := !erasedAt.IsZero() && c.Personal.Strategy == domain.StrategyRetain
					switch {
					case c.Personal.Ref != system || text == "" || len(vias) == 0:
					case !retained && (goes || isTheirs(c, vias)):
						want = append(want, text)
					case !erasedAt.IsZero():
						kept = append(kept, text)
					}
				}
			}
		}
		want = slices.DeleteFunc(want, func(key string) bool { return slices.Contains(kept, key) })
		slices.Sort(want)
		if want = slices.Compact(want); !slices.Equal(got, want) {
			p.Errorf("the keys of %s are %q, not %q", system, got, want)
		}
	}
	return nil
}

func (p *people) checkErased(db *bun.DB, subject map[string]any) {
	for _, t := range p.tables {
		var want []map[string]any
		for _, row := range t.rows {
			if left := t.erased(row, subject); left != nil {
				want = append(want, left)
			}
		}
		if got, want := t.shown(p.read(db, t)), t.shown(want); got != want {
			p.Errorf("%s has\n%s\nnot\n%s", t.name, got, want)
		}
	}
}
