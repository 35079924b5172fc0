package bunstore

import (
	"context"
	"database/sql"
	"math"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

type erasureMarks struct{ *session }

var _ ports.MarkReader = (*session)(nil)

// Marks implements ports.MarkReader.
func (s *session) Marks() ports.ErasureMarks { return erasureMarks{s} }

// Marks implements ports.ErasureMarks. An erasure mark is the row that records the erasures of a subject, and has an
// intake number. Marks first reads the settled number: no open session can commit a mark with this number or a lower
// one. It then reads the marks up to this number. In the reverse order, it could miss a mark that a session commits
// between the two statements.
func (m erasureMarks) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	if query.Limit <= 0 {
		return nil, m.usable()
	}
	if err := m.requireReadCommitted(ctx, "marks", "a list of marks"); err != nil {
		return nil, err
	}
	settled, err := m.settled(ctx)
	if err != nil || settled <= query.After {
		return nil, err
	}
	text, args := m.store.marks.Page(query, settled)
	marks, err := m.readMarks(ctx, text, args...)
	after := query.After
	for i := range marks {
		if bounded := !query.Since.IsZero() || !query.Until.IsZero(); !bounded || marks[i].After == 0 {
			marks[i].After = after
		}
		after = marks[i].Intake
	}
	return marks, err
}

// Find implements ports.ErasureMarks.
func (m erasureMarks) Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error) {
	if len(ids) == 0 {
		return nil, m.usable()
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return m.readMarks(ctx, m.store.marks.Find, asList(texts))
}

func (m erasureMarks) readMarks(ctx context.Context, text string, args ...any) (marks []domain.ErasureMark, err error) {
	err = m.read(ctx, "marks", func(rows *sql.Rows) error {
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

// settled returns the intake number up to which all marks (the rows of erasures) are committed. No open session can
// commit a mark with this number or a lower one.
func (m erasureMarks) settled(ctx context.Context) (int64, error) {
	if m.store.marks.Settled == "" {
		return math.MaxInt64, nil
	}
	var settled sql.NullInt64
	err := m.read(ctx, "marks", func(rows *sql.Rows) error { return rows.Scan(&settled) }, m.store.marks.Settled)
	return settled.Int64, err
}

func (m erasureMarks) Position(ctx context.Context, reader string) (position int64, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return 0, err
	}
	err = m.read(ctx, "position", func(rows *sql.Rows) error { return rows.Scan(&position) },
		m.store.marks.Position, reader)
	return position, err
}

func (m erasureMarks) Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return false, err
	}
	rows, err := m.write(ctx, "position", m.store.marks.Advance, reader, expected, next)
	return rows > 0, err
}
