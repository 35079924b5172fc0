package bunstore

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/catalog"
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

// maxLives is the maximum number of subjects in one statement of Lives.
const maxLives = 50

// Lives implements ports.ErasureMarks.
func (m erasureMarks) Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error) {
	if len(marks) == 0 {
		return nil, m.usable()
	}
	subjects := subjectStore(m)
	if err := subjects.loadCatalogForSweep(ctx, m.store.sweeps.Fingerprint); err != nil {
		return nil, err
	}
	lives := make([]domain.Life, 0, len(marks))
	for chunk := range slices.Chunk(marks, maxLives) {
		evidence, err := m.evidence(ctx, chunk)
		if err != nil {
			return nil, err
		}
		for i, mark := range chunk {
			lives = append(lives, mark.Life(evidence[i]))
		}
	}
	return lives, nil
}

// evidence reads the evidence about the rows of the subjects in one statement.
func (m erasureMarks) evidence(ctx context.Context, marks []domain.ErasureMark) ([]domain.LifeEvidence, error) {
	var numbers []int
	var keys [][]any
	for i, mark := range marks {
		key, err := m.store.text.DataMap.Key(mark.SubjectID)
		if err != nil || m.catalog.HasNoRow(mark.SubjectID) { // no row can have the id
			continue
		}
		numbers, keys = append(numbers, i), append(keys, key)
	}
	evidence := make([]domain.LifeEvidence, len(marks))
	if len(keys) == 0 {
		return evidence, nil
	}
	if _, err := m.catalog.RefuseHidden("read the subjects' rows"); err != nil {
		return nil, m.fail(ctx, "lives", err)
	}
	text, args := m.store.text.EvidenceOf(keys)
	err := m.read(ctx, "lives", func(rows *sql.Rows) error {
		var i int
		row := newLifeRow(m.store.lives)
		err := rows.Scan(append([]any{&i}, row.rowTargets()...)...)
		if err == nil {
			evidence[numbers[i]] = row.evidence(m.store.text.DataMap)
		}
		return err
	}, text, args...)
	return evidence, m.explain(ctx, "lives", err, catalog.ToRead(m.store.text.DataMap.SubjectTable().Name))
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
