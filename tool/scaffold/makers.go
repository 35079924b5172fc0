package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/tool/names"
)

// mostMakers is the number of tables up to which askForMakers leaves the question about each table.
const mostMakers = 3

// askForMakers asks one question instead of one for each table whose rows only say which person made or changed them.
func (d *draft) askForMakers() {
	made := slices.DeleteFunc(slices.Clone(d.tables), func(t *table) bool { return !t.isOnlyMade() })
	if len(made) <= mostMakers {
		return
	}
	var list []string
	for _, t := range made {
		t.asked, list = nil, append(list, t.Name)
	}
	d.subject.ask("", "The rows of these tables only say which person made or changed them: "+strings.Join(list, ", ")+
		". Are some of them the person's own rows?", "no: leave the tables out", "yes: take them in with --include")
}

// isOnlyMade reports whether a table is left out with a question, although its rows do not look personal, and refer to
// people only as those who made or changed a row.
func (t *table) isOnlyMade() bool {
	isOfPerson := slices.ContainsFunc([]names.Kind{
		names.Messages, names.Settings, names.Links, names.Profiles, names.Trails, names.Searches, names.Sessions,
	}, func(k names.Kind) bool { return names.Is(t.Name, k) })
	return t.fate == left && len(t.paths) > 0 && len(t.asked) == 1 && t.asked[0].Column == "" && !isOfPerson &&
		len(t.personal()) == 0 && !slices.ContainsFunc(t.out, func(r *reference) bool {
		return r.to.isSubject && (r.role != names.Maker || r.owns()) || !r.to.isSubject && r.isPath()
	})
}
