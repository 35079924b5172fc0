package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isInstant reports whether a text column that looks personal seems to hold an instant or a date, such as a birthday.
func isInstant(c datamap.CatalogColumn, m names.Match) bool {
	return c.Type == datamap.TypeText && len(c.Values) == 0 && !m.Secret &&
		(names.MayBeInstant(c.Name, c.Type) || len(m.Behind) == 0 && slices.Contains(birthdays, m.Word))
}

var birthdays = []string{
	"birthday", "birthdate", "date of birth", "dob", "geburtsdatum", "geburtstag", "fecha nacimiento",
}

// instants are texts for the first instant of 1970, which stands in columns of instants, too. A program that parses a
// column may accept only some of them.
var instants = []string{"1970-01-01T00:00:00Z", "1970-01-01 00:00:00", "1970-01-01"}

// instantsFor returns the texts for an instant that suit a column, best first.
func instantsFor(c datamap.CatalogColumn, m names.Match) []string {
	list := slices.Clone(instants)
	if name := flat(c.Name); strings.HasSuffix(name, "date") || slices.Contains(birthdays, m.Word) {
		slices.Reverse(list)
	}
	return append(list, datamap.EmptySurrogate)
}

// askForInstants asks, once for each table, about the texts that an erasure overwrites with an instant, because
// programs may parse them in another form.
func (t *table) askForInstants() {
	var list []string
	for _, c := range t.columns {
		if c.Personal != nil && c.Personal.Strategy == domain.StrategyAnonymize && c.Type == datamap.TypeText &&
			slices.Contains(instants, c.Surrogate) {
			list = append(list, c.Name)
		}
	}
	if len(list) > 0 {
		t.ask("", "Programs may parse these texts as instants ("+strings.Join(list, ", ")+"). Do they accept the surrogates?",
			"yes", "no: give other surrogates")
	}
}
