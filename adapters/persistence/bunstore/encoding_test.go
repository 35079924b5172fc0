package bunstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// encoded creates a database with an encoding. It returns a function that opens it with parameters of the connection.
func encoded(t *testing.T, encoding string) (open func(parameters ...string) *bun.DB) {
	t.Helper()
	url := databases.Encoded(t, encoding)
	return func(parameters ...string) *bun.DB {
		return databases.Driver{Name: "PostgreSQL", SQL: "pgx"}.Open(t, url(parameters...))
	}
}

// namedPeople returns the data map of people whose key is their name.
func namedPeople(t *testing.T) datamap.DataMap {
	t.Helper()
	return fixture.MustMap(t, datamap.Table{
		Name: "people", PrimaryKey: []string{"name"}, SubjectKey: []string{"name"},
		Columns: []datamap.Column{
			{Name: "name", Type: datamap.TypeText}, fixture.Contact("email", domain.StrategyAnonymize),
		},
	})
}

// refuses fails the test unless Migrate, a session, the probe and the catalog return an error with the text.
func refuses(t *testing.T, db *bun.DB, opts bunstore.Options, text string) {
	t.Helper()
	store := storeOf(t, db, namedPeople(t), opts)
	_, ofCatalog := store.Catalog(t.Context())
	session := func() error {
		return store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Export(ctx, fixture.MustID(t, "zoë"), func(domain.ExportRecord) error { return nil })
		})
	}
	if strings.Contains(session().Error(), "were the migrations run") {
		session = func() error { return store.Probe(t.Context()) }
	}
	for name, err := range map[string]error{
		"Migrate": bunstore.Migrate(t.Context(), db, opts), "Probe": store.Probe(t.Context()), "Catalog": ofCatalog,
		"a session": session(),
	} {
		if fixture.WantCode(t, err, domain.ErrConfiguration); !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAConnectionThatDoesNotSpeakUTF8IsRefused(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"LATIN1", "WIN1252", "EUC_JP"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			open := encoded(t, encoding)
			inUTF8 := open("client_encoding=UTF8")
			refuses(t, open(), bunstore.Options{}, "client_encoding=UTF8") // without tables
			must(t, bunstore.Migrate(t.Context(), inUTF8, bunstore.Options{}))
			execute(t, inUTF8, "CREATE TABLE people (name text PRIMARY KEY, email text)")
			refuses(t, open(), bunstore.Options{}, "client_encoding=UTF8")
			refuses(t, open(), bunstore.Options{TrustEncoding: true}, "client_encoding=UTF8")
			refuses(t, open("client_encoding=LATIN1"), bunstore.Options{}, "client_encoding=UTF8") // EUC_JP has no conversion
			refuses(t, open("client_encoding=unheard"), bunstore.Options{}, "client_encoding=UTF8")

			person, text := "zoë", "Zoë Müller"
			if encoding == "EUC_JP" {
				person, text = "太郎", "山田太郎"
			}
			execute(t, inUTF8, "INSERT INTO people VALUES ('"+person+"', '"+text+"')")
			store := storeOf(t, inUTF8, namedPeople(t), bunstore.Options{})
			must(t, store.Probe(t.Context()))
			exported := ""
			session(t, store, func(ctx context.Context, s ports.Session) error {
				return s.Subjects().Export(ctx, fixture.MustID(t, person), func(r domain.ExportRecord) error {
					exported, _ = r.Value.(string)
					return nil
				})
			})
			if exported != text {
				t.Errorf("the export shows %q", exported)
			}
			refusesEmoji(t, store, fixture.MustID(t, person))
		})
	}
}

func session(t *testing.T, store *bunstore.Store, fn func(context.Context, ports.Session) error) {
	t.Helper()
	must(t, store.Do(t.Context(), fn))
}

