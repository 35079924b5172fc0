package porttest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// filledConstants has a pattern for each column whose constant contains a placeholder. The constant must match the
// pattern after digits have replaced the placeholder.
var filledConstants = map[string]*regexp.Regexp{
	"login": regexp.MustCompile(`^[0-9a-f]{32}@erased\.invalid$`),
	"badge": regexp.MustCompile(`^b-[0-9a-f]{10}$`),
}

// erasedPeople erases three customers and returns their rows of the table "people".
func erasedPeople(t testing.TB, h StoreHarness) []Row {
	t.Helper()
	s := h.shop(t)
	var rows []Row
	for _, who := range []customer{zoe, others[0], others[1]} {
		s.apply(t, who, erasurePlan(t)...)
		rows = append(rows, s.content(t).of(who)["people"]...)
	}
	return rows
}

func subjectCellsAreSetToNULL(t testing.TB, h StoreHarness) {
	for _, row := range erasedPeople(t, h) {
		assert(t, row["mobile"] == nil, "people.mobile is %T, want NULL", row["mobile"])
	}
}

func subjectSurrogatesCanBeEmpty(t testing.TB, h StoreHarness) {
	for _, row := range erasedPeople(t, h) {
		assert(t, row["motto"] == "", "people.motto is not the empty text but a %T", row["motto"])
	}
}

func subjectPlaceholdersAreFilled(t testing.TB, h StoreHarness) {
	seen := map[string]bool{}
	for _, row := range erasedPeople(t, h) {
		for column, form := range filledConstants {
			text, _ := row[column].(string)
			assert(t, form.MatchString(text), "people.%s is not its constant with digits in place of {}", column)
			digits := strings.TrimSuffix(strings.TrimPrefix(text, "b-"), "@erased.invalid")
			assert(t, !seen[digits], "people.%s has the digits of another cell", column)
			seen[digits] = true
		}
	}
}

func subjectExportOmitsSecrets(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	for _, record := range s.export(t, zoe) {
		table, _ := DataMap().Table(record.Source)
		column, _ := table.Column(record.Field)
		assert(t, column.Personal == nil || column.Personal.Export != datamap.ExportNo,
			"%s.%s is exported although the data map says export:no", record.Source, record.Field)
	}
	rows := s.rectify(t, zoe, rectifies("people", "password_hash", "right"))
	assert(t, rows == 1 && s.content(t).of(zoe)["people"][0]["password_hash"] == "right",
		"people.password_hash is not exported, and cannot be corrected either")
	s.apply(t, zoe, erasurePlan(t)...)
	assert(t, s.content(t).of(zoe)["people"][0]["password_hash"] != "right",
		"people.password_hash is not exported, and not erased either")
}
