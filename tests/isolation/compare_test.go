package isolation

import (
	"database/sql"
	"fmt"
	"regexp"

	"github.com/habeas-data/habeas/domain"
)

// checkRows compares every cell of the database before and after an erasure: whose it is and what had to become of it
// is known from the books alone.
func (w *world) checkRows(erased int, before, after dump) {
	for _, t := range w.tables {
		expected := 0
		fresh := map[string]bool{} // the random surrogates, each with its column
		for _, r := range t.rows {
			where := fmt.Sprintf("%s %s of subject %d", t.name, t.key(r), r.owner)
			old, wasThere := before[t][t.key(r)]
			now, isThere := after[t][t.key(r)]
			erase := r.owner == erased
			switch {
			case erase && t.fate() == deleted:
				if isThere {
					w.Errorf("%s: is still there", where)
				}
				continue
			case !wasThere || !isThere:
				w.Errorf("%s: was there: %t, is there: %t", where, wasThere, isThere)
				continue
			}
			expected++
			for _, c := range t.columns {
				if fault := w.fault(t, c, erase, old[c.Name], now[c.Name], fresh); fault != "" {
					w.Errorf("%s: %s: was %s, is %s: %s", where, c.Name, shown(old[c.Name]), shown(now[c.Name]), fault)
				}
			}
		}
		if len(after[t]) != expected {
			w.Errorf("%s has %d rows, not %d", t.name, len(after[t]), expected)
		}
	}
}

// fault says what is wrong with what became of a cell, or nothing.
func (w *world) fault(t *table, c *column, erase bool, old, now sql.NullString, fresh map[string]bool) string {
	switch {
	case erase && t.setsNull(c.Name):
		if now.Valid {
			return "refers to a row that is gone"
		}
		return ""
	case !erase || t.fate() != survives || c.Personal == nil || c.Personal.Strategy == domain.StrategyRetain:
		if now != old {
			return "must not change"
		}
		return ""
	case !now.Valid:
		return "a surrogate is never NULL"
	case c.Surrogate != "":
		return unless(now.String == w.textMark+c.Surrogate, "is not the surrogate of the column")
	case c.kind.constant != "":
		return unless(now.String == c.kind.constant, "is not the surrogate of the type")
	}
	form, distinct := randomForm(c.kind)
	cell := c.Name + "\x00" + now.String
	switch {
	case !regexp.MustCompile("^" + w.textMark + form + "$").MatchString(now.String):
		return "does not have the form of a surrogate"
	case distinct && fresh[cell]:
		return "two cells have this surrogate"
	case distinct && now == old:
		return "did not change"
	}
	fresh[cell] = true
	return ""
}

// randomForm is what random surrogates look like, and whether they have digits enough never to meet.
func randomForm(k kind) (form string, distinct bool) {
	switch {
	case k.Type == domain.TypeUUID:
		return "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", true
	case k.length == 0 || k.length >= 37:
		return "anon-[0-9a-f]{32}", true
	case k.length >= 13:
		return fmt.Sprintf("anon-[0-9a-f]{%d}", k.length-5), true
	default:
		return fmt.Sprintf("[0-9a-f]{%d}", k.length), k.length >= 7
	}
}

func unless(good bool, fault string) string {
	if good {
		return ""
	}
	return fault
}

func shown(cell sql.NullString) string {
	if !cell.Valid {
		return "NULL"
	}
	return fmt.Sprintf("%q", cell.String)
}
