package bunstore_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/bunstore"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/consent"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/domain/export"
	"github.com/habeas-data/habeas/domain/restriction"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

type User struct {
	bun.BaseModel `bun:"table:users"`
	ID            int64      `bun:"id,pk,autoincrement" subject:"id"`
	Email         string     `bun:"email,type:varchar(20)" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Name          *string    `bun:"name" pii:"identity"`
	Age           int        `bun:"age" pii:"identity"`
	Vegan         bool       `bun:"vegan" pii:"special,basis:consent"`
	Born          *time.Time `bun:"born" pii:"identity"`
	Tags          []string   `bun:"tags" pii:"behavioral"`
	Avatar        []byte     `bun:"avatar" pii:"identity"`
	Balance       float64    `bun:"balance" pii:"financial"`
	Theme         string     `bun:"theme"`
}

type Order struct {
	bun.BaseModel `bun:"table:orders" subject:"owned"`
	ID            int64  `bun:"id,pk,autoincrement"`
	UserID        int64  `bun:"user_id"`
	User          *User  `bun:"rel:belongs-to,join:user_id=id"`
	Note          string `bun:"note" pii:"communication"`
	Shipped       bool   `bun:"shipped"`
}

type Item struct {
	bun.BaseModel `bun:"table:items"`
	OrderID       int64  `bun:"order_id,pk"`
	Line          int    `bun:"line,pk"`
	Order         *Order `bun:"rel:belongs-to,join:order_id=id"`
	Engraving     string `bun:"engraving" pii:"behavioral"`
}

type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`
	ID            int64     `bun:"id,pk,autoincrement"`
	UserID        int64     `bun:"user_id"`
	User          *User     `bun:"rel:belongs-to,join:user_id=id"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'§147 AO',retain:10y,since:issued_at"`
	Contact       string    `bun:"contact" pii:"contact"`
	IssuedAt      time.Time `bun:"issued_at"`
}

var models = []any{(*User)(nil), (*Order)(nil), (*Item)(nil), (*Invoice)(nil)}

// shop is an application with tables such as users and orders, and with the services of habeas. The tests create the
// services without package stack.
type shop struct {
	db           *bun.DB
	store        *bunstore.Store
	consent      *consent.Ledger
	restriction  *restriction.Ledger
	exporter     *export.Exporter
	eraser       *erasure.Eraser
	alice, bob   domain.Subject
	ordersOfEach int
}

// mapOf returns the data map of the models.
func mapOf(t testing.TB, db *bun.DB, models []any) datamap.DataMap {
	t.Helper()
	dataMap, err := bunmodels.Read(db, models, nil)
	must(t, err)
	return dataMap
}

// storeOf returns a store of a data map.
func storeOf(t testing.TB, db *bun.DB, dataMap datamap.DataMap, opts bunstore.Options) *bunstore.Store {
	t.Helper()
	store, err := bunstore.New(db, dataMap, opts)
	must(t, err)
	return store
}

// planOf returns the plan of the erasures of a data map without external systems.
func planOf(t testing.TB, dataMap datamap.DataMap) datamap.Plan {
	t.Helper()
	made, err := erasure.Planner{}.Plan(dataMap, nil)
	must(t, err)
	return made
}

// recorded returns the store after a first session, which records its data map in the installation. The statements of
// this comparison are not part of later sessions.
func recorded(t testing.TB, store *bunstore.Store) *bunstore.Store {
	t.Helper()
	must(t, store.Do(context.Background(), func(ctx context.Context, s ports.Session) error {
		return s.Installation().Started(ctx, datamap.StartedWorker{})
	}))
	return store
}

func newShop(t testing.TB, db *bun.DB, ordersOfEach int, external ...ports.Resolver) *shop {
	t.Helper()
	must(t, bunstore.Migrate(t.Context(), db, bunstore.Options{}))
	databases.Create(t, db, models...)
	dataMap := mapOf(t, db, models)
	store := storeOf(t, db, dataMap, bunstore.Options{})
	clock, ids := system.Clock{}, &system.IDs{}
	eraser, err := erasure.NewEraser(erasure.Config{Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: external})
	must(t, err)
	exporter, err := export.NewExporter(export.Config{Clock: clock, IDs: ids, DataMap: dataMap, Resolvers: external})
	must(t, err)
	s := &shop{
		db: db, store: recorded(t, store), eraser: eraser, ordersOfEach: ordersOfEach,
		consent:     consent.NewLedger(clock, ids),
		restriction: restriction.NewLedger(clock, ids),
		exporter:    exporter,
	}
	s.alice, s.bob = s.seedAs(t, 1), s.seedAs(t, 2)
	return s
}

// seedAs inserts a user with this id, and rows of this user in every table, and returns the subject.
func (s *shop) seedAs(t testing.TB, id int64) domain.Subject {
	t.Helper()
	name, born := "Name", time.Date(1990, 2, 3, 4, 5, 6, 0, time.UTC)
	databases.Insert(t, s.db, &User{
		ID: id, Email: "mail@example.org", Name: &name, Age: 33, Vegan: true, Born: &born,
		Tags: []string{"a", "b"}, Avatar: []byte{1, 2}, Balance: 12.5, Theme: "dark",
	})
	orders := make([]Order, s.ordersOfEach)
	items := make([]Item, s.ordersOfEach)
	for i := range orders {
		orderID := id*1_000_000 + int64(i)
		orders[i] = Order{ID: orderID, UserID: id, Note: "ring twice"}
		items[i] = Item{OrderID: orderID, Line: 1, Engraving: "for you"}
	}
	for start := 0; start < len(orders); start += 5000 {
		end := min(start+5000, len(orders))
		batch, lines := orders[start:end], items[start:end]
		databases.Insert(t, s.db, &batch, &lines)
	}
	databases.Insert(t, s.db, &Invoice{
		UserID: id, Address: "Main Street 1", Contact: "Jane", IssuedAt: time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC),
	})
	return fixture.MustSubject(t, strconv.FormatInt(id, 10))
}

func (s *shop) do(t testing.TB, fn func(ctx context.Context, session ports.Session) error) {
	t.Helper()
	must(t, s.store.Do(context.Background(), fn))
}

var must = fixture.Must

// cacheCatalog makes the store read and cache the catalog.
func (s *shop) cacheCatalog(tb testing.TB) {
	tb.Helper()
	s.do(tb, func(ctx context.Context, session ports.Session) error {
		_, err := session.Subjects().LockToRectify(ctx, s.alice.ID)
		return err
	})
}
