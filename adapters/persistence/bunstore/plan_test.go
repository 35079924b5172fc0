package bunstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Every statement of an operation on one subject must find its rows by an index, so that its cost does not grow with
// the number of subjects. The application creates the indexes of its own tables. The migrations create the indexes of
// the tables of habeas.
func TestASubjectIsFoundByIndexes(t *testing.T) {
	t.Parallel()
	hook := &statements{}
	s := newShop(t, databases.WithHook(databases.PostgreSQL(t), hook), 3)
	execute(t, s.db,
		"INSERT INTO users (id, email, age, vegan, tags, balance, theme)"+
			" SELECT n, 'x', 1, TRUE, '[]', 0, 'x' FROM generate_series(1000, 20999) AS n",
		"INSERT INTO orders (id, user_id, note, shipped) SELECT n, n, 'x', TRUE FROM generate_series(1000, 20999) AS n",
		"INSERT INTO items (order_id, line, engraving) SELECT n, 1, 'x' FROM generate_series(1000, 20999) AS n",
		"INSERT INTO invoices (id, user_id, address, contact, issued_at) SELECT n, n, 'x', 'x', now()"+
			" FROM generate_series(1000, 20999) AS n",
		"INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)"+
			" SELECT n, 'p', '1', TRUE, now(), 'api' FROM generate_series(1000, 20999) AS n",
		"INSERT INTO habeas_restriction_records (subject_id, restricted, recorded_at, source)"+
			" SELECT n, TRUE, now(), 'api' FROM generate_series(1000, 20999) AS n",
		"INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)"+
			" SELECT n, 'x', n, now(), '{}' FROM generate_series(1000, 20999) AS n",
		"INSERT INTO habeas_outbox (entry_id, subject_id, resolver, operation, status, attempts, enqueued_at)"+
			" SELECT n, n, 'desk', 'rectify', 'pending', 0, now() FROM generate_series(1000, 20999) AS n",
		"INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures) SELECT n, now(), 1"+
			" FROM generate_series(1000, 20999) AS n",
		"CREATE INDEX ON orders (user_id)", "CREATE INDEX ON invoices (user_id)", "ANALYZE",
	)
	key := int64(1)
	s.cacheCatalog(t)
	erase := func(ctx context.Context, session ports.Session) error {
		_, err := s.eraser.Erase(ctx, session, s.alice)
		return err
	}
	list := func(ctx context.Context, session ports.Session) error {
		_, err := session.Erased().Marks(ctx, domain.MarkQuery{After: 10000, Since: noon, Until: noon, Limit: 100})
		return err
	}
	for name, test := range map[string]struct {
		run  func(ctx context.Context, session ports.Session) error
		nth  int // the index of the statement to check
		args []any
	}{
		"consent": {func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.Status(ctx, session, s.alice.ID, "p")
			return err
		}, 0, []any{"1", "p"}},
		"consent history": {func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.History(ctx, session, s.alice.ID, "p")
			return err
		}, 0, []any{"1", "p"}},
		"restriction": {func(ctx context.Context, session ports.Session) error {
			_, err := s.restriction.Status(ctx, session, s.alice.ID, nil)
			return err
		}, 0, []any{"1"}},
		"restriction of a purpose": {func(ctx context.Context, session ports.Session) error {
			_, err := s.restriction.Status(ctx, session, s.alice.ID, pointer("p"))
			return err
		}, 0, []any{"1", "p"}},
		"restriction history": {func(ctx context.Context, session ports.Session) error {
			_, err := s.restriction.History(ctx, session, s.alice.ID, nil)
			return err
		}, 0, []any{"1"}},
		"consent as of an instant": {func(ctx context.Context, session ports.Session) error {
			_, err := s.consent.StatusAsOf(ctx, session, s.alice.ID, "p", time.Now())
			return err
		}, 0, []any{"1", "p", time.Now()}},
		"consents in force": {func(ctx context.Context, session ports.Session) error {
			_, err := session.Consents().InForce(ctx, s.alice.ID)
			return err
		}, 0, []any{"1"}},
		"reasons": {func(ctx context.Context, session ports.Session) error {
			return session.Restrictions().ClearReasons(ctx, s.alice.ID)
		}, 0, []any{"1"}},
		"trail": {func(ctx context.Context, session ports.Session) error {
			_, err := session.Audit().Trail(ctx, s.alice.ID)
			return err
		}, 0, []any{"1"}},
		"export": {func(ctx context.Context, session ports.Session) error {
			_, err := s.exporter.Export(ctx, session, s.alice)
			return err
		}, 0, []any{key, "1", key, key, key, key, "1", "1"}},
		"marks, how far":               {list, 0, nil},
		"marks":                        {list, 1, []any{10000, 20000, noon, noon, 100}},
		"erasure, lock of the subject": {erase, 1, []any{key, "1", noon}},
		"erasure, lock of the orders":  {erase, 2, []any{key}},
		"erasure, steps":               {erase, 3, []any{key, "", "", key, "", "", key, key, key, "[]", "1"}},
	} {
		texts := s.statementsOf(t, hook, test.run)
		plan := (box{db: s.db}).plan(t, texts[test.nth], test.args...)
		// The query plan must not scan the primary key of a ledger (consents or restrictions) backwards, because such a scan
		// would read all rows of the ledger.
		if strings.Contains(strings.ReplaceAll(plan, "Seq Scan on pg_", ""), "Seq Scan") ||
			strings.Contains(plan, "Backward using habeas_consent_records_pkey") ||
			strings.Contains(plan, "Backward using habeas_restriction_records_pkey") {
			t.Errorf("%s: %s\n%s", name, texts[test.nth], plan)
		}
	}
}
