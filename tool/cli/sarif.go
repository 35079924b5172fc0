package cli

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jinzhu/inflection"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/check"
)

// object is an object of JSON.
type object = map[string]any

// sarifOf returns findings as a document of SARIF 2.1.0 (OASIS), with the parts that code hosts read. The position of a
// finding is a line of a source file.
func sarifOf(lines sources, found []linted) object {
	rules, results, index := []object{}, []object{}, map[string]int{}
	for i, rule := range check.Rules() {
		index[rule.Code] = i
		rules = append(rules, object{
			"id": rule.Code, "shortDescription": object{"text": rule.Title + "."},
			"defaultConfiguration": object{"level": sarifLevel(rule.Severity)},
		})
	}
	for _, finding := range found {
		uri, line := lines.locate(finding.Table, finding.Column)
		location := object{"physicalLocation": object{
			"artifactLocation": object{"uri": uri}, "region": object{"startLine": line},
		}}
		text := finding.Reason + " " + finding.Remedy
		if where := finding.Where(); where != "" {
			location["logicalLocations"] = []object{{"fullyQualifiedName": where}}
			text = where + ": " + text
		}
		result := object{
			"ruleId": finding.Code, "ruleIndex": index[finding.Code], "level": sarifLevel(finding.Severity),
			"message": object{"text": text}, "locations": []object{location},
			"partialFingerprints": object{"habeas/v1": finding.Code + " " + finding.Where() + " " + finding.Object},
		}
		if a := finding.Acceptance; a != nil {
			result["suppressions"] = []object{{
				"kind": "external", "status": "accepted", "justification": a.Reason + " (until " + a.Until + ")",
			}}
		}
		results = append(results, result)
	}
	driver := object{"name": "habeas", "informationUri": "https://" + module, "rules": rules}
	return object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{"tool": object{"driver": driver}, "results": results}},
	}
}

// sarifLevel returns the level of SARIF for a severity.
func sarifLevel(severity datamap.Severity) string {
	if severity == datamap.SeverityNotice {
		return "note"
	}
	return string(severity)
}

// sources are the files that define the data map: a manifest, or Go models.
type sources []source

type source struct {
	uri   string
	lines [][]byte
}

func readSources(names []string) (all sources, err error) {
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // the operator chooses the file
		if err != nil {
			return nil, failed("a file of --sarif cannot be read: check its path and permissions")
		}
		uri := url.URL{Path: filepath.ToSlash(filepath.Clean(name))}
		all = append(all, source{uri.String(), bytes.Split(text, []byte("\n"))})
	}
	return all, nil
}

// locate returns the file and the line number for a column. It returns the first of these lines that exists:
//
//   - the next line with the name of the column, at or after the first line with the name of the table in the same
//     file
//   - the first line with the name of the table
//   - line 1 of the first file
//
// A line of a Go model without a name of its own for the table or the column has the default name of bun.
func (s sources) locate(table, column string) (uri string, line int) {
	uri, line = s[0].uri, 1
	hasTable := false
	for _, file := range s {
		at, ok := file.findTable(table)
		if !ok {
			continue
		}
		if next, ok := file.find(column, at, fieldColumn); ok {
			return file.uri, next + 1
		}
		if !hasTable {
			uri, line, hasTable = file.uri, at+1, true
		}
	}
	return uri, line
}

// find returns the index of the first line that contains the name as a separate word, or for which the function
// byDefault returns the name. It ignores the lines with an index lower than the parameter from.
func (s source) find(name string, from int, byDefault func(line []byte) string) (line int, ok bool) {
	if name == "" {
		return 0, false
	}
	word := regexp.MustCompile(`(^|[^\pL\pN_])` + regexp.QuoteMeta(name) + `($|[^\pL\pN_])`)
	line = slices.IndexFunc(s.lines[from:], func(line []byte) bool { return word.Match(line) || byDefault(line) == name })
	return from + line, line >= 0
}

// findTable returns the index of the first line with the name of the table, or else of the line that begins its model.
func (s source) findTable(name string) (line int, ok bool) {
	if line, ok = s.find(name, 0, func([]byte) string { return "" }); ok {
		return line, true
	}
	return s.find(name, 0, modelTable)
}

var (
	structOf = regexp.MustCompile(`^\s*(?:type\s+)?([A-Z]\w*)\s+struct\b`)
	fieldOf  = regexp.MustCompile(`^\s+([A-Z]\w*)\s+\S`)
)

// modelTable returns the name that bun gives by default to the table of the model that the line begins, or "".
func modelTable(line []byte) string {
	if found := structOf.FindSubmatch(line); found != nil {
		return inflection.Plural(underscored(string(found[1])))
	}
	return ""
}

// fieldColumn returns the name that bun gives by default to the column of the field on the line, or "".
func fieldColumn(line []byte) string {
	if found := fieldOf.FindSubmatch(line); found != nil {
		return underscored(string(found[1]))
	}
	return ""
}

// underscored returns a Go name in the form of bun's default names: UserID becomes user_id.
func underscored(name string) string {
	isUpper := func(i int) bool { return i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	isLower := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	var b strings.Builder
	for i := range len(name) {
		if isUpper(i) && i > 0 && i+1 < len(name) && (isLower(i-1) || isLower(i+1)) {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(name[i : i+1]))
	}
	return b.String()
}
