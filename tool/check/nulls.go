package check

import (
	"context"
	"maps"
	"slices"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/sqltext"
	"github.com/habeas-data/habeas/ports"
)

// keepsNull reports whether the column can be NULL, and an erasure then leaves it so.
func (c written) keepsNull() bool { return !c.null && !c.Always && c.live.Nullable }

// maxNulls is the maximum number of columns of a constraint whose combinations of NULL and surrogate are evaluated.
const maxNulls = 4

// decide evaluates a constraint on the rows after an erasure: for every combination of NULL and surrogate in the
// columns that keep NULL. A combination that the constraint refuses counts only if a row with NULL in the same columns
// can satisfy it. decide returns datamap.VerdictUndecided if that is not known, if the constraint has a column that the
// erasure does not overwrite, or if there are more than maxNulls columns.
func (w write) decide(
	ctx context.Context, reader ports.CatalogReader, check datamap.CatalogCheck,
) (datamap.Verdict, error) {
	if w.onlyAsksForNull(check) {
		return datamap.VerdictHolds, nil
	}
	combinations := w.combinations(check)
	if combinations == nil {
		return datamap.VerdictUndecided, nil
	}
	worst := datamap.VerdictHolds
	for _, nulls := range combinations {
		if len(nulls) == len(check.Columns) { // the erasure changes none of them
			continue
		}
		verdict, err := w.verdict(ctx, reader, check, nulls)
		if err == nil && verdict != datamap.VerdictHolds && len(combinations) > 2 {
			verdict, err = w.unlessImpossible(ctx, reader, check, nulls, verdict)
		}
		switch {
		case err != nil:
			return datamap.VerdictUndecided, err
		case verdict == datamap.VerdictFails:
			return verdict, nil
		case verdict == datamap.VerdictUndecided:
			worst = verdict
		}
	}
	return worst, nil
}

// combinations returns each selection of the constraint's columns that keep NULL. It returns nil if there are more than
// maxNulls such columns.
func (w write) combinations(check datamap.CatalogCheck) [][]string {
	all := [][]string{nil}
	for _, column := range w.columns {
		if !column.keepsNull() || !hasName(w.live, check.Columns, column.Name) {
			continue
		}
		for _, selected := range all {
			all = append(all, append(slices.Clone(selected), column.Name))
		}
	}
	if len(all) > 1<<maxNulls {
		return nil
	}
	return all
}

// verdict evaluates a constraint on several examples of the surrogates, because their digits are random. The columns in
// nulls are NULL. It returns datamap.VerdictUndecided if the verdicts differ, or if the constraint has a column that
// the erasure does not overwrite.
func (w write) verdict(
	ctx context.Context, reader ports.CatalogReader, check datamap.CatalogCheck, nulls []string,
) (datamap.Verdict, error) {
	rows := make([]map[string]any, len(samples))
	for i := range rows {
		rows[i] = map[string]any{}
		for _, name := range check.Columns {
			at := slices.IndexFunc(w.columns, func(c written) bool { return sameName(w.live, c.Name, name) })
			switch {
			case at < 0:
				return datamap.VerdictUndecided, nil
			case slices.Contains(nulls, w.columns[at].Name):
				rows[i][name] = nil
			default:
				rows[i][name] = w.columns[at].example(i)
			}
		}
	}
	verdicts, err := reader.Satisfies(ctx, w.live.Name, check, rows)
	if err != nil || len(slices.Compact(verdicts)) != 1 {
		return datamap.VerdictUndecided, err
	}
	return verdicts[0], nil
}

