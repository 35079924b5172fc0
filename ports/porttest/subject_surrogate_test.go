package porttest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// overwritesWith is a defect of the surrogate for a column: the same value in all rows of the subject.
func overwritesWith(table, column string, value any) func(*Store) {
	return changesSubjects(func(s *brokenSubjects) {
		s.apply = func(ctx context.Context, id domain.SubjectID, steps []domain.Step) ([]int64, error) {
			rows, err := s.good.Apply(ctx, id, steps)
			if err != nil {
				return rows, err
			}
			for _, step := range steps {
				if step.Target == table && slices.Contains(step.Columns, column) {
					if _, err := s.good.Rectify(ctx, id, corrects(table, column, value)); err != nil {
						return rows, err
					}
				}
			}
			return rows, nil
		}
	})
}

func surrogateDefects() map[string]storeDefect {
	hex := strings.Repeat("0123456789abcdef", 2)
	return map[string]storeDefect{
		"one for all rows": {overwritesWith("orders", "note", "anon-"+hex), map[string]string{
			"subject surrogates are unique": "a cell of orders.note has the surrogate of one of orders.note",
		}},
		"one without the prefix": {overwritesWith("orders", "note", hex), map[string]string{
			"subject surrogates fit their columns": "what stands in orders.note is no surrogate for the type text",
			"subject surrogates replace NULL":      "what stands in orders.note, which was NULL, is no surrogate",
			"subject surrogates are unique":        "a cell of orders.note has the surrogate of one of orders.note",
		}},
		"one that is too short": {overwritesWith("people", "email", "anon-1234"), map[string]string{
			"subject surrogates are unique":        "a cell of people.email has the surrogate of one of people.email",
			"subject surrogates fit their columns": "what stands in people.email is no surrogate for the type text",
			"subject surrogates replace NULL":      "what stands in people.email, which was NULL, is no surrogate",
		}},
		"one that is empty": {overwritesWith("people", "email", ""), map[string]string{
			"subject surrogates are unique":        "a cell of people.email has the surrogate of one of people.email",
			"subject surrogates fit their columns": "what stands in people.email is no surrogate for the type text",
			"subject surrogates replace NULL":      "what stands in people.email, which was NULL, is no surrogate",
		}},
		"none for the constant": {overwritesWith("people", "nickname", "anon-"+hex), map[string]string{
			"subject surrogates fit their columns": "what stands in people.nickname is no surrogate for the type text",
			"subject surrogates replace NULL":      "what stands in people.nickname, which was NULL, is no surrogate",
		}},
		"one of 41 characters": {changesRows(func(_ string, row Row) { lengthen(row, "name") }), map[string]string{
			"subject surrogates fit their columns": "what stands in people.name is too long",
			"subject surrogates replace NULL":      "what stands in people.name, which was NULL, is too long",
		}},
		"one that is not cut": {
			changesRows(func(_ string, row Row) {
				if anonymous(row["engraving"]) {
					row["engraving"] = "anon-" + hex
				}
			}),
			map[string]string{
				"subject surrogates fit their columns": "what stands in order_lines.engraving is too long",
				"subject surrogates replace NULL":      "what stands in order_lines.engraving, which was NULL, is too long",
				"subject surrogates are unique":        "a cell of order_lines.engraving has the surrogate of one of order_lines",
			},
		},
		"one that is cut to its prefix": {overwritesWith("order_lines", "engraving", "anon-"), map[string]string{
			"subject surrogates fit their columns": "what stands in order_lines.engraving is no surrogate for the type text",
			"subject surrogates replace NULL":      "what stands in order_lines.engraving, which was NULL, is no surrogate",
			"subject surrogates are unique":        "a cell of order_lines.engraving has the surrogate of one of order_lines",
		}},
		"a smallint of its own": {overwritesWith("people", "level", int64(1)), map[string]string{
			"subject surrogates fit their columns": "what stands in people.level is no surrogate for the type smallint",
			"subject surrogates replace NULL":      "what stands in people.level, which was NULL, is no surrogate",
		}},
		"an integer of its own": {overwritesWith("people", "visits", int64(-1)), map[string]string{
			"subject surrogates fit their columns": "what stands in people.visits is no surrogate for the type integer",
			"subject surrogates replace NULL":      "what stands in people.visits, which was NULL, is no surrogate",
		}},
		"a number of its own": {overwritesWith("people", "score", 0.5), map[string]string{
			"subject surrogates fit their columns": "what stands in people.score is no surrogate for the type number",
			"subject surrogates replace NULL":      "what stands in people.score, which was NULL, is no surrogate",
		}},
		"a boolean that is true": {overwritesWith("people", "active", true), map[string]string{
			"subject columns are anonymized":       "people.active was overwritten: false, want true",
			"subject surrogates fit their columns": "what stands in people.active is no surrogate for the type boolean",
			"subject surrogates replace NULL":      "what stands in people.active, which was NULL, is no surrogate",
			"subject plan erases all":              "people.active has stayed: true, want false",
			"subject plan can be applied again":    "people.active has stayed: true, want false",
		}},
		"the time of the erasure": {overwritesWith("people", "born", noon), map[string]string{
			"subject surrogates fit their columns": "what stands in people.born is no surrogate for the type time",
			"subject surrogates replace NULL":      "what stands in people.born, which was NULL, is no surrogate",
		}},
		"the year 1": {overwritesWith("people", "born", time.Time{}.UTC()), map[string]string{
			"subject surrogates fit their columns": "what stands in people.born is no surrogate for the type time",
			"subject surrogates replace NULL":      "what stands in people.born, which was NULL, is no surrogate",
		}},
		"JSON null": {overwritesWith("people", "settings", domain.JSON("null")), map[string]string{
			"subject surrogates fit their columns": "what stands in people.settings is no surrogate for the type json",
			"subject surrogates replace NULL":      "what stands in people.settings, which was NULL, is no surrogate",
		}},
		"bytes of the original": {overwritesWith("people", "photo", zoe.person()["photo"]), map[string]string{
			"subject columns are anonymized":    "people.photo was overwritten: false, want true",
			"subject plan erases all":           "people.photo has stayed: true, want false",
			"subject plan can be applied again": "people.photo has stayed: true, want false",
		}},
		"a UUID in upper case": {
			changesRows(func(table string, row Row) {
				if token, ok := row["token"].(string); ok && anonymous(row["email"]) {
					row["token"] = "ABCDEF01" + token[8:]
				}
			}),
			map[string]string{
				"subject columns are anonymized":       "people.token was overwritten: true, want false",
				"subject surrogates fit their columns": "what stands in people.token is no surrogate for the type uuid",
				"subject surrogates replace NULL":      "what stands in people.token, which was NULL, is no surrogate",
			},
		},
		"one UUID for all": {
			changesRows(func(_ string, row Row) {
				if anonymous(row["name"]) {
					row["token"] = "00000000-0000-0000-0000-000000000000"
				}
			}),
			map[string]string{"subject surrogates are unique": "a cell of people.token has the surrogate of one of people.token"},
		},
		"NULL": {
			changesRows(func(table string, row Row) {
				if table == "people" && anonymous(row["email"]) {
					row["email"] = nil
				}
			}),
			map[string]string{
				"subject surrogates fit their columns": "what stands in people.email is no surrogate for the type text",
				"subject surrogates replace NULL":      "people.email is NULL",
			},
		},
		"NULL where there was NULL": {
			changesRows(func(table string, row Row) {
				if table == "invoices" && row["address"] == nil && anonymous(row["phone"]) {
					row["phone"] = nil
				}
			}),
			map[string]string{
				"subject surrogates replace NULL": "invoices.phone is NULL",
			},
		},
		"one for all columns": {
			changesRows(func(table string, row Row) {
				if table == "people" && anonymous(row["email"]) {
					row["name"] = row["email"]
				}
			}),
			map[string]string{
				"subject columns are anonymized": "people.name was overwritten: true, want false",
				"subject surrogates are unique":  "a cell of people.email has the surrogate of one of people.name",
			},
		},
		"one for all tables": {
			changesRows(func(table string, row Row) {
				if table == "orders" && anonymous(row["note"]) {
					row["note"] = "anon-" + hex
				}
				if table == "people" && anonymous(row["email"]) {
					row["email"] = "anon-" + hex
				}
			}),
			map[string]string{
				"subject surrogates are unique": "has the surrogate of one of orders.note",
			},
		},
	}
}

func lengthen(row Row, column string) {
	if anonymous(row[column]) {
		row[column] = row[column].(string) + "0000"
	}
}
