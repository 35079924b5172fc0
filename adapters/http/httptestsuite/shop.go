package httptestsuite

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
)

// newDataMap returns the data map of a shop. An erasure deletes, anonymizes and retains rows of the shop. The rows
// contain a value of each type that an export can contain.
func newDataMap() (datamap.DataMap, error) {
	key := datamap.Column{Name: "id", Type: datamap.TypeBigInt}
	personal := func(
		name string, kind datamap.ColumnType, category domain.Category, strategy domain.Strategy,
	) datamap.Column {
		return datamap.Column{Name: name, Type: kind, Personal: &datamap.Annotation{Category: category, Strategy: strategy}}
	}
	email := personal("email", datamap.TypeText, domain.CategoryContact, domain.StrategyAnonymize)
	email.Personal.Basis, email.Personal.Purpose = domain.BasisContract, "account login"
	address := personal("address", datamap.TypeText, domain.CategoryFinancial, domain.StrategyRetain)
	address.Personal.Reason, address.Personal.Since = "§ 147 AO", "issued_at"
	address.Personal.Retain = datamap.Period{Years: 10}
	ofUser := []datamap.Relation{{Columns: []string{"user_id"}, References: "users", ReferencedColumns: []string{"id"}}}
	user := datamap.Column{Name: "user_id", Type: datamap.TypeBigInt}
	return datamap.NewDataMap(
		datamap.Table{
			Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{
				key, email,
				personal("born", datamap.TypeTime, domain.CategorySpecial, domain.StrategyAnonymize),
				personal("score", datamap.TypeNumber, domain.CategoryFinancial, domain.StrategyAnonymize),
				personal("visits", datamap.TypeBigInt, domain.CategoryBehavioral, domain.StrategyAnonymize),
				personal("active", datamap.TypeBoolean, domain.CategoryTechnical, domain.StrategyAnonymize),
				personal("settings", datamap.TypeJSON, domain.CategoryTechnical, domain.StrategyAnonymize),
				personal("photo", datamap.TypeBytes, domain.CategoryIdentity, domain.StrategyAnonymize),
			},
		},
		datamap.Table{
			Name: "carts", PrimaryKey: []string{"id"}, Owned: true, Relations: ofUser,
			Columns: []datamap.Column{
				key, user, personal("note", datamap.TypeText, domain.CategoryCommunication, domain.StrategyDelete),
			},
		},
		datamap.Table{
			Name: "invoices", PrimaryKey: []string{"id"}, Relations: ofUser,
			Columns: []datamap.Column{key, user, address, {Name: "issued_at", Type: datamap.TypeTime}},
		},
	)
}

// rows has the rows of subject 42 and of subject 43. No response may contain data of subject 43.
var rows = []struct {
	table string
	row   map[string]any
}{
	{"users", map[string]any{
		"id": int64(42), "email": "<ada@example.com> & co", "born": time.Date(1815, 12, 10, 0, 0, 0, 0, time.UTC),
		"score": 19.5, "visits": int64(1) << 60, "active": true, "settings": domain.JSON(`{"dark":[1,null]}`),
		"photo": []byte{0xff, 0x00},
	}},
	{"carts", map[string]any{"id": int64(1), "user_id": int64(42), "note": "ä 😀 \u2028 \"quoted\""}},
	{"carts", map[string]any{"id": int64(2), "user_id": int64(42), "note": nil}},
	{"invoices", map[string]any{
		"id": int64(7), "user_id": int64(42), "address": "St James's Square",
		"issued_at": time.Date(2025, 12, 31, 23, 59, 59, 123456000, time.UTC),
	}},
	{"users", map[string]any{"id": int64(43), "email": confidential, "visits": int64(0)}},
	{"carts", map[string]any{"id": int64(3), "user_id": int64(43), "note": confidential}},
}

// desk and mailing are the names of the external systems. Calls to desk succeed, and calls to mailing fail.
const (
	desk    = "desk"
	mailing = "mailing"
)

type resolver struct {
	name string
	err  error
}

func externalSystems() []ports.Resolver {
	return []ports.Resolver{resolver{name: desk}, resolver{mailing, errors.New(confidential)}}
}

func (r resolver) Name() string { return r.name }

func (resolver) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (r resolver) ExportSubject(_ context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
	return []domain.ExportRecord{{
		Field: "contact.name", Row: "contact-" + ref.Value, Category: domain.CategoryIdentity, Value: "Ada",
	}}, r.err
}

func (r resolver) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (alreadyAbsent bool, err error) {
	return false, r.err
}

// clock advances by one second for each session. It does not advance when it is read.
type clock struct{ seconds atomic.Int64 }

func (c *clock) Now() time.Time {
	start := time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC)
	return start.Add(time.Duration(c.seconds.Load()) * time.Second)
}

// ids is a counter.
type ids struct{ last atomic.Int64 }

func (i *ids) NewID() string { return fmt.Sprintf("00000000-0000-7000-8000-%012d", i.last.Add(1)) }
