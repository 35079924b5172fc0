package subject

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/rows"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

const (
	selectMarks = `
		SELECT subject_id, ` + markColumns + `, CAST(NULL AS bigint)
		FROM {erasures} WHERE erasures > 0 AND `

	listMarks = selectMarks + `intake > $1 AND intake <= $2`

	// The subquery reads all marks after $1, because a mark that the bounds exclude is the predecessor of the next one.
	listBoundedMarks = `
		SELECT * FROM (
			SELECT subject_id, ` + markColumns + `, lag(intake) OVER (ORDER BY intake)
			FROM {erasures} WHERE erasures > 0 AND intake > $1 AND intake <= $2
		) AS marks
		WHERE TRUE`
)

// pageStatement returns the statement that reads a page of marks, and its parameters. The last column is the intake
// number of the mark before, or NULL if that is the mark before in the page. Intake numbers count the marks in order of
// arrival. The page contains only marks whose intake number is at most maxIntake.
func pageStatement(w *rows.Writer, query domain.MarkQuery, maxIntake int64) (text string, args []any) {
	text, args = listMarks, []any{query.After, maxIntake}
	if !query.Since.IsZero() || !query.Until.IsZero() {
		text = listBoundedMarks
	}
	text = w.Tables.Fill(text)
	if !query.Since.IsZero() {
		args = append(args, w.Dialect.Instant(query.Since))
		text += " AND erased_at >= " + syntax.Placeholder(len(args))
	}
	if !query.Until.IsZero() {
		args = append(args, w.Dialect.Instant(query.Until))
		text += " AND erased_at < " + syntax.Placeholder(len(args))
	}
	args = append(args, query.Limit)
	return text + " ORDER BY intake LIMIT " + syntax.Placeholder(len(args)), args
}

// Marks implements ports.ErasedStore. It first reads the settled intake number: no open session can commit a mark with
// this number or a lower one. It then reads the marks up to this number. In the reverse order, it could miss a mark
// that a session commits between the two statements.
func (s *Work) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	if query.Limit <= 0 {
		return nil, s.db.Usable()
	}
	if err := s.requireReadCommitted(ctx, "marks", "a list of marks"); err != nil {
		return nil, err
	}
	settled := int64(math.MaxInt64)
	if !query.Unsettled {
		var err error
		if settled, err = s.settled(ctx); err != nil || settled <= query.After {
			return nil, err
		}
	}
	text, args := pageStatement(s.store.writer, query, settled)
	marks, err := s.readMarks(ctx, text, args...)
	after := query.After
	for i := range marks {
		if bounded := !query.Since.IsZero() || !query.Until.IsZero(); !bounded || marks[i].After == 0 {
			marks[i].After = after
		}
		after = marks[i].Intake
	}
	return marks, err
}

// settled returns the intake number up to which all marks are committed. No open session can commit a mark with this
// number or a lower one.
func (s *Work) settled(ctx context.Context) (int64, error) {
	text := dialectOf(s.store.dialect).settledIntake(s.store.writer.Tables)
	if text == "" {
		return math.MaxInt64, nil
	}
	var settled sql.NullInt64
	err := s.db.Read(ctx, "marks", func(rows *sql.Rows) error { return rows.Scan(&settled) }, text)
	return settled.Int64, err
}

const findMarks = selectMarks + `{found}`

