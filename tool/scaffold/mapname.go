package scaffold

import (
	"cmp"
	"strings"

	"github.com/habeas-data/habeas/tool/internal/dictionary"
)

// MapName returns a name for the data map whose subject's table has the given name (app.Config.Name, --name). It is the
// name of the table without its schema, and without all characters that the name of a data map cannot have. For
// example, the name for hr.staff_members is staffmembers. datamap.CheckMapName accepts the result.
func MapName(table string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(dictionary.Base(table)))
	const most = 20 // see datamap.CheckMapName
	return cmp.Or(name[:min(most, len(name))], "other")
}
