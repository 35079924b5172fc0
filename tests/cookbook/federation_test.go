package cookbook_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
)

type Actor struct {
	bun.BaseModel `bun:"table:actors"`

	ID         int64  `bun:"id,pk" subject:"id"`
	Name       string `bun:"name" pii:"identity,erasure:anonymize"`
	PrivateKey []byte `bun:"private_key" pii:"technical,erasure:null,export:no"`
	PublicKey  []byte `bun:"public_key"` // stays: other servers check signatures with it
}

// Delivery is a signed activity that the application still has to send to other servers.
type Delivery struct {
	bun.BaseModel `bun:"table:deliveries"`

	ID        int64  `bun:"id,pk,autoincrement"`
	Activity  string `bun:"activity"`
	Signature []byte `bun:"signature"`
}

// signDelete is called before the erasure removes the private key. It stores the delivery in the same transaction.
func signDelete(ctx context.Context, s ports.Session, subject domain.Subject) error {
	tx, err := bunstore.Tx(s)
	if err != nil {
		return err
	}
	var actor Actor
	if err := tx.NewSelect().Model(&actor).Where("id = ?", subject.ID.String()).Scan(ctx); err != nil {
		return err
	}
	if actor.PrivateKey == nil {
		return nil // erased before
	}
	uri := "https://social.example/actors/" + subject.ID.String()
	activity, err := json.Marshal(map[string]string{"type": "Delete", "actor": uri, "object": uri})
	if err != nil {
		return err
	}
	_, err = tx.NewInsert().Model(&Delivery{
		Activity: string(activity), Signature: ed25519.Sign(actor.PrivateKey, activity),
	}).Exec(ctx)
	return err
}

func withFederation(db *bun.DB) (*app.Integration, error) {
	return app.New(app.Config{
		DB: db, Models: []any{(*Actor)(nil)}, Options: stack.Options{Hooks: stack.Hooks{BeforeErasure: signDelete}},
	})
}

func TestADeleteIsSignedBeforeTheKeyGoes(t *testing.T) {
	databases.Each(t, func(t *testing.T, db *bun.DB) {
		prepare(t, db, (*Actor)(nil), (*Delivery)(nil))
		gdpr, err := withFederation(db)
		must(t, err)
		public, private, err := ed25519.GenerateKey(nil)
		must(t, err)
		insert(t, db, &Actor{ID: 42, Name: "zoe", PrivateKey: private, PublicKey: public})

		for range 2 {
			_, err = gdpr.Operator().Erase(t.Context(), subject(t, "42"))
			must(t, err)
		}
		actor, delivery := Actor{ID: 42}, Delivery{ID: 1}
		must(t, db.NewSelect().Model(&actor).WherePK().Scan(t.Context()))
		must(t, db.NewSelect().Model(&delivery).Scan(t.Context())) // one
		if actor.PrivateKey != nil || !ed25519.Verify(actor.PublicKey, []byte(delivery.Activity), delivery.Signature) {
			t.Error(actor, delivery)
		}
	})
}
