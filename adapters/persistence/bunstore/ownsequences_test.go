package bunstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

// Logical replication copies rows and no sequences. After the switch to a replica, Migrate or a replay raises every
// sequence of habeas above the numbers in its column, also those of a data map with a name.
func TestSequencesThatReplicationHasNotCopiedAreRaised(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "staff"} {
		for what, raise := range map[string]func(*testing.T, *bunstore.Store) error{
			"by Migrate": nil,
			"by a replay": func(t *testing.T, store *bunstore.Store) error {
				return store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
					return s.Installation().RaiseSequences(ctx, 0)
				})
			},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				db := databases.PostgreSQL(t)
				options := bunstore.Options{Name: name}
				must(t, bunstore.Migrate(t.Context(), db, options))
				databases.Create(t, db, models[0])
				store := storeOf(t, db, mapOf(t, db, models[:1]), options)
				written := 0
				write := func() {
					t.Helper()
					written++
					must(t, store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
						_, err := s.Installation().Renew(ctx)
						must(t, err)
						must(t, s.Consents().Append(ctx, domain.ConsentRecord{
							SubjectID: subjectID(t, "1"), Purpose: "p", PolicyVersion: "1", RecordedAt: noon, Source: "api",
						}))
						must(t, s.Restrictions().Append(ctx, domain.RestrictionRecord{
							SubjectID: subjectID(t, "1"), RecordedAt: noon, Source: "api",
						}))
						id := fmt.Sprint(written)
						must(t, s.Register().Holds.Add(ctx, request.Hold{ID: id, SubjectID: subjectID(t, "1"), ReviewAt: noon}))
						must(t, s.Register().Requests.Append(ctx, request.Request{
							Number: request.Number(id), SubjectID: subjectID(t, "1"),
						}))
						return errOf(s.Subjects().Lock(ctx, subjectID(t, "1"), noon))
					}))
				}
				for range 3 {
					write()
				}
				var sequences []string
				must(t, db.NewRaw(`SELECT CAST(oid AS regclass) FROM pg_class WHERE relkind = 'S'
					AND relname LIKE 'habeas%'`).Scan(t.Context(), &sequences))
				if len(sequences) != 7 {
					t.Fatalf("the sequences are %v", sequences)
				}
				for _, sequence := range sequences {
					execute(t, db, "ALTER SEQUENCE "+sequence+" RESTART WITH 1")
				}
				if raise == nil {
					must(t, bunstore.Migrate(t.Context(), db, options))
				} else {
					must(t, raise(t, store))
				}
				write()
				for _, sequence := range sequences {
					var last int64
					must(t, db.NewRaw("SELECT last_value FROM "+sequence).Scan(t.Context(), &last))
					// Nothing was written to the trail. The other tables have four rows or a row that was written four times.
					if want := int64(4); !strings.Contains(sequence, "audit") && last != want {
						t.Errorf("%s stands at %d, want %d", sequence, last, want)
					}
				}
			})
		}
	}
}
