package check

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// checkCasts reports views, generated columns and indexes that convert an overwritten text to a type that does not
// accept the surrogate.
func (s *schema) checkCasts() {
	for _, w := range s.writes {
		for _, generated := range w.live.Columns {
			s.reportCasts(w, generated.Expression, generated.Name,
				"The generated column "+generated.Name+" converts", "The erasure fails.")
		}
		for _, index := range w.live.Expressions {
			s.reportCasts(w, index.Text, index.Index, "The index "+index.Index+" converts", "The erasure fails.")
		}
		for _, view := range s.catalog.Tables {
			if slices.Contains(view.Reads, w.live.Name) {
				fails := "Each read of the view that reaches the person's row fails, for everybody."
				if view.Kind == datamap.KindMatView {
					fails = "Each refresh of the view fails, for everybody."
				}
				s.reportCasts(w, view.Definition, view.Name, "The view "+view.Name+" converts", fails)
			}
		}
	}
}

func (s *schema) reportCasts(w write, text, object, converts, fails string) {
	for _, column := range w.columns {
		if text == "" || column.null || column.live.Type != datamap.TypeText || column.live.Values != nil {
			continue
		}
		for _, kind := range castsOf(text, column.Name) {
			written := surrogateOf(column.Column)
			if s.accepts(kind, written.text) || onlyAsNull(text, column.Name, written.text) {
				continue
			}
			severity, refuses := severityOf(surrogateCast), "may refuse"
			isRefused := !slices.ContainsFunc(written.examples, func(e any) bool {
				text, isText := e.(string)
				return !isText || !refusesText(kind, text)
			})
			follows := "If it does: " + fails
			if !column.expired && isRefused && surelyCasts(text, column.Name, kind) {
				severity, refuses, follows = failure, "refuses", fails
			}
			s.reportAs(severity, surrogateCast, place{table: w.table.Name, column: column.Name, object: object},
				converts+" the column to "+kind+", but an erasure writes "+written.called()+", which that type "+refuses+". "+
					follows,
				"Use a surrogate that the type accepts, "+column.nullRemedy()+"or change the conversion.")
		}
	}
}

// refusesText reports whether a type of PostgreSQL surely refuses a text.
func refusesText(kind, text string) bool {
	text = strings.TrimSpace(text)
	switch kind {
	case "integer", "bigint", "smallint":
		_, err := strconv.ParseInt(text, 0, 64)
		return err != nil
	case "numeric", "double precision", "real":
		_, err := strconv.ParseFloat(text, 64)
		_, noWhole := strconv.ParseInt(text, 0, 64)
		return err != nil && noWhole != nil
	case "boolean", "date", "json", "jsonb", "uuid", "inet":
		return text == ""
	}
	return false
}

// accepts reports whether a type of PostgreSQL surely accepts a text.
func (s *schema) accepts(kind, text string) bool {
	switch kind {
	case "integer", "bigint", "smallint":
		_, err := strconv.ParseInt(text, 10, 16)
		return err == nil
	case "numeric", "double precision", "real":
		_, err := strconv.ParseFloat(text, 64)
		return err == nil
	case "boolean":
		return slices.Contains([]string{"t", "f", "true", "false", "0", "1"}, text)
	case "json", "jsonb":
		return json.Valid([]byte(text))
	}
	return slices.ContainsFunc(s.catalog.Tables, func(table datamap.CatalogTable) bool {
		return slices.ContainsFunc(table.Columns, func(c datamap.CatalogColumn) bool {
			return c.Declared == kind && slices.Contains(c.Values, text)
		})
	})
}

// mayExceed reports whether a generated column may be too short for what the database computes of a surrogate. Without
// its expression, it may depend on each column.
func (s *schema) mayExceed(column datamap.CatalogColumn, source string) bool {
	if column.Expression == "" {
		return true
	}
	if cut := cutTo.FindStringSubmatch(column.Expression); cut != nil {
		characters, err := strconv.Atoi(cut[1])
		return err != nil || characters > column.Length
	}
	if begin := beginOf.FindStringSubmatch(column.Expression); begin != nil {
		taken := begin[5] // substr(column, from, characters)
		if strings.Contains(begin[1], "left") {
			taken = begin[3]
		}
		characters, err := strconv.Atoi(taken)
		return err != nil || characters > column.Length
	}
	occurring := strings.FieldsFunc(column.Expression, func(r rune) bool {
		return r != '_' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r < 0x80
	})
	return slices.Contains(occurring, source) || strings.Contains(column.Expression, `"`+source+`"`)
}

// cutTo matches an expression that the schema converts to a text with at most a number of characters. Such a conversion
// cuts the text.
var cutTo = regexp.MustCompile(`::(?:character varying|varchar|character|bpchar)\((\d+)\)\)*$`)

// beginOf matches an expression that takes at most a number of characters of a column.
var beginOf = regexp.MustCompile(
	`^\(?("?left"?|substr|"?(?i:substring)"?)\(\(?"?\w+"?\)?(::[a-z ]+)?, (\d+)(, (\d+))?\)\)?(::[a-z ]+(\(\d+\))?)?$`)
