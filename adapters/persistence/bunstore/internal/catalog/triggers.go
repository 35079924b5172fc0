package catalog

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// trigger holds a name, a language and a text of code, in this order. The code is that of a trigger or of a rule, or of
// a function that a trigger or a rule calls.
type trigger [3]string

// writeTargets holds the tables to which triggers write, and the names of triggers whose target tables cannot be
// determined.
type writeTargets struct{ tables, unreadable []string }

func writesOf(triggers []trigger, quotes map[byte]byte) (all writeTargets) {
	for _, t := range triggers {
		name, language, text := t[0], t[1], t[2]
		switch language {
		case "internal": // built-in functions, which write only to the table of the trigger
		case "sql", "plpgsql":
			tables, isDynamic := tokensOf(text, quotes).targetTables()
			all.tables = append(all.tables, tables...)
			if isDynamic {
				all.unreadable = append(all.unreadable, name)
			}
		default:
			all.unreadable = append(all.unreadable, name)
		}
	}
	slices.Sort(all.tables)
	all.tables = slices.Compact(all.tables)
	return all
}

// warnOfCopies logs a warning if a trigger of a table writes to another table that is not in the data map. The other
// table may hold copies of old values that no erasure reaches. warnOfCopies also logs a warning for each trigger whose
// target tables cannot be determined. Each warning is logged only once.
func (c *Cache) warnOfCopies(ctx context.Context, mapped datamap.Table, live table) {
	warn := func(message, key, name string) {
		if _, warned := c.warned.LoadOrStore(mapped.Name+"\x00"+key+"\x00"+name, true); !warned {
			c.logger.LogAttrs(context.WithoutCancel(ctx), slog.LevelWarn, "habeas: a trigger "+message,
				slog.String("table", mapped.Name), slog.String(key, name))
		}
	}
	for _, copied := range live.writes.tables {
		if !slices.ContainsFunc(c.text.DataMap.Tables(), func(t datamap.Table) bool { return sameTable(t.Name, copied) }) {
			warn("writes to a table that is not in the data map: old values there outlive an erasure", "writes_to", copied)
		}
	}
	for _, name := range live.writes.unreadable {
		warn("builds its statements at run time, or is not in SQL: the tables to which it writes could not be determined,"+
			" and old values there outlive an erasure", "trigger", name)
	}
}

// sameTable reports whether two names may denote the same table. It treats a name without a schema as a name in the
// schema public (PostgreSQL) or main (SQLite).
func sameTable(a, b string) bool {
	plain := func(name string) string {
		name = strings.ToLower(name)
		return strings.TrimPrefix(strings.TrimPrefix(name, "public."), "main.")
	}
	return plain(a) == plain(b)
}