// Find implements ports.ErasedStore.
func (s *Work) Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error) {
	if len(ids) == 0 {
		return nil, s.db.Usable()
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	d := s.store.dialect
	text := s.store.writer.Tables.Fill(findMarks, "found", d.IsInQuery("subject_id", d.ArrayElements("$1")))
	return s.readMarks(ctx, text, syntax.TextList(texts))
}

// Lives implements ports.ErasedStore.
func (s *Work) Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error) {
	if len(marks) == 0 {
		return nil, s.db.Usable()
	}
	if err := s.loadSchemaAlone(ctx); err != nil {
		return nil, err
	}
	lives := make([]domain.Life, 0, len(marks))
	for chunk := range slices.Chunk(marks, maxSubjects) {
		evidence, err := s.evidence(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for i, mark := range chunk {
			lives = append(lives, mark.Life(evidence[i]))
		}
	}
	return lives, nil
}

const evidenceOfRow = `SELECT {number}, {evidence} FROM {table} AS t0 WHERE {rows}`

// evidenceStatement returns the statement that reads the evidence about the rows of several subjects:
//
//	SELECT 0, ... UNION ALL SELECT 1, ...
//
// The numbers are indexes in keys, which has the key of each subject. A subject without a row has no row in the result.
func evidenceStatement(w *rows.Writer, keys [][]any) (text string, args []any) {
	subject, selects := w.DataMap.SubjectTable(), make([]string, len(keys))
	for i, key := range keys {
		selects[i] = syntax.Fill(evidenceOfRow, "number", strconv.Itoa(i), "evidence", strings.Join(lifeOfRow(w), ", "),
			"table", syntax.QuoteTable(subject.Name), "rows", w.RowsOf(subject, datamap.Path{}, len(args)))
		args = append(args, key...)
	}
	return strings.Join(selects, " UNION ALL "), args
}

// evidence reads the evidence about the rows of the subjects in one statement.
func (s *Work) evidence(ctx context.Context, marks []domain.ErasureMark) ([]domain.LifeEvidence, error) {
	var numbers []int
	var keys [][]any
	for i, mark := range marks {
		key, err := s.store.writer.DataMap.Key(mark.SubjectID)
		if err != nil || s.schema.HasNoRow(mark.SubjectID) { // no row can have the id
			continue
		}
		numbers, keys = append(numbers, i), append(keys, key)
	}
	evidence := make([]domain.LifeEvidence, len(marks))
	if len(keys) == 0 {
		return evidence, nil
	}
	if _, err := s.schema.RefuseHidden("read the subjects' rows"); err != nil {
		return nil, s.db.Fail(ctx, "lives", err)
	}
	text, args := evidenceStatement(s.store.writer, keys)
	err := s.db.Read(ctx, "lives", func(rows *sql.Rows) error {
		var i int
		row := newLifeRow(s.store.lives)
		err := rows.Scan(append([]any{&i}, row.rowTargets()...)...)
		if err == nil {
			evidence[numbers[i]] = row.evidence(s.store.writer.DataMap)
		}
		return err
	}, text, args...)
	return evidence, s.explain(ctx, "lives", err, live.ToRead(s.store.writer.DataMap.SubjectTable().Name))
}

func (s *Work) readMarks(ctx context.Context, text string, args ...any) (marks []domain.ErasureMark, err error) {
	err = s.db.Read(ctx, "marks", func(rows *sql.Rows) error {
		var id string
		var row markRow
		var before sql.NullInt64
		if err := rows.Scan(append(append([]any{&id}, row.targets()...), &before)...); err != nil {
			return err
		}
		mark := row.mark()
		mark.After = before.Int64
		mark.SubjectID, err = domain.ParseSubjectID(id)
		marks = append(marks, mark)
		return err
	}, text, args...)
	return marks, err
}

const readPosition = `SELECT position FROM {positions} WHERE reader = $1`

// Position implements ports.ErasedStore.
func (s *Work) Position(ctx context.Context, reader string) (position int64, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return 0, err
	}
	err = s.db.Read(ctx, "position", func(rows *sql.Rows) error { return rows.Scan(&position) },
		s.store.writer.Tables.Fill(readPosition), reader)
	return position, err
}

const advance = `
	INSERT INTO {positions} AS p (reader, position)
	SELECT CAST($1 AS text), CAST($3 AS bigint)
	WHERE CAST($2 AS bigint) = 0 OR EXISTS (SELECT 1 FROM {positions} WHERE reader = $1)
	ON CONFLICT (reader) DO UPDATE SET position = excluded.position WHERE p.position = $2`

// Advance implements ports.ErasedStore.
func (s *Work) Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return false, err
	}
	rows, err := s.db.Write(ctx, "position", s.store.writer.Tables.Fill(advance), reader, expected, next)
	return rows > 0, err
}

// RecallRow implements ports.ErasedStore.
func (s *Work) RecallRow(ctx context.Context, id domain.SubjectID, added time.Time) error {
	if err := s.db.Usable(); err != nil {
		return err
	}
	if erasing := s.unsent.Erasing(id); erasing != nil && erasing.Added.IsZero() && !added.IsZero() {
		erasing.Added = domain.Instant(added)
	}
	return nil
}
