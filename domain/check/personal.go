package check

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/names"
)

// checkNames finds columns of the data map's tables that are named like personal data and are not annotated.
func (s *schema) checkNames() {
	s.present(func(table domain.Table, live domain.CatalogTable) {
		name := table.Name
		if table.Name == s.SubjectTable().Name {
			name = "users" // whatever the people are called
		}
		for _, found := range live.Columns {
			column, _ := columnOf(table, live, found.Name)
			if column.Personal != nil || column.NotPersonal || found.Generated || inForeignKey(live, found.Name) {
				continue
			}
			if match, ok := soundsPersonal(name, live, found); ok {
				s.reportName(table, found.Name, column, match)
			}
		}
	})
}

func (s *schema) reportName(table domain.Table, name string, column domain.Column, match guess) {
	at := place{table: table.Name, column: name}
	if column.Name != "" {
		at.column = column.Name
	}
	isKey := column.Name != "" && s.IsKey(table, column.Name)
	switch {
	case isKey && (!s.stays(table) || !isOwnKey(table, column.Name)):
	case isKey:
		s.report(personalKey, at,
			"The column identifies rows that stay, and "+match.reason+". An erasure cannot overwrite it.",
			`Give the table another key, or say that the column holds no personal data (pii:"none").`)
	case s.reported(table.Name, columnUnmapped) && column.Name == "" && !s.stays(table): // is reported as an error
	case s.stays(table):
		s.report(personalUnannotated, at,
			"The column is not annotated, and "+match.reason+". Exports pass it over, and erasures leave it.",
			`Annotate it (`+string(match.category)+`), or say that it holds no personal data (pii:"none").`)
	default:
		s.report(personalUnannotated, at,
			"The column is not annotated, and "+match.reason+". An erasure deletes it with its row; exports pass it over.",
			`Annotate it (`+string(match.category)+`), or say that it holds no personal data (pii:"none").`)
	}
}

func isOwnKey(table domain.Table, column string) bool {
	return slices.Contains(table.PrimaryKey, column) || slices.Contains(table.SubjectKey, column)
}

func inForeignKey(live domain.CatalogTable, column string) bool {
	return slices.ContainsFunc(live.ForeignKeys, func(f domain.CatalogForeignKey) bool {
		return hasName(live, f.Columns, column)
	})
}

// vague are words that say too little for a finding: they stand for data about things as often as for data about people.
var vague = words("title, titel, slug, header, image, images, url, uri, web, line, region, country, countries, state, " +
	"province, county, land, pays, pais, provincia, floor, door, district, suburb, timezone, time zone, tz, place, platform, " +
	"os, operating system, model, agent, app version, browser, device, endpoint, topic, subject, caption, summary, html, " +
	"markdown, raw, poll, excerpt, question, answer, review, reply, description, position, company, alias, acct, payer, " +
	"credit, credits, balance, age, race, medicine, prescription, customer token")

// alone are words that stand for a person only if they are the whole name: the name of a user, but not a file name.
var alone = words("name, nom, nombre, login, handle, mail, about, bio, text, message, content, body, data")

func words(list string) []string { return strings.Split(list, ", ") }

// guess is why a column seems to hold personal data.
type guess struct {
	category domain.Category
	reason   string // a clause
	means    string
	secret   bool
}

// soundsPersonal reports whether a column seems to hold personal data, surely enough for a finding: by its name in a
// table of that name, and by its type.
func soundsPersonal(table string, live domain.CatalogTable, column domain.CatalogColumn) (guess, bool) {
	match, ok := names.Find(table, column.Name, column.Type)
	found := guess{match.Category, match.Reason(), match.Means, match.Secret}
	switch {
	case inForeignKey(live, column.Name) || column.Type == domain.TypeBoolean:
		return guess{}, false
	case isAddress(column):
		return guess{
			category: domain.CategoryTechnical, reason: "its type is " + column.Declared + ", for the addresses of devices",
		}, true
	case !ok || match.Category == domain.CategoryBehavioral || slices.Contains(vague, match.Word):
		return guess{}, false
	case slices.Contains(alone, match.Word):
		return found, len(domain.NameWords(column.Name)) == 1
	case match.Secret:
		return found, names.IsPeople(table) || names.Is(table, names.Sessions) || soundsCredential(match.Word)
	default:
		return found, true
	}
}

// soundsCredential reports whether a secret is one that people have: not the hash or the key of a thing.
func soundsCredential(word string) bool {
	return slices.ContainsFunc(strings.Fields(word), func(part string) bool {
		return slices.Contains([]string{"pin", "pwd", "salt", "mfa", "cvv", "cvc"}, part) ||
			slices.ContainsFunc([]string{"pass", "token", "secret", "otp", "credential", "recovery"}, func(w string) bool {
				return strings.Contains(part, w)
			})
	})
}

// isAddress reports whether a column is of a type of PostgreSQL that holds the network addresses of devices.
func isAddress(column domain.CatalogColumn) bool {
	return strings.HasPrefix(column.Declared, "inet") || strings.HasPrefix(column.Declared, "macaddr")
}

// isIdentifying reports whether a column seems to say who a person is, whatever the table is about.
func isIdentifying(column domain.CatalogColumn) bool {
	found, ok := soundsPersonal("", domain.CatalogTable{}, column)
	return ok && (found.category == domain.CategoryIdentity ||
		found.means == "an email address" || found.means == "a telephone number")
}
