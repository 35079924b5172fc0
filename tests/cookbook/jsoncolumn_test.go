package cookbook_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type Profile struct {
	bun.BaseModel `bun:"table:profiles"`

	ID    int64  `bun:"id,pk" subject:"id"`
	Email string `bun:"email" pii:"contact,erasure:anonymize"`
}

// ProfilePhone is the model of the view profile_phones. Its column phone is a member of the JSON column settings.
type ProfilePhone struct {
	bun.BaseModel `bun:"table:profile_phones" subject:"trusted"`

	ID      int64    `bun:"id,pk"`
	Profile *Profile `bun:"rel:belongs-to,join:id=id"`
	Phone   *string  `bun:"phone" pii:"contact,erasure:null"`
}

var phonesView = []string{
	`CREATE VIEW profile_phones AS SELECT id, settings->>'phone' AS phone FROM profiles`,
	`CREATE FUNCTION set_phone() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		UPDATE profiles SET settings = settings - 'phone' ||
			jsonb_strip_nulls(jsonb_build_object('phone', NEW.phone)) WHERE id = NEW.id;
		RETURN NEW;
	END $$`,
	`CREATE TRIGGER set_phone INSTEAD OF UPDATE ON profile_phones FOR EACH ROW EXECUTE FUNCTION set_phone()`,
}

func TestAPathOfAJSONColumnIsErasedByAView(t *testing.T) {
	db := databases.PostgreSQL(t)
	prepare(t, db, "CREATE TABLE profiles (id bigint PRIMARY KEY, email text, settings jsonb)",
		`INSERT INTO profiles VALUES (42, 'zoe@example.org', '{"phone": "+49 30 1", "theme": "dark"}')`)
	for _, statement := range phonesView {
		prepare(t, db, statement)
	}
	gdpr, err := app.New(app.Config{DB: db, Models: []any{(*Profile)(nil), (*ProfilePhone)(nil)}})
	must(t, err)

	expectText(t, erasing(t, db, gdpr, subject(t, "42"), "profiles"), `
		before    profiles: id=42, email=zoe@example.org, settings={"phone": "+49 30 1", "theme": "dark"}
		exported  profiles.email = zoe@example.org
		exported  profile_phones.phone = +49 30 1
		after     profiles: id=42, email=anon-…, settings={"theme": "dark"}
	`)
}

// withoutPhone is a hook that removes the phone number from the JSON column, in a database without the view
// profile_phones.
func withoutPhone(ctx context.Context, s ports.Session, subject domain.Subject) error {
	tx, err := bunstore.Tx(s)
	if err != nil {
		return err
	}
	_, err = tx.NewRaw("UPDATE profiles SET settings = json_remove(settings, '$.phone') WHERE id = ?",
		subject.ID.String()).Exec(ctx)
	return err
}

func TestAPathOfAJSONColumnIsErasedByAHook(t *testing.T) {
	db := databases.SQLite(t)
	prepare(t, db, "CREATE TABLE profiles (id bigint PRIMARY KEY, email text, settings text)",
		`INSERT INTO profiles VALUES (42, 'zoe@example.org', '{"phone":"+49 30 1","theme":"dark"}')`)
	gdpr, err := app.New(app.Config{
		DB: db, Models: []any{(*Profile)(nil)}, Options: stack.Options{Hooks: stack.Hooks{BeforeErasure: withoutPhone}},
	})
	must(t, err)

	expectText(t, erasing(t, db, gdpr, subject(t, "42"), "profiles"), `
		before    profiles: id=42, email=zoe@example.org, settings={"phone":"+49 30 1","theme":"dark"}
		exported  profiles.email = zoe@example.org
		after     profiles: id=42, email=anon-…, settings={"theme":"dark"}
	`)
}
