package subject

import (
	"context"
	"database/sql"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/cascade"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/verify"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Rectify implements ports.SubjectStore.
func (s *Work) Rectify(ctx context.Context, id domain.SubjectID, step domain.RectificationStep) (int64, error) {
	key, err := s.key(id)
	if err != nil {
		return 0, err
	}
	table, ok := s.store.writer.DataMap.Table(step.Table)
	if !ok || len(step.Values) == 0 {
		return 0, notInDataMap()
	}
	path, ok := s.store.writer.DataMap.PathVia(step.Table, step.Via)
	if !ok {
		return 0, notInDataMap()
	}
	var row []string
	if step.Row != "" {
		if row, ok = domain.SplitTuple(step.Row, len(table.PrimaryKey)); !ok {
			return 0, s.db.Usable() // no row can have this key
		}
	}
	for _, value := range step.Values {
		column, ok := table.Column(value.Column)
		if !ok || !path.Has(column) {
			return 0, notInDataMap()
		}
		if !s.store.isReadable(table, column, value.Value) {
			// The session fails, so that no partial rectification commits.
			return 0, s.db.Fail(ctx, "rectify", unreadable(column))
		}
	}
	if err := s.unsent.Lock(ctx, id); err != nil {
		return 0, err
	}
	if err := s.db.OverwriteDeleted(ctx); err != nil { // the old, wrong values are personal data, too
		return 0, err
	}
	known, err := s.readSchema(ctx, id, key)
	if err == nil {
		if _, err = known.RefuseSubject(id, "rectify"); err != nil {
			err = s.db.Fail(ctx, "rectify", err)
		}
	}
	if err != nil {
		return 0, err
	}
	text, args := s.store.writer.Correct(s.schema, table, path, row, step.Values, key)
	op, steps := "rectify: "+table.Name, []datamap.Step{stepOf(step)}
	var rows int64
	changes := cascade.Changes{Op: op, Key: key, Steps: steps, Corrects: true}
	_, err = s.watched(ctx, changes, func() ([]int64, error) {
		verified, err := s.mustVerify(ctx, op, steps)
		switch {
		case err != nil:
		case verified:
			rows, err = s.rectifyVerified(ctx, step, row, key, text, args)
		default:
			rows, err = s.db.Write(ctx, op, text, args...)
		}
		return []int64{rows}, err
	})
	return rows, s.explain(ctx, op, err, live.ToUpdate(table.Name))
}

// stepOf returns a step of an erasure that writes the columns of a rectification.
func stepOf(right domain.RectificationStep) datamap.Step {
	step := datamap.Step{Target: right.Table, Via: right.Via, Strategy: domain.StrategyAnonymize}
	for _, value := range right.Values {
		step.Columns = append(step.Columns, value.Column)
	}
	return step
}

// rectifyVerified runs a rectification in a database whose triggers, rules or views may undo it, and verifies that the
// database holds the new values. It also verifies the earlier rectifications of the session again, because a trigger of
// this table may undo them.
func (s *Work) rectifyVerified(
	ctx context.Context, right domain.RectificationStep, row []string, key []any, text string, args []any,
) (rows int64, err error) {
	step := datamap.Step{Target: right.Table, Via: right.Via, Strategy: domain.StrategyAnonymize}
	v := verify.NewStep(s.db, s.store.writer, s.schema, "rectify: "+right.Table, step, key)
	v.Rectify(right.Values, row, text, args)
	kept := verify.NewKept(s.db, s.store.writer, s.schema, v.Op, nil, v, key)
	if err := kept.Note(ctx); err != nil {
		return 0, err
	}
	s.rectified = slices.DeleteFunc(s.rectified, v.Overwrites)
	if rows, err = v.Begin(ctx); err != nil {
		return 0, err
	}
	if err := s.fireDeferred(ctx, v.Op); err != nil {
		return 0, err
	}
	s.rectified = append(s.rectified, v)
	if failing, err := verify.Repeat(ctx, s.rectified); err != nil {
		return 0, s.db.Fail(ctx, s.rectified[failing].Op, err)
	}
	if _, _, err := kept.Check(ctx); err != nil {
		return 0, err
	}
	return rows, s.deferAgain(ctx, v.Op)
}

func notInDataMap() error {
	return &domain.Error{
		Code: domain.ErrManifest, Op: "rectify",
		Message: "a step must name a table, one of its paths, and annotated columns of this path: compare the step with the" +
			" data map",
	}
}

func unreadable(column datamap.Column) error {
	return domain.Invalid("rectify", []domain.FieldError{{
		Field: string(column.Personal.Category), Code: domain.FieldType,
		Message: "has a form that the application's model cannot read: send a value that fits the model",
	}})
}

// isReadable reports whether every bun model of the table can scan the value. A model may not be able to scan every
// value of a column's type. For example, it may expect a certain shape of JSON, an unsigned integer, or the format of a
// custom sql.Scanner. If a model cannot scan the value, every query of the application that returns the row would fail.
// isReadable checks only the models that bun has registered already.
func (s *Store) isReadable(table datamap.Table, column datamap.Column, value any) bool {
	for _, model := range s.models.All() {
		if model.Name != table.Name {
			continue
		}
		if field, ok := model.FieldMap[column.Name]; ok && !canScan(field, readBack(s.dialect, column, value)) {
			return false
		}
	}
	return true
}

// canScan reports whether the field of a model can scan a value from a driver without loss.
func canScan(field *schema.Field, value any) bool {
	target := reflect.New(field.StructField.Type).Elem()
	if err := field.ScanWithCheck(target, value); err != nil {
		return false
	}
	if target.Kind() == reflect.Pointer {
		if target.IsNil() {
			return true
		}
		target = target.Elem()
	}
	_, own := target.Addr().Interface().(sql.Scanner)
	switch { // bun truncates a number to the size of the field without an error
	case own:
		return true
	case target.CanInt():
		return syntax.Text(value) == strconv.FormatInt(target.Int(), 10)
	case target.CanUint():
		return syntax.Text(value) == strconv.FormatUint(target.Uint(), 10)
	case target.CanFloat():
		return !math.IsInf(target.Float(), 0)
	default:
		return true
	}
}

// readBack returns the value of a domain.ColumnValue in the form in which a driver returns the stored value. If drivers
// return different forms, readBack returns the text of the value.
func readBack(d syntax.Dialect, column datamap.Column, value any) any {
	switch value := value.(type) {
	case int64:
		if column.Type == datamap.TypeNumber {
			return syntax.Text(value)
		}
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case domain.Number:
		return string(value)
	case domain.JSON:
		return dialectOf(d).storedJSON(string(value))
	default:
		return value
	}
}
