package porttest

import (
	"slices"
	"strings"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// overwritesWith is a defect of the surrogate for a column: the same value in all rows of the subject.
func overwritesWith(table, column string, value any) func(*Store) {
	return brokenSubjects{apply: func(c subjectCall) ([]int64, error) {
		rows, err := c.apply()
		if err != nil {
			return rows, err
		}
		for _, step := range c.steps {
			if step.Target == table && slices.Contains(step.Columns, column) {
				if _, err := c.Rectify(c.ctx, c.id, corrects(table, column, value)); err != nil {
					return rows, err
				}
			}
		}
		return rows, nil
	}}.breaks
}

func surrogateDefects() defects {
	hex := strings.Repeat("0123456789abcdef", 2)
	return defects{
		"one for all rows": {overwritesWith("orders", "note", "anon-"+hex), found{
			"a cell of orders.note has the surrogate of one of orders.note": {subjectSurrogatesAreUnique},
		}},
		"one without the prefix": {overwritesWith("orders", "note", hex), found{
			"what stands in orders.note is no surrogate for the type text":  {subjectSurrogatesFitTheirColumns},
			"what stands in orders.note, which was NULL, is no surrogate":   {subjectSurrogatesReplaceNULL},
			"a cell of orders.note has the surrogate of one of orders.note": {subjectSurrogatesAreUnique},
		}},
		"one that is too short": {overwritesWith("people", "email", "anon-1234"), found{
			"a cell of people.email has the surrogate of one of people.email": {subjectSurrogatesAreUnique},
			"what stands in people.email is no surrogate for the type text":   {subjectSurrogatesFitTheirColumns},
			"what stands in people.email, which was NULL, is no surrogate":    {subjectSurrogatesReplaceNULL},
		}},
		"one that is empty": {overwritesWith("people", "email", ""), found{
			"a cell of people.email has the surrogate of one of people.email": {subjectSurrogatesAreUnique},
			"what stands in people.email is no surrogate for the type text":   {subjectSurrogatesFitTheirColumns},
			"what stands in people.email, which was NULL, is no surrogate":    {subjectSurrogatesReplaceNULL},
		}},
		"none for the constant": {overwritesWith("people", "nickname", "anon-"+hex), found{
			"what stands in people.nickname is no surrogate for the type text": {subjectSurrogatesFitTheirColumns},
			"what stands in people.nickname, which was NULL, is no surrogate":  {subjectSurrogatesReplaceNULL},
		}},
		"one of 41 characters": {changesRows(func(_ string, row Row) { lengthen(row, "name") }), found{
			"what stands in people.name is too long":                  {subjectSurrogatesFitTheirColumns},
			"what stands in people.name, which was NULL, is too long": {subjectSurrogatesReplaceNULL},
		}},
		"one that is not cut": {changesRows(func(_ string, row Row) {
			if anonymous(row["engraving"]) {
				row["engraving"] = "anon-" + hex
			}
		}), found{
			"what stands in order_lines.engraving is too long":                        {subjectSurrogatesFitTheirColumns},
			"what stands in order_lines.engraving, which was NULL, is too long":       {subjectSurrogatesReplaceNULL},
			"a cell of order_lines.engraving has the surrogate of one of order_lines": {subjectSurrogatesAreUnique},
		}},
		"one that is cut to its prefix": {overwritesWith("order_lines", "engraving", "anon-"), found{
			"what stands in order_lines.engraving is no surrogate for the type text":  {subjectSurrogatesFitTheirColumns},
			"what stands in order_lines.engraving, which was NULL, is no surrogate":   {subjectSurrogatesReplaceNULL},
			"a cell of order_lines.engraving has the surrogate of one of order_lines": {subjectSurrogatesAreUnique},
		}},
		"a smallint of its own": {overwritesWith("people", "level", int64(1)), found{
			"what stands in people.level is no surrogate for the type smallint": {subjectSurrogatesFitTheirColumns},
			"what stands in people.level, which was NULL, is no surrogate":      {subjectSurrogatesReplaceNULL},
		}},
		"an integer of its own": {overwritesWith("people", "visits", int64(-1)), found{
			"what stands in people.visits is no surrogate for the type integer": {subjectSurrogatesFitTheirColumns},
			"what stands in people.visits, which was NULL, is no surrogate":     {subjectSurrogatesReplaceNULL},
		}},
		"a number of its own": {overwritesWith("people", "score", 0.5), found{
			"what stands in people.score is no surrogate for the type number": {subjectSurrogatesFitTheirColumns},
			"what stands in people.score, which was NULL, is no surrogate":    {subjectSurrogatesReplaceNULL},
		}},
		"a boolean that is true": {overwritesWith("people", "active", true), found{
			"people.active was overwritten: false, want true":                   {subjectColumnsAreAnonymized},
			"what stands in people.active is no surrogate for the type boolean": {subjectSurrogatesFitTheirColumns},
			"what stands in people.active, which was NULL, is no surrogate":     {subjectSurrogatesReplaceNULL},
			"people.active has stayed: true, want false": {
				subjectPlanErasesAll, subjectPlanCanBeAppliedAgain,
			},
		}},
		"the time of the erasure": {overwritesWith("people", "born", noon), found{
			"what stands in people.born is no surrogate for the type time": {subjectSurrogatesFitTheirColumns},
			"what stands in people.born, which was NULL, is no surrogate":  {subjectSurrogatesReplaceNULL},
		}},
		"the year 1": {overwritesWith("people", "born", time.Time{}.UTC()), found{
			"what stands in people.born is no surrogate for the type time": {subjectSurrogatesFitTheirColumns},
			"what stands in people.born, which was NULL, is no surrogate":  {subjectSurrogatesReplaceNULL},
		}},
		"JSON null": {overwritesWith("people", "settings", domain.JSON("null")), found{
			"what stands in people.settings is no surrogate for the type json": {subjectSurrogatesFitTheirColumns},
			"what stands in people.settings, which was NULL, is no surrogate":  {subjectSurrogatesReplaceNULL},
		}},
		"bytes of the original": {overwritesWith("people", "photo", zoe.person()["photo"]), found{
			"people.photo was overwritten: false, want true": {subjectColumnsAreAnonymized},
			"people.photo has stayed: true, want false":      {subjectPlanErasesAll, subjectPlanCanBeAppliedAgain},
		}},
		"a UUID in upper case": {changesRows(func(table string, row Row) {
			if token, ok := row["token"].(string); ok && anonymous(row["email"]) {
				row["token"] = "ABCDEF01" + token[8:]
			}
		}), found{
			"people.token was overwritten: true, want false":                {subjectColumnsAreAnonymized},
			"what stands in people.token is no surrogate for the type uuid": {subjectSurrogatesFitTheirColumns},
			"what stands in people.token, which was NULL, is no surrogate":  {subjectSurrogatesReplaceNULL},
		}},
		"one UUID for all": {changesRows(func(_ string, row Row) {
			if anonymous(row["name"]) {
				row["token"] = "00000000-0000-0000-0000-000000000000"
			}
		}), found{"a cell of people.token has the surrogate of one of people.token": {subjectSurrogatesAreUnique}}},
		"NULL": {changesRows(func(table string, row Row) {
			if table == "people" && anonymous(row["email"]) {
				row["email"] = nil
			}
		}), found{
			"what stands in people.email is no surrogate for the type text": {subjectSurrogatesFitTheirColumns},
			"people.email is NULL": {subjectSurrogatesReplaceNULL},
		}},
		"NULL where there was NULL": {changesRows(func(table string, row Row) {
			if table == "invoices" && row["address"] == nil && anonymous(row["phone"]) {
				row["phone"] = nil
			}
		}), found{"invoices.phone is NULL": {subjectSurrogatesReplaceNULL}}},
		"one for all columns": {changesRows(func(table string, row Row) {
			if table == "people" && anonymous(row["email"]) {
				row["name"] = row["email"]
			}
		}), found{
			"people.name was overwritten: true, want false":                  {subjectColumnsAreAnonymized},
			"a cell of people.email has the surrogate of one of people.name": {subjectSurrogatesAreUnique},
		}},
		"one for all tables": {changesRows(func(table string, row Row) {
			if table == "orders" && anonymous(row["note"]) {
				row["note"] = "anon-" + hex
			}
			if table == "people" && anonymous(row["email"]) {
				row["email"] = "anon-" + hex
			}
		}), found{"has the surrogate of one of orders.note": {subjectSurrogatesAreUnique}}},
	}
}

func lengthen(row Row, column string) {
	if anonymous(row[column]) {
		row[column] = row[column].(string) + "0000"
	}
}
