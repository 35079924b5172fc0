package isolation

import (
	"database/sql"
	"fmt"
	"regexp"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// checkRows compares every cell of the database before and after an erasure. It derives the expected value of a cell
// from the annotation of the column and from the owner of the row, which the generator has recorded.
func (w *world) checkRows(erased int, before, after dump) {
	for _, t := range w.tables {
		expected := 0
		fresh := map[string]bool{} // random values that were found, to detect equal ones
		for _, r := range t.rows {
			where := fmt.Sprintf("%s %s of subject %d", t.name, t.key(r), r.owner)
			old, wasThere := before[t][t.key(r)]
			now, isThere := after[t][t.key(r)]
			erase := r.owner == erased
			switch {
			case erase && t.effect() == deleted:
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
				if fault := w.fault(t, c, erase, w.retentionEnded(t, r, c), old[c.Name], now[c.Name], fresh); fault != "" {
					w.Errorf("%s: %s: was %s, is %s: %s", where, c.Name, shown(old[c.Name]), shown(now[c.Name]), fault)
				}
			}
		}
		if len(after[t]) != expected {
			w.Errorf("%s has %d rows, not %d", t.name, len(after[t]), expected)
		}
	}
}

// fault compares a cell before and after an erasure. It returns a text that describes the mistake, or "" if there is
// none.
func (w *world) fault(t *table, c *column, erase, ended bool, old, now sql.NullString, fresh map[string]bool) string {
	switch {
	case erase && t.setsNull(c.Name):
		if now.Valid {
			return "refers to a row that is gone"
		}
		return ""
	case !erase || t.effect() != survives || c.Personal == nil || c.Personal.Strategy == domain.StrategyRetain && !ended:
		if now != old {
			return "must not change"
		}
		return ""
	case c.Personal.Strategy == domain.StrategyNull:
		return unless(!now.Valid, "is not NULL")
	case !now.Valid:
		return unless(!old.Valid, "a surrogate is never NULL")
	case !old.Valid && w.qualifier+t.name != w.declared.SubjectTable().Name: // a blank row of the subject gets a surrogate
		return "NULL must stay NULL"
	case c.Surrogate == datamap.EmptySurrogate:
		return unless(now.String == w.textPrefix, "is not the empty text")
	case c.placeholder() != nil:
		return distinctFilling(c, strings.TrimPrefix(now.String, w.textPrefix), fresh)
	case c.Surrogate != "":
		return unless(now.String == w.textPrefix+c.Surrogate, "is not the surrogate of the column")
	case c.kind.constant != "":
		return unless(now.String == c.kind.constant, "is not the surrogate of the type")
	}
	cell := c.Name + "\x00" + now.String
	switch distinct := c.kind.length == 0 || c.kind.length >= 7; { // shorter values may be equal by chance
	case !isRandom(c.kind, strings.TrimPrefix(now.String, w.textPrefix)):
		return "is not a random surrogate that fits"
	case distinct && fresh[cell]:
		return "two cells have this surrogate"
	case distinct && now == old:
		return "did not change"
	}
	fresh[cell] = true
	return ""
}

// placeholder returns a pattern for the values that replace erased values of the column. It returns nil if the
// annotation of the column has no text with the placeholder {}.
func (c *column) placeholder() *regexp.Regexp {
	if !strings.Contains(c.Surrogate, "{}") || c.Surrogate == "{}" {
		return nil
	}
	digits := 32
	if room := c.kind.length - len(c.Surrogate) + len("{}"); c.kind.length > 0 && room < digits {
		digits = room
	}
	form := strings.ReplaceAll(regexp.QuoteMeta(c.Surrogate), `\{\}`, fmt.Sprintf("[0-9a-f]{%d}", digits))
	return regexp.MustCompile("^" + form + "$")
}

func distinctFilling(c *column, text string, fresh map[string]bool) string {
	cell := c.Name + "\x00" + text
	switch {
	case !c.placeholder().MatchString(text):
		return "is not the surrogate of the column with its digits"
	case fresh[cell]:
		return "two cells have these digits"
	}
	fresh[cell] = true
	return ""
}

var (
	randomUUID = regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
	randomText = regexp.MustCompile("^anon-[0-9a-f]{32}$")
	shortText  = regexp.MustCompile("^(anon-)?[0-9a-f]+$")
)

// isRandom reports whether the text has the form of the random values that replace erased values in a column of this
// kind.
func isRandom(k kind, text string) bool {
	switch {
	case k.Type == datamap.TypeUUID:
		return randomUUID.MatchString(text)
	case k.length == 0 || k.length >= len("anon-")+32:
		return randomText.MatchString(text)
	default:
		return shortText.MatchString(text) && len(text) <= k.length
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