// unlessImpossible returns the verdict about the rows after an erasure in which the columns in nulls are NULL, and no
// other column that keeps NULL. It returns datamap.VerdictHolds if no example of a row before the erasure satisfies the
// constraint with these NULLs, because such rows then hardly exist. Without any NULL, that is not certain enough.
func (w write) unlessImpossible(
	ctx context.Context, reader ports.CatalogReader, check datamap.CatalogCheck, nulls []string, verdict datamap.Verdict,
) (datamap.Verdict, error) {
	rows := []map[string]any{{}}
	for _, name := range check.Columns {
		at := slices.IndexFunc(w.columns, func(c written) bool { return sameName(w.live, c.Name, name) })
		if at < 0 {
			return datamap.VerdictUndecided, nil
		}
		rows = withEach(rows, name, w.columns[at].before(check, slices.Contains(nulls, w.columns[at].Name)))
	}
	const most = 256
	if len(rows) > most {
		return datamap.VerdictUndecided, nil
	}
	verdicts, err := reader.Satisfies(ctx, w.live.Name, check, rows)
	switch {
	case err != nil || slices.Contains(verdicts, datamap.VerdictUndecided):
		return datamap.VerdictUndecided, err
	case slices.Contains(verdicts, datamap.VerdictHolds):
		return verdict, nil
	case len(nulls) == 0:
		return datamap.VerdictUndecided, nil
	default:
		return datamap.VerdictHolds, nil
	}
}

// withEach returns each of the rows with each of the values in a column.
func withEach(rows []map[string]any, column string, values []any) (all []map[string]any) {
	for _, row := range rows {
		for _, value := range values {
			longer := maps.Clone(row)
			longer[column] = value
			all = append(all, longer)
		}
	}
	return all
}

// before returns examples of the values of the column before an erasure: NULL, or others, among them the constants of
// the constraint.
func (c written) before(check datamap.CatalogCheck, isNull bool) (values []any) {
	if isNull || c.live.Nullable && !c.keepsNull() {
		values = append(values, nil)
	}
	if isNull {
		return values
	}
	switch family(c.Type) { //nolint:exhaustive // other types have the value of the erasure as their only example
	case datamap.TypeNumber:
		return append(values, int64(1), int64(-1), int64(100))
	case datamap.TypeBoolean:
		return append(values, true, false)
	case datamap.TypeText:
		for _, token := range sqltext.TokensOf(check.Text, sqltext.QuotesOfPostgres) {
			if token.Kind == sqltext.TokenString && len(values) < 4 {
				values = append(values, token.Text)
			}
		}
		return append(values, "x@example.org", samples[0])
	default:
		return append(values, surrogateOf(c.Column).examples[0])
	}
}

// onlyAsksForNull reports whether a constraint reads the columns that the erasure overwrites only to ask whether they
// are NULL. The answer stays the same if they keep NULL.
func (w write) onlyAsksForNull(check datamap.CatalogCheck) bool {
	for _, column := range w.columns {
		if hasName(w.live, check.Columns, column.Name) &&
			(column.null || column.Always && column.live.Nullable || !w.onlyAsks(check.Text, column.Name)) {
			return false
		}
	}
	return true
}

// onlyAsks reports whether a condition asks, at each place where it has a column, whether the column is NULL.
func (w write) onlyAsks(condition, column string) (asks bool) {
	text := sqltext.TokensOf(condition, sqltext.QuotesOfPostgres)
	for i := range text {
		if text.IsName(i) && sameName(w.live, text[i].Text, column) {
			if asks = asksForNullAt(text, i); !asks {
				return false
			}
		}
	}
	return asks
}

// asksForNullAt reports whether the text asks at a column whether it is NULL: column IS NULL, or num_nulls(column,
// ...).
func asksForNullAt(text sqltext.Tokens, column int) bool {
	next := column + 1
	if text.Is(next, "is") {
		next++
	}
	if text.Is(next, "not") {
		next++
	}
	if next > column+1 && text.Is(next, "null") || text.Is(next, "isnull", "notnull") {
		return true
	}
	for column--; column >= 0 && (text.IsName(column) || text.IsSign(column, ",")); column-- {
	}
	return text.IsSign(column, "(") && text.Is(column-1, "num_nulls", "num_nonnulls")
}
