package bunstore

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/live"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/sqltext"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// erasedStore implements ports.ErasedStore.
type erasedStore struct{ *session }

func (s *session) Erased() ports.ErasedStore { return erasedStore{s} }

// Marks implements ports.ErasedStore. An erasure mark is the row that records the erasures of a subject, and has an
// intake number. Marks first reads the settled number: no open session can commit a mark with this number or a lower
// one. It then reads the marks up to this number. In the reverse order, it could miss a mark that a session commits
// between the two statements.
func (s erasedStore) Marks(ctx context.Context, query domain.MarkQuery) ([]domain.ErasureMark, error) {
	if query.Limit <= 0 {
		return nil, s.db.Usable()
	}
	if err := s.requireReadCommitted(ctx, "marks", "a list of marks"); err != nil {
		return nil, err
	}
	settled, err := s.settled(ctx)
	if err != nil || settled <= query.After {
		return nil, err
	}
	text, args := s.store.marks.Page(query, settled)
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

// Find implements ports.ErasedStore.
func (s erasedStore) Find(ctx context.Context, ids []domain.SubjectID) ([]domain.ErasureMark, error) {
	if len(ids) == 0 {
		return nil, s.db.Usable()
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return s.readMarks(ctx, s.store.marks.Find, syntax.TextList(texts))
}

// maxLives is the maximum number of subjects in one statement of Lives.
const maxLives = 50

// Lives implements ports.ErasedStore.
func (s erasedStore) Lives(ctx context.Context, marks []domain.ErasureMark) ([]domain.Life, error) {
	if len(marks) == 0 {
		return nil, s.db.Usable()
	}
	if err := s.loadCatalogForSweep(ctx, s.store.sweeps.Fingerprint); err != nil {
		return nil, err
	}
	lives := make([]domain.Life, 0, len(marks))
	for chunk := range slices.Chunk(marks, maxLives) {
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

// evidence reads the evidence about the rows of the subjects in one statement.
func (s erasedStore) evidence(ctx context.Context, marks []domain.ErasureMark) ([]domain.LifeEvidence, error) {
	var numbers []int
	var keys [][]any
	for i, mark := range marks {
		key, err := s.store.text.DataMap.Key(mark.SubjectID)
		if err != nil || s.catalog.HasNoRow(mark.SubjectID) { // no row can have the id
			continue
		}
		numbers, keys = append(numbers, i), append(keys, key)
	}
	evidence := make([]domain.LifeEvidence, len(marks))
	if len(keys) == 0 {
		return evidence, nil
	}
	if _, err := s.catalog.RefuseHidden("read the subjects' rows"); err != nil {
		return nil, s.db.Fail(ctx, "lives", err)
	}
	text, args := sqltext.EvidenceOf(s.store.text, keys)
	err := s.db.Read(ctx, "lives", func(rows *sql.Rows) error {
		var i int
		row := newLifeRow(s.store.lives)
		err := rows.Scan(append([]any{&i}, row.rowTargets()...)...)
		if err == nil {
			evidence[numbers[i]] = row.evidence(s.store.text.DataMap)
		}
		return err
	}, text, args...)
	return evidence, s.explain(ctx, "lives", err, live.ToRead(s.store.text.DataMap.SubjectTable().Name))
}

func (s erasedStore) readMarks(ctx context.Context, text string, args ...any) (marks []domain.ErasureMark, err error) {
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

// settled returns the intake number up to which all marks are committed. No open session can commit a mark with this
// number or a lower one.
func (s erasedStore) settled(ctx context.Context) (int64, error) {
	if s.store.marks.Settled == "" {
		return math.MaxInt64, nil
	}
	var settled sql.NullInt64
	err := s.db.Read(ctx, "marks", func(rows *sql.Rows) error { return rows.Scan(&settled) }, s.store.marks.Settled)
	return settled.Int64, err
}

func (s erasedStore) Position(ctx context.Context, reader string) (position int64, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return 0, err
	}
	err = s.db.Read(ctx, "position", func(rows *sql.Rows) error { return rows.Scan(&position) },
		s.store.marks.Position, reader)
	return position, err
}

func (s erasedStore) Advance(ctx context.Context, reader string, expected, next int64) (advanced bool, err error) {
	if err := domain.CheckReader(reader); err != nil {
		return false, err
	}
	rows, err := s.db.Write(ctx, "position", s.store.marks.Advance, reader, expected, next)
	return rows > 0, err
}

// RecallRow implements ports.ErasedStore.
func (s erasedStore) RecallRow(ctx context.Context, id domain.SubjectID, added time.Time) error {
	if err := s.db.Usable(); err != nil {
		return err
	}
	for i, erased := range s.erasing {
		if erased.id == id && time.Time(erased.added).IsZero() && !added.IsZero() {
			s.erasing[i].added = addedAt(domain.Instant(added))
		}
	}
	return nil
}