// refusesEmoji fails the test unless the store refuses texts with a character that its database lacks.
func refusesEmoji(t *testing.T, store *bunstore.Store, id domain.SubjectID) {
	t.Helper()
	const emoji = "🙂"
	for name, fn := range map[string]func(context.Context, ports.Session) error{
		"consent": func(ctx context.Context, s ports.Session) error {
			return s.Consents().Append(ctx, domain.ConsentRecord{
				SubjectID: id, Purpose: emoji, PolicyVersion: "1",
				Source: "test",
			})
		},
		"consent status": func(ctx context.Context, s ports.Session) error {
			_, err := s.Consents().Latest(ctx, id, emoji, nil)
			return err
		},
		"restriction": func(ctx context.Context, s ports.Session) error {
			reason := emoji
			return s.Restrictions().Append(ctx, domain.RestrictionRecord{SubjectID: id, Reason: &reason, Source: "test"})
		},
		"correction": func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Rectify(ctx, id, domain.RectificationStep{
				Table: "people", Values: []domain.ColumnValue{{Column: "email", Value: emoji}},
			})
			return err
		},
	} {
		err := store.Do(t.Context(), fn)
		if fixture.WantCode(t, err, domain.ErrInvalid); strings.Contains(err.Error(), emoji) {
			t.Errorf("%s: the error shows the text: %v", name, err)
		}
	}
}

func TestAConnectionThatReadsBackslashesAsEscapesIsRefused(t *testing.T) {
	t.Parallel()
	open := encoded(t, "UTF8")
	refuses(t, open("standard_conforming_strings=off"), bunstore.Options{}, "standard_conforming_strings") // no tables
	must(t, bunstore.Migrate(t.Context(), open(), bunstore.Options{}))
	refuses(t, open("standard_conforming_strings=off"), bunstore.Options{}, "standard_conforming_strings")
}

func TestADatabaseThatDoesNotKnowItsEncodingMustBeTrusted(t *testing.T) {
	t.Parallel()
	open := encoded(t, "SQL_ASCII")
	for _, parameter := range []string{"client_encoding=UTF8", "application_name=test"} {
		db := open(parameter)
		refuses(t, db, bunstore.Options{}, "SQL_ASCII")
		trusting := bunstore.Options{TrustEncoding: true}
		must(t, bunstore.Migrate(t.Context(), db, trusting))
		execute(t, db, "CREATE TABLE IF NOT EXISTS people (name text PRIMARY KEY, email text)")
		refuses(t, db, bunstore.Options{}, "TrustEncoding")
		store := storeOf(t, db, namedPeople(t), trusting)
		must(t, store.Probe(t.Context()))
		_, err := store.Catalog(t.Context())
		must(t, err)
		session(t, store, func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Export(ctx, fixture.MustID(t, "zoë"), func(domain.ExportRecord) error { return nil })
		})
	}
}

func TestAFileInUTF16FollowsConditionsAndKeysByteByByte(t *testing.T) {
	t.Parallel()
	eachEncoding(t, func(t *testing.T, db *bun.DB) {
		execute(t, db, "CREATE TABLE users (tenant text, name text, email text, PRIMARY KEY (tenant, name))",
			"CREATE TABLE notes (id integer PRIMARY KEY, kind text, tenant text, name text, text text)",
			`INSERT INTO users VALUES ('a\b', 'zoë', 'z')`,
			`INSERT INTO notes VALUES (1, 'App\Models\User', 'a\b', 'zoë', 'hers'), (2, 'App\Models\Team', 'a\b', 'zoë', 'no')`)
		must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
		key := []string{"tenant", "name"}
		m := fixture.MustMap(t, datamap.Table{
			Name: "users", PrimaryKey: key, SubjectKey: key, Columns: []datamap.Column{
				{Name: "tenant", Type: datamap.TypeText},
				{Name: "name", Type: datamap.TypeText},
				fixture.Contact("email", domain.StrategyAnonymize),
			},
		}, datamap.Table{
			Name: "notes", PrimaryKey: []string{"id"}, Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "kind", Type: datamap.TypeText},
				{Name: "tenant", Type: datamap.TypeText},
				{Name: "name", Type: datamap.TypeText},
				fixture.Contact("text", domain.StrategyAnonymize),
			},
			Relations: []datamap.Relation{{
				Columns: key, References: "users", ReferencedColumns: key,
				When: &datamap.Condition{Column: "kind", Value: `App\Models\User`},
			}},
		})
		store := storeOf(t, db, m, bunstore.Options{})
		var notes []any
		session(t, store, func(ctx context.Context, s ports.Session) error {
			return s.Subjects().Export(ctx, fixture.MustID(t, `a\b`, "zoë"), func(r domain.ExportRecord) error {
				if r.Source == "notes" {
					notes = append(notes, r.Value)
				}
				return nil
			})
		})
		if len(notes) != 1 || notes[0] != "hers" {
			t.Errorf("the notes are %v", notes)
		}
	})
}
