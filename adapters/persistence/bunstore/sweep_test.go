package bunstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/domain/sweep"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// archived has a retained column of each type. One of its surrogates (the values that an erasure writes) contains
// special characters of search patterns, such as * and [.
type archived struct {
	bun.BaseModel `bun:"table:archive"`
	ID            int64           `bun:"id,pk" subject:"id"`
	Email         string          `bun:"email" pii:"contact,erasure:anonymize"` // shows that the row was erased
	Text          string          `bun:"text" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Cut           string          `bun:"cut,type:varchar(20)" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Short         string          `bun:"short,type:varchar(8)" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Fixed         string          `bun:"fixed" pii:"contact,surrogate:'gone',erasure:retain,reason:x,retain:1y,since:at"`
	Filled        string          `bun:"filled" pii:"contact,surrogate:'a[*?{}.\\$',erasure:retain,reason:x,retain:1y,since:at"`
	Whole         int64           `bun:"whole" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Number        float64         `bun:"number" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Flag          bool            `bun:"flag" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Document      json.RawMessage `bun:"document,type:jsonb" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Raw           []byte          `bun:"raw" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Token         string          `bun:"tag,type:uuid" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Born          time.Time       `bun:"born" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Tags          []string        `bun:"tags,array" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	At            time.Time       `bun:"at"`
}

func (a *application) sweep(t testing.TB, id string, at time.Time) (rows []int64, err error) {
	t.Helper()
	err = a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		rows, err = s.Erased().Sweep(ctx, subjectID(t, id), plan.SweepAt(a.plan, at))
		return err
	})
	return rows, err
}

func (a *application) due(t testing.TB, at time.Time) (due []domain.SubjectID) {
	t.Helper()
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		list, err := s.Erased().Marks(ctx, domain.MarkQuery{Limit: 1000})
		must(t, err)
		due, err = s.Erased().Due(ctx, list, plan.SweepAt(a.plan, at))
		return err
	}))
	return due
}

func newArchive(t testing.TB, db *bun.DB) *application {
	t.Helper()
	a := newApplication(t, db, nil, (*archived)(nil))
	a.insert(t, &archived{
		ID: 1, Email: "mail",
		Text: "text", Cut: "cut", Short: "short", Fixed: "fixed", Filled: "filled", Whole: 7, Number: 1.5, Flag: true,
		Document: json.RawMessage(`{"a":1}`), Raw: []byte{1}, Token: "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
		Born: noon, Tags: []string{"tag"}, At: noon,
	})
	must(t, a.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		id := subjectID(t, "1")
		if _, err := s.Subjects().Lock(ctx, id, noon.AddDate(0, 1, 0)); err != nil {
			return err
		}
		_, err := s.Subjects().Apply(ctx, id, plan.LocalAt(a.plan, noon.AddDate(0, 1, 0)))
		return err
	}))
	return a
}

// A sweep overwrites the cells of each type. A second sweep recognizes most surrogates by the type of their column, and
// overwrites nothing.
func TestASweepKnowsTheSurrogatesOfEachType(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newArchive(t, db)
		before := a.values(t, "1")
		over := noon.AddDate(1, 0, 2)
		if due := a.due(t, over); len(due) != 1 {
			t.Errorf("%d subjects are due", len(due))
		}
		rows, err := a.sweep(t, "1", over)
		must(t, err)
		if rows[0] != 1 {
			t.Errorf("%v rows were swept", rows)
		}
		after := a.values(t, "1")
		delete(before, "email")
		for column, value := range before {
			if after[column] == value {
				t.Errorf("%s was not overwritten", column)
			}
		}
		if due := a.due(t, over.AddDate(1, 0, 0)); len(due) > 0 {
			t.Errorf("after the sweep, %d subjects are due", len(due))
		}
		if rows, err = a.sweep(t, "1", over.AddDate(1, 0, 0)); err != nil || rows[0] > 0 {
			t.Errorf("%v rows were swept again: %v", rows, err)
		}
		// A sweep overwrites a row even if only one of its cells holds a value.
		for _, column := range []string{"text", "cut", "fixed", "filled"} {
			execute(t, db, `UPDATE archive SET "`+column+`" = 'again'`)
			if rows, err = a.sweep(t, "1", over.AddDate(1, 0, 0)); err != nil || rows[0] != 1 {
				t.Errorf("%s: %v rows were swept: %v", column, rows, err)
			}
		}
	})
}

// If a trigger restores a value that a sweep overwrites, the sweep fails with domain.ErrLeftOver, like an erasure.
func TestASweepIsVerifiedWhereATriggerMayKeepValues(t *testing.T) {
	t.Parallel()
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := newArchive(t, db)
		if db.Dialect().Name() == dialect.PG {
			execute(t, db, `CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
				'BEGIN NEW.text := OLD.text; RETURN NEW; END'`,
				"CREATE TRIGGER keep BEFORE UPDATE ON archive FOR EACH ROW EXECUTE FUNCTION keep()")
		} else {
			execute(t, db, `CREATE TRIGGER keep AFTER UPDATE OF text ON archive FOR EACH ROW WHEN NEW.text <> OLD.text
				BEGIN UPDATE archive SET text = OLD.text WHERE id = NEW.id; END`)
		}
		rows, err := a.sweep(t, "1", noon.AddDate(1, 0, 2))
		if !errors.Is(err, domain.ErrLeftOver) {
			t.Errorf("%v rows were swept: %v", rows, err)
		}
	})
}

// Due must check several subjects in one statement, so that the number of statements stays small.
func TestASweepLooksUpSubjectsInBatches(t *testing.T) {
	t.Parallel()
	hook := &statements{}
	db := databases.WithHook(databases.PostgreSQL(t), hook)
	s := newShop(t, db, 0)
	var marks []domain.ErasureMark
	for id := range int64(120) {
		marks = append(marks, domain.ErasureMark{SubjectID: s.seedAs(t, 100+id).ID, ErasedAt: noon, Erasures: 1})
	}
	execute(t, db, "CREATE INDEX ON invoices (user_id)", "INSERT INTO invoices (id, user_id, address, contact, issued_at)"+
		" SELECT n, 1, 'x', 'x', now() FROM generate_series(1000, 20999) AS n", "ANALYZE")
	steps := plan.SweepAt(s.eraser.Plan(), noon.AddDate(20, 0, 0))
	s.cacheCatalog(t)
	texts := s.statementsOf(t, hook, func(ctx context.Context, session ports.Session) error {
		due, err := session.Erased().Due(ctx, marks, steps)
		if len(due) != len(marks) {
			t.Errorf("%d subjects are due", len(due))
		}
		return err
	})
	if len(texts) != 4 { // one statement for the fingerprint of the catalog, and one for each 50 subjects
		t.Errorf("%d statements", len(texts))
	}
}

// A vault has retained columns whose surrogates look like ordinary values.
type longVault struct {
	bun.BaseModel `bun:"table:vaults"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"` // shows that the row was erased
	Pin           string    `bun:"pin,type:varchar(8)" pii:"contact,erasure:retain,reason:x,retain:10y,since:at"`
	Token         string    `bun:"tag,type:uuid" pii:"contact,erasure:retain,reason:x,retain:10y,since:at"`
	At            time.Time `bun:"at"`
}

