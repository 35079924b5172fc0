package porttest

import (
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// overwritesWith returns a function that makes a store defective: its Apply writes the same value into a column of all
// rows of the subject.
func overwritesWith(table, column string, value any) func(*Store) {
	return brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
		rows, err := c.apply()
		if err != nil {
			return rows, err
		}
		for _, step := range c.steps {
			if step.Target == table && slices.Contains(step.Columns, column) {
				if _, err := c.Rectify(c.ctx, c.id, rectifies(table, column, value)); err != nil {
					return rows, err
				}
			}
		}
		return rows, nil
	}}.breaks
}

func surrogateDefects() defects {
	hex := strings.Repeat("0123456789abcdef", 2)
	all := defects{
		"one for all rows": {overwritesWith("orders", "note", "anon-"+hex), found{
			"a cell of orders.note has the same surrogate as a cell of orders.note": {subjectSurrogatesAreUnique},
		}},
		"one of 41 characters": {changesRows(func(_ string, row Row) { lengthen(row, "name") }), found{
			"the value of people.name is too long": {subjectSurrogatesFitTheirColumns},
		}},
		"one that is not cut": {changesRows(func(_ string, row Row) {
			if anonymous(row["engraving"]) {
				row["engraving"] = "anon-" + hex
			}
		}), found{"a cell of order_lines.engraving has the same surrogate as a cell of": {subjectSurrogatesAreUnique}}},
		"a boolean that is true": {overwritesWith("people", "active", true), found{
			"people.active was overwritten: false, want true": {subjectColumnsAreAnonymized},
		}},
		"bytes of the original": {overwritesWith("people", "photo", zoe.person()["photo"]), found{
			"people.photo was overwritten: false, want true": {subjectColumnsAreAnonymized},
		}},
		"a UUID in upper case": {changesRows(func(table string, row Row) {
			if token, ok := row["token"].(string); ok && anonymous(row["email"]) {
				row["token"] = "ABCDEF01" + token[8:]
			}
		}), found{"people.token was overwritten: true, want false": {subjectColumnsAreAnonymized}}},
		"one UUID for all": {changesRows(func(_ string, row Row) {
			if anonymous(row["name"]) {
				row["token"] = "00000000-0000-0000-0000-000000000000"
			}
		}), found{"a cell of people.token has the same surrogate as a cell of people.token": {subjectSurrogatesAreUnique}}},
		"NULL": {changesRows(func(table string, row Row) {
			if table == "people" && anonymous(row["email"]) {
				row["email"] = nil
			}
		}), found{"the value of people.email is not a surrogate for the type text": {subjectSurrogatesFitTheirColumns}}},
		"one where there was NULL": {changesRows(func(table string, row Row) {
			if table == "invoices" && row["address"] == nil && row["phone"] == nil {
				row["phone"] = "anon-" + hex
			}
		}), found{"invoices.phone was NULL, and was overwritten": {subjectErasuresKeepNULL}}},
		"one for all columns": {changesRows(func(table string, row Row) {
			if table == "people" && anonymous(row["email"]) {
				row["name"] = row["email"]
			}
		}), found{"people.name was overwritten: true, want false": {subjectColumnsAreAnonymized}}},
		"one for all tables": {changesRows(func(table string, row Row) {
			if table == "orders" && anonymous(row["note"]) {
				row["note"] = "anon-" + hex
			}
			if table == "people" && anonymous(row["email"]) {
				row["email"] = "anon-" + hex
			}
		}), found{"has the same surrogate as a cell of orders.note": {subjectSurrogatesAreUnique}}},
	}
	for name, surrogate := range map[string]struct {
		table, column string
		value         any
	}{
		"one without the prefix":        {"orders", "note", hex},
		"one that is too short":         {"people", "email", "anon-1234"},
		"one that is empty":             {"people", "email", ""},
		"one that is cut to its prefix": {"order_lines", "engraving", "anon-"},
		"no surrogate for the constant": {"people", "nickname", "anon-" + hex},
		"a smallint of its own":         {"people", "level", int64(1)},
		"an integer of its own":         {"people", "visits", int64(-1)},
		"a number of its own":           {"people", "score", 0.5},
		"the time of the erasure":       {"people", "born", noon},
		"the year 1":                    {"people", "born", time.Time{}.UTC()},
		"JSON null":                     {"people", "settings", domain.JSON("null")},
	} {
		reason := "the value of " + surrogate.table + "." + surrogate.column + " is not a surrogate"
		all[name] = storeDefect{
			overwritesWith(surrogate.table, surrogate.column, surrogate.value),
			found{reason: {subjectSurrogatesFitTheirColumns}},
		}
	}
	return all
}

func lengthen(row Row, column string) {
	if anonymous(row[column]) {
		row[column] = row[column].(string) + "0000"
	}
}
