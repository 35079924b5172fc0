package bunstore

import (
	"context"
	"database/sql"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
)

func (s subjectStore) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	key, err := s.key(id)
	if err != nil {
		return 0, err
	}
	table, ok := s.store.dataMap.Table(step.Table)
	if !ok || len(step.Values) == 0 {
		return 0, notInDataMap()
	}
	assignments, args := make([]string, len(step.Values)), slices.Clone(key)
	for i, value := range step.Values {
		column, ok := table.Column(value.Column)
		if !ok || column.Personal == nil {
			return 0, notInDataMap()
		}
		if !s.store.readable(table, column, value.Value) {
			return 0, s.fail(ctx, "rectify", unreadable(column)) // so that half of a rectification cannot be committed
		}
		args = append(args, s.store.parameter(value.Value))
		assignments[i] = quote(column.Name) + " = $" + strconv.Itoa(len(args))
	}
	if err := s.forget(ctx); err != nil { // wrong values are personal data, too
		return 0, err
	}
	live, err := s.known(ctx, id, key)
	if err == nil {
		if _, err = s.store.refuseHidden(live, id, "rectify"); err != nil {
			err = s.fail(ctx, "rectify", err)
		}
	}
	if err != nil {
		return 0, err
	}
	text := "UPDATE " + quoteTable(table.Name) + " AS t0 SET " + strings.Join(assignments, ", ") + " WHERE " +
		s.store.rowsOf(table, 0)
	var rows int64
	if live.keepsAny() {
		rows, err = s.rectifyVerified(ctx, table, key, step.Values, text, args)
	} else {
		rows, err = s.write(ctx, "rectify: "+table.Name, text, args...)
	}
	return rows, s.explain(ctx, "rectify: "+table.Name, err, need{table.Name, []string{"SELECT", "UPDATE"}})
}

func notInDataMap() error {
	return &domain.Error{
		Code: domain.ErrManifest, Op: "rectify", Message: "a step is not about annotated columns of a table",
	}
}

func unreadable(column domain.Column) error {
	return domain.Invalid("rectify", []domain.FieldError{{
		Field: string(column.Personal.Category), Code: domain.FieldType,
		Message: "is nothing that the application could read",
	}})
}

// timeFormat is how bun writes instants, which the columns of either database take, whether they are times or texts.
const timeFormat = "2006-01-02 15:04:05.999999-07:00"

// parameter is a value of a domain.ColumnValue as a parameter of a statement. PostgreSQL gets the text form: a driver
// sends it as it is, and the server reads it by the type of the column, which may be another than the Go type's (an int
// kept in a varchar). SQLite would not read it, and converts Go's values by the affinity of the column.
func (s *Store) parameter(value any) any {
	switch value := value.(type) {
	case time.Time:
		return value.UTC().Format(timeFormat)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return string(value)
	}
	if s.dialect != (postgres{}) {
		return value
	}
	switch value := value.(type) {
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(value)
	default:
		return value
	}
}

// readable reports whether every model that bun knows of the table could read the value back. The types of columns do
// not tell all about their readers: the shape of JSON, whether an integer has a sign, what a type that decodes itself
// can decode. One value that cannot be read would fail every query of the application that meets the row. Models that
// bun has not met yet are not asked.
func (s *Store) readable(table domain.Table, column domain.Column, value any) bool {
	for _, model := range s.db.Dialect().Tables().All() {
		if model.Name != table.Name {
			continue
		}
		if field, ok := model.FieldMap[column.Name]; ok && !reads(field, s.readBack(column, value)) {
			return false
		}
	}
	return true
}

// reads reports whether the field can hold what a driver returns.
func reads(field *schema.Field, value any) bool {
	target := reflect.New(field.StructField.Type).Elem()
	if err := field.ScanWithCheck(target, value); err != nil {
		return false
	}
	if target.Kind() == reflect.Pointer {
		target = target.Elem()
	}
	_, own := target.Addr().Interface().(sql.Scanner)
	switch { // bun cuts a number to the size of the field
	case own:
		return true
	case target.CanInt():
		return textOf(value) == strconv.FormatInt(target.Int(), 10)
	case target.CanUint():
		return textOf(value) == strconv.FormatUint(target.Uint(), 10)
	case target.CanFloat():
		return !math.IsInf(target.Float(), 0)
	default:
		return true
	}
}

// readBack is a value as a driver returns it once it is stored: the text form where drivers differ.
func (s *Store) readBack(column domain.Column, value any) any {
	switch value := value.(type) {
	case int64:
		if column.Type == domain.TypeNumber {
			return textOf(value)
		}
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case domain.Number:
		return string(value)
	case domain.JSON:
		if n, err := strconv.ParseFloat(string(value), 64); err == nil && s.dialect == (sqlite{}) {
			return n // SQLite makes a number of it: the affinity of a JSON column is NUMERIC
		}
		return string(value)
	default:
		return value
	}
}
