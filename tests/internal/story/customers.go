package story

import (
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/porttest"
)

// subjectOf returns the subject of customer 1 of a tenant. At the desk (the external system), the id of the subject is
// the name of the tenant.
func subjectOf(tenant string) (domain.Subject, error) {
	id, err := domain.NewSubjectID(tenant, "1")
	return domain.Subject{ID: id, Refs: []domain.SubjectRef{{Kind: "desk", Value: strings.Clone(tenant)}}}, err
}

var issued = time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)

// seed inserts rows of customer 1 of a tenant into every table. The ids of these rows are the given id and the next
// higher id.
func seed(t *testing.T, store porttest.Store, tenant string, first int64) {
	t.Helper()
	owner := func(row porttest.Row) porttest.Row {
		row["id"], row["tenant"], row["person"] = first, tenant, int64(1)
		return row
	}
	store.Insert(t, "people", porttest.Row{
		"tenant": tenant, "number": int64(1), "name": "Ada", "email": "ada@example.org", "nickname": "al", "born": issued,
		"score": 12.5, "level": int64(3), "visits": int64(1) << 30, "active": true,
		"token": "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "settings": domain.JSON(`{"theme":"dark"}`),
		"photo": []byte{1, 2}, "remark": "likes tea",
	})
	store.Insert(t, "addresses", owner(porttest.Row{"street": "1 Main Street"}))
	store.Insert(t, "messages", owner(porttest.Row{"body": "hello"}))
	store.Insert(t, "messages", porttest.Row{
		"id": first + 1, "tenant": tenant, "person": int64(1), "reply_to": first, "body": "anybody there?",
	})
	store.Insert(t, "orders", owner(porttest.Row{"note": "ring twice", "status": "shipped"}))
	store.Insert(t, "order_lines", porttest.Row{"order_id": first, "line": int64(1), "engraving": "for you"})
	store.Insert(t, "invoices", owner(porttest.Row{"address": "1 Main Street", "phone": "555", "issued_at": issued}))
}

// rowsOf returns the rows of customer 1 of a tenant, by table. The ids of the customer's rows are in the range from
// first to first + 9.
func rowsOf(t *testing.T, store porttest.Store, tenant string, first int64) map[string][]porttest.Row {
	t.Helper()
	held := map[string][]porttest.Row{}
	for _, table := range []string{"people", "addresses", "messages", "orders", "order_lines", "invoices"} {
		for _, row := range store.Rows(t, table) {
			order, isLine := row["order_id"].(int64)
			if row["tenant"] == tenant || isLine && order/10 == first/10 {
				held[table] = append(held[table], row)
			}
		}
	}
	return held
}

var must = fixture.Must
