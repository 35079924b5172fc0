package attack

import (
	"errors"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/tests/databases"
)

// A rule of the application: the row survives, but a trigger takes it out of the subject's sight.
func TestATriggerThatUnlinksASurvivingRow(t *testing.T) {
	type letter struct {
		bun.BaseModel `bun:"table:letters"`
		ID            int64   `bun:"id,pk"`
		ClientID      int64   `bun:"client_id"`
		Client        *client `bun:"rel:belongs-to,join:client_id=id"`
		Body          string  `bun:"body" pii:"communication,erasure:anonymize"`
		State         string  `bun:"state"`
	}
	a := open(t, databases.PostgreSQL(t), app.Config{Models: []any{(*client)(nil), (*letter)(nil)}}, append(clientsTable(),
		"CREATE TABLE letters (id bigint PRIMARY KEY, client_id bigint, body text, state text)", "INSERT INTO letters VALUES (1, 1, 'dear', '')",
		"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.client_id := NULL; NEW.body := OLD.body; RETURN NEW; END $$",
		"CREATE TRIGGER f BEFORE UPDATE ON letters FOR EACH ROW EXECUTE FUNCTION f()")...)
	_, err := a.erase(t.Context(), "1")
	if err == nil && a.count(t, "SELECT count(*) FROM letters WHERE body = 'dear'") > 0 {
		t.Error("success, and the letter is left")
	}
}

// The key is a number, the foreign key a text; there is no foreign key constraint.
func TestANumericKeyWithATextForeignKey(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		a := open(t, db, app.Config{Models: ownedClients}, append(clientsTable(),
			"CREATE TABLE letters (id bigint PRIMARY KEY, client_id varchar(20), body text)", "INSERT INTO letters VALUES (1, '1', 'x')")...)
		if _, err := a.erase(t.Context(), "1"); err != nil {
			t.Error(err, errors.Unwrap(err))
		} else if a.count(t, "SELECT count(*) FROM letters") > 0 {
			t.Error("left")
		}
	})
}
