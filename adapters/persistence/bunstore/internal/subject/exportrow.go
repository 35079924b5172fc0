package subject

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
)

// source is a table that an export statement reads, with the expressions of its values.
type source struct {
	table        datamap.Table
	namedByKey   bool // the name of a row in an export is its primary key
	exported     []datamap.Column
	records      []domain.ExportRecord // for each exported column: the fields that are the same in all rows
	sinceIndexes []int                 // for each exported column: the index of the value with its retention start, or -1

	duties []datamap.Duty // for each exported column

	isRegister bool // the value is register.StandingValue, and no record

	position      string                  // the expression for the position of a row
	selected      []string                // the expressions of the values
	fromClause    func(offset int) string // the clauses from FROM on; their placeholders start at $(offset+1)
	keyParameters int                     // the number of parameters for the subject's key; 0 for a ledger

	// If a table has several paths, the field paths lists them, and pathValues returns one expression for each path. Its
	// value is leadsToSubject or leadsToErased, or NULL.
	paths      []datamap.Path
	pathValues func(offset int) []string
	shares     bool // see plan.SharesColumns
}

// restrictByPath sets the fields paths and pathValues if the table has several paths. An export then contains only the
// cells of a row that belong to the subject.
func (s *source) restrictByPath(w *rows.Writer) {
	paths := w.DataMap.Paths(s.table.Name)
	if len(paths) == 1 || len(s.table.Personal()) == 0 { // without personal data, cells belong to every path
		return
	}
	s.paths, s.shares = paths, plan.SharesColumns(w.DataMap, s.table)
	s.pathValues = func(offset int) []string {
		values := make([]string, len(paths))
		for i, path := range paths {
			values[i] = "CASE WHEN " + w.RowsOf(s.table, path, offset) + " THEN " + syntax.Literal(leadsToSubject)
			if s.shares {
				values[i] += " WHEN " + w.RowsOfErased(s.table, path) + " THEN " + syntax.Literal(leadsToErased)
			}
			values[i] += " END"
		}
		return values
	}
}

// belongsToSubject reports whether the cell of a column belongs to the subject. The parameter values holds the values
// of the row.
func (s *source) belongsToSubject(column datamap.Column, values []any) bool {
	for i, path := range s.paths {
		if path.Has(column) && s.leadsTo(leadsToSubject, i, values) {
			return true
		}
	}
	return len(s.paths) == 0
}

// leadsTo reports whether the path with the given index leads from the row to the subject (leadsToSubject) or to
// another person who was erased (leadsToErased). The parameter values holds the values of the row.
func (s *source) leadsTo(target string, path int, values []any) bool {
	value := values[len(s.selected)+path]
	return value != nil && syntax.Text(value) == target
}

// pathsTo returns the paths for which leadsTo returns true.
func (s *source) pathsTo(target string, values []any) (leading []datamap.Path) {
	for i, path := range s.paths {
		if s.leadsTo(target, i, values) {
			leading = append(leading, path)
		}
	}
	return leading
}

// rowName returns the name of the row in the export: its primary key, or its number.
func (s *source) rowName(row *exportRow) string {
	if !s.namedByKey {
		return strconv.Itoa(row.rowNumber)
	}
	key := make([]string, len(s.table.PrimaryKey))
	for i := range key {
		key[i] = syntax.Text(row.values[i])
	}
	return domain.CanonicalTuple(key)
}

// record returns the record of the exported column with the given index.
func (s *source) record(d dialect, index int, name string, values []any) domain.ExportRecord {
	column, record := s.exported[index], s.records[index]
	record.Row, record.Value = name, exportValue(d, column.Type, values[len(s.table.PrimaryKey)+index])
	if s.sinceIndexes[index] >= 0 && values[s.sinceIndexes[index]] != nil {
		value := values[s.sinceIndexes[index]]
		if text, isBytes := value.([]byte); isBytes { // some drivers return the bytes of a text
			value = string(text)
		}
		start, ok := plan.ReadStart(value)
		if end, ends := s.duties[index].End(start); ok && ends {
			record.ExpiresAt = &end
		}
	}
	return record
}

// The values of source.pathValues.
const (
	leadsToSubject = "subject" // the path leads from the row to the subject
	leadsToErased  = "erased"  // the path leads from the row to another person, who was erased; only if columns are shared
)

// newSource returns the source of a table. Its values are the names of the primary key, the exported columns, and the
// columns with the start of a retention duty. The parameter types has the types of the columns in the database.
func newSource(w *rows.Writer, table datamap.Table, exported []datamap.Column, types map[string]string) source {
	d, s := dialectOf(w.Dialect), source{
		table: table, namedByKey: table.NamesRowsByKey(), exported: exported, pathValues: func(int) []string { return nil },
		position: w.Position(table, types),
	}
	s.selected = w.KeyNames("t0", table.PrimaryKey, types)
	for _, column := range s.exported {
		s.selected = append(s.selected, d.exportedValue(column))
		s.records = append(s.records, domain.ExportRecord{
			Source:          table.Name,
			Field:           column.Name,
			Category:        column.Personal.Category,
			LegalBasis:      syntax.Optional(column.Personal.Basis),
			Purpose:         syntax.Optional(column.Personal.Purpose),
			RetentionReason: syntax.Optional(column.Personal.Reason),
		})
	}
	starts := map[string]int{} // several columns may have the same start
	for _, column := range s.exported {
		s.duties = append(s.duties, w.DataMap.Duty(*column.Personal))
		since, ok := table.Column(column.Personal.Since)
		if !ok {
			s.sinceIndexes = append(s.sinceIndexes, -1)
			continue
		}
		if _, selected := starts[since.Name]; !selected {
			starts[since.Name] = len(s.selected)
			s.selected = append(s.selected, w.DutyStart("t0."+syntax.Quote(since.Name), types[since.Name]))
		}
		s.sinceIndexes = append(s.sinceIndexes, starts[since.Name])
	}
	return s
}

