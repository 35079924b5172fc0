package subject

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/conn"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

const sampleRows = `SELECT {columns} FROM {table} AS t0 WHERE {rows}{concerned} ORDER BY {key}{limit}`

// sampleStatement returns the statement that reads some rows of a step of an erasure, see plan.SampleQuery. The
// columns of the result are the primary key and query.Columns, as texts. The parameter key is the subject's key.
func sampleStatement(w *rows.Writer, live rows.Live, query plan.SampleQuery, key []any) (text string, args []any) {
	table, _ := w.DataMap.Table(query.Step.Target)
	columns := slices.Concat(w.KeyNames("t0", table.PrimaryKey, nil), rows.Texts("t0", query.Columns))
	selected, concerned, limit := "", "", ""
	if query.Keys == nil {
		sw := w.StepWriter(table, live.Types(table.Name), len(key))
		selected, concerned = w.RowsOfStep("t0", table, query.Step, 0), sw.CoveredRows(query.Step)
		args = slices.Concat(key, rows.ResolveConstants(sw.Constants, query.Step.At))
		limit = " LIMIT " + strconv.Itoa(query.Limit)
	} else {
		var keys []string
		for _, key := range query.Keys {
			values := make([]string, len(key))
			for i := range key {
				values[i], _ = key[i].Reveal()
			}
			keys = append(keys, "("+w.HasPrimaryKey("t0", table, values, func(value any) string {
				args = append(args, value)
				return syntax.Placeholder(len(args))
			})+")")
		}
		selected = "(" + strings.Join(keys, " OR ") + ")"
	}
	return syntax.Fill(sampleRows, "columns", strings.Join(columns, ", "), "table", syntax.QuoteTable(table.Name),
		"rows", selected, "concerned", concerned, "key", rows.List("t0", table.PrimaryKey), "limit", limit), args
}

// Sample implements ports.SubjectStore.
func (s *Work) Sample(
	ctx context.Context, id domain.SubjectID, query plan.SampleQuery,
) (found []datamap.SampledRow, err error) {
	key, err := s.key(id)
	if err != nil {
		return nil, err
	}
	if err := s.db.Usable(); err != nil {
		return nil, err
	}
	if !ports.Rehearsing(ctx) {
		return nil, &domain.Error{Code: domain.ErrSession, Op: "sample", Message: "is only for a rehearsal"}
	}
	if _, err := plan.CheckSteps(s.store.writer.DataMap, []datamap.Step{query.Step}); err != nil {
		return nil, err
	}
	if query.Limit <= 0 && query.Keys == nil || query.Keys != nil && len(query.Keys) == 0 {
		return nil, nil
	}
	schema, err := s.readSchema(ctx, id, key)
	if err != nil {
		return nil, err
	}
	table, _ := s.store.writer.DataMap.Table(query.Step.Target)
	text, args := sampleStatement(s.store.writer, schema, query, key)
	err = s.db.Read(ctx, "sample", func(rows *sql.Rows) error {
		held := make([]sql.NullString, len(table.PrimaryKey)+len(query.Columns))
		values := make([]domain.PrivateValue, len(held))
		if err := rows.Scan(conn.AddTargets(nil, held)...); err != nil {
			return err
		}
		for i, value := range held {
			if values[i] = domain.NewPrivateValue(value.String); !value.Valid {
				values[i] = domain.NullValue()
			}
		}
		found = append(found, datamap.SampledRow{Key: values[:len(table.PrimaryKey)], Values: values[len(table.PrimaryKey):]})
		return nil
	}, text, args...)
	if err != nil {
		return nil, s.explain(ctx, "sample", err, live.ToRead(table.Name))
	}
	return found, nil
}