// shortVault is longVault with a shorter duty.
type shortVault struct {
	bun.BaseModel `bun:"table:vaults"`
	ID            int64     `bun:"id,pk" subject:"id"`
	Email         string    `bun:"email" pii:"contact,erasure:anonymize"`
	Pin           string    `bun:"pin,type:varchar(8)" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	Token         string    `bun:"tag,type:uuid" pii:"contact,erasure:retain,reason:x,retain:1y,since:at"`
	At            time.Time `bun:"at"`
}

// The shorter duty ended before the erasure, which has kept the values by the longer one. The next sweep must overwrite
// them, although nothing in the row tells them from surrogates, and also if it is the first sweep at all. The sweep
// after it must leave the surrogates alone.
func TestAShorterDutyEndsTheRetentionOfValuesWithoutAForm(t *testing.T) {
	t.Parallel()
	for _, sweptBefore := range []bool{true, false} {
		databases.Each(t, func(t *testing.T, db *bun.DB) { shortenDuty(t, db, sweptBefore) })
	}
}

func shortenDuty(t *testing.T, db *bun.DB, sweptBefore bool) {
	t.Helper()
	long := newApplication(t, db, nil, (*longVault)(nil))
	const token = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	long.insert(t, &longVault{ID: 1, Email: "mail", Pin: "1234", Token: token, At: noon.AddDate(-2, 0, 0)})
	clock := &watch{noon}
	sweepAll := func(a *application, model any) domain.SweepReport {
		t.Helper()
		dataMap := mapOf(t, db, []any{model})
		sweeper, err := sweep.NewSweeper(sweep.Config{
			Sessions: a.store, Clock: clock, IDs: &system.IDs{}, DataMap: dataMap, Plan: a.plan,
		})
		must(t, err)
		report, err := sweeper.RunAll(t.Context(), nil)
		must(t, err)
		return report
	}
	if sweptBefore {
		sweepAll(long, (*longVault)(nil)) // records the duties; nobody is erased yet
	}
	must(t, long.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		id := subjectID(t, "1")
		if _, err := s.Subjects().Lock(ctx, id, noon); err != nil {
			return err
		}
		_, err := s.Subjects().Apply(ctx, id, plan.LocalAt(long.plan, noon))
		return err
	}))
	clock.now = noon.AddDate(0, 1, 0)
	if sweptBefore {
		if report := sweepAll(long, (*longVault)(nil)); report.Subjects > 0 {
			t.Errorf("before the duty was shortened, the report is %+v", report)
		}
	}
	short := existingApplication(t, db, nil, (*shortVault)(nil))
	clock.now = noon.AddDate(0, 2, 0)
	if report := sweepAll(short, (*shortVault)(nil)); report.Subjects != 1 {
		t.Errorf("after the duty was shortened, the report is %+v", report)
	}
	swept := short.values(t, "1")
	if swept["pin"] == "1234" || swept["tag"] == token {
		t.Errorf("the values are still there: %v", swept)
	}
	clock.now = noon.AddDate(0, 3, 0)
	if report := sweepAll(short, (*shortVault)(nil)); report.Subjects > 0 || short.values(t, "1")["tag"] != swept["tag"] {
		t.Errorf("a further sweep has overwritten surrogates: %+v", report)
	}
}