// exportRow holds a scanned result row of an export statement.
type exportRow struct {
	source  int
	values  []any
	targets []any // the scan targets: pointers to source, the position, and each of values

	countedSource int // the source of the last row that countRow has counted
	rowNumber     int // the number of the row within its source, from 1 on
}

// countRow sets rowNumber. It must be called once for each result row.
func (r *exportRow) countRow() {
	if r.countedSource != r.source {
		r.countedSource, r.rowNumber = r.source, 0
	}
	r.rowNumber++
}

// newRow returns an exportRow. Callers scan all rows of a result into the same exportRow.
func (e *exportStatement) newRow() *exportRow {
	row := &exportRow{values: make([]any, e.width)}
	var position any // only ORDER BY needs it
	row.targets = conn.AddTargets([]any{&row.source, &position}, row.values)
	return row
}

// yield calls yield with one record for each exported column of the row. The parameter holdsErased is that of
// domain.Life.
func (e *exportStatement) yield(row *exportRow, holdsErased bool, yield func(domain.ExportRecord) error) error {
	s := &e.sources[row.source]
	row.countRow()
	name := s.rowName(row)
	records := e.marked(s, row, name, holdsErased)
	for i, column := range s.exported {
		if !s.belongsToSubject(column, row.values) {
			continue
		}
		var record domain.ExportRecord
		if records != nil {
			record = records[i]
		} else {
			record = s.record(e.own, i, name, row.values)
		}
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// marked returns the records of the row, one for each exported column, after it has marked the values that an erasure
// has overwritten. It returns nil if there are no such values: the row belongs to a ledger, which no erasure changes,
// or the subject's cells hold none and the table shares no columns.
func (e *exportStatement) marked(s *source, row *exportRow, name string, holdsErased bool) []domain.ExportRecord {
	if s.keyParameters == 0 || !holdsErased && !s.shares {
		return nil
	}
	records := make([]domain.ExportRecord, len(s.exported))
	for i := range s.exported {
		records[i] = s.record(e.own, i, name, row.values)
	}
	own := s.pathsTo(leadsToSubject, row.values)
	if len(s.paths) == 0 {
		own = e.dataMap.Paths(s.table.Name)
	}
	if holdsErased {
		plan.MarkErased(e.dataMap, s.table, own, records)
	}
	if s.shares {
		plan.MarkSharedErased(e.dataMap, s.table, own, s.pathsTo(leadsToErased, row.values), records)
	}
	return records
}

// exportValue converts a value that a driver returns for a column to the value that an export shows. Drivers return
// different Go types for a column type, so exportValue accepts all of them. If a value does not fit the column type,
// exportValue returns the text of the value.
func exportValue(d dialect, t datamap.ColumnType, value any) any {
	if value == nil {
		return nil
	}
	value = d.fromExported(t, value)
	switch t { //nolint:exhaustive // the last return handles texts and UUIDs
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		if n, err := strconv.ParseInt(syntax.Text(value), 10, 64); err == nil {
			return n
		}
	case datamap.TypeNumber:
		return asNumber(value)
	case datamap.TypeBoolean:
		return asBoolean(value)
	case datamap.TypeTime:
		return asTime(value)
	case datamap.TypeJSON, datamap.TypeArray:
		if text := syntax.Text(value); json.Valid([]byte(text)) {
			return domain.JSON(text)
		}
	case datamap.TypeBytes:
		return []byte(syntax.Text(value))
	}
	return syntax.Text(value)
}

func asNumber(value any) any {
	switch value := value.(type) {
	case int64:
		return value
	case float64:
		switch { // JSON has no infinity and no NaN: the export shows the texts that PostgreSQL writes
		case math.IsInf(value, 1):
			return domain.Number("Infinity")
		case math.IsInf(value, -1):
			return domain.Number("-Infinity")
		case !math.IsNaN(value):
			return value
		}
	}
	return domain.Number(syntax.Text(value))
}

func asBoolean(value any) any {
	switch value := value.(type) {
	case bool:
		return value
	case int64:
		return value != 0
	}
	text := syntax.Text(value)
	if b, err := strconv.ParseBool(text); err == nil {
		return b
	}
	return text
}

// timeFormats are the formats in which bun and SQLite write instants as text, and the formats of PostgreSQL's JSON. For
// instants before the introduction of time zones, it writes offsets with seconds.
var timeFormats = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999-07:00", "2006-01-02T15:04:05-07:00:00",
}

// asTime returns an instant, or the text of a date, of a time without a zone, and of other values.
func asTime(value any) any {
	if t, ok := value.(time.Time); ok {
		if year := t.UTC().Year(); year < 0 || year > 9999 { // PostgreSQL has such years, but RFC 3339 does not
			return syntax.Text(value)
		}
		return domain.Instant(t)
	}
	text := syntax.Text(value)
	for _, format := range timeFormats {
		if t, err := time.Parse(format, text); err == nil {
			return domain.Instant(t)
		}
	}
	if start, ok := plan.ReadStart(text); ok && !start.Local && strings.Contains(text, ":") {
		return start.At
	}
	return text
}
