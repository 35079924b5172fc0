package porttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// customer is a person in the shop. Each row of the customer has an id from ids to ids+999.
type customer struct {
	tenant string
	number int64
	ids    int64
}

// zoe is the subject of most cases. The variable others has customers whose keys resemble zoe's key. A store confuses
// them with zoe if it compares only a part of a key, or ignores case or spaces.
var (
	zoe    = customer{"acme", 7, 1000}
	others = []customer{
		{"acme", 8, 2000},
		{"umbrella", 7, 3000},
		{"acme", 77, 4000},
		{"acm_", 7, 5000},
		{"ACME", 7, 6000},
		{"acme%", 7, 7000},
		{"acme ", 7, 8000},
		{"acme", -7, 9000},
		{"7", 7, 10_000},
	}
)

func (c customer) id(t testing.TB) domain.SubjectID {
	t.Helper()
	return subject(t, c.tenant, c.number)
}

func (c customer) has(table string, row Row) bool {
	switch table {
	case "people":
		return row["tenant"] == c.tenant && row["number"] == c.number
	case "order_lines":
		order, _ := row["order_id"].(int64)
		return order/1000 == c.ids/1000
	default:
		return row["tenant"] == c.tenant && row["person"] == c.number
	}
}

// person returns the customer's row in people, with a value in every column.
func (c customer) person() Row {
	row := Row{
		"tenant": c.tenant, "number": c.number, "name": c.says("name"), "email": c.says("email"), "nickname": c.says("nick"),
		"born": time.Date(1990, 2, 3, 4, 5, 6, 789000, time.UTC), "score": 12.5, "level": int64(3), "visits": int64(70_000),
		"active": true, "token": fmt.Sprintf("6ba7b810-9dad-11d1-80b4-%012d", c.ids),
		"settings": domain.JSON(`{"theme": "dark", "tags": [1, null, "é"]}`),
		"photo":    []byte{0xff, 0, '\'', byte(c.ids / 1000)}, "remark": c.says("remark"),
	}
	maps.Copy(row, c.ruleValues())
	return row
}

func (c customer) says(what string) string { return fmt.Sprintf("%s of %d", what, c.ids) }

// issued is the instant at which the invoices were issued. It is on 29 February, so that a retention period of some
// years ends on a day that may not exist.
var issued = time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)

// row returns a row of the customer with the given id and further columns.
func (c customer) row(id int64, more Row) Row {
	row := Row{"id": id, "tenant": c.tenant, "person": c.number}
	for column, value := range more {
		row[column] = value
	}
	return row
}

// shopUnderTest is a store with customers in the tables of the application.
type shopUnderTest struct{ Store }

// shop opens a store with zoe and the other customers. Zoe has three rows in most tables, and every other customer
// has one.
func (h StoreHarness) shop(t testing.TB) shopUnderTest {
	t.Helper()
	s := shopUnderTest{h.open(t)}
	s.seed(t, zoe, 3)
	for _, c := range others {
		s.seed(t, c, 1)
	}
	return s
}

// seed adds a customer. It inserts one row into people, and the given number of rows into addresses, messages, orders
// and invoices. Each order gets two rows in order_lines. Each message is a reply to the customer's previous message.
func (s shopUnderTest) seed(t testing.TB, c customer, rows int) {
	t.Helper()
	s.Insert(t, "people", c.person())
	for i := range int64(rows) {
		id := c.ids + i
		message := c.row(id, Row{"body": c.says("body")})
		if i > 0 {
			message["reply_to"] = id - 1
		}
		s.Insert(t, "addresses", c.row(id, Row{"street": c.says("street")}))
		s.Insert(t, "messages", message)
		s.Insert(t, "orders", c.row(id, Row{"note": c.says("note"), "status": "paid"}))
		s.Insert(t, "invoices", c.row(id, Row{"address": c.says("address"), "phone": c.says("phone"), "issued_at": issued}))
		for line := range int64(2) {
			s.Insert(t, "order_lines", Row{"order_id": id, "line": line, "engraving": c.says("engraving")})
		}
	}
}

// content has the rows of the application's tables, with the name of the table as the key.
type content map[string][]Row

func (s shopUnderTest) content(t testing.TB) content {
	t.Helper()
	all := content{}
	for _, table := range DataMap().Tables() {
		all[table.Name] = s.Rows(t, table.Name)
	}
	return all
}

func (c content) of(who customer) content { return c.filter(who.has) }

// without returns the rows that do not belong to the customer.
func (c content) without(who customer) content {
	return c.filter(func(table string, row Row) bool { return !who.has(table, row) })
}

func (c content) filter(keep func(table string, row Row) bool) content {
	kept := content{}
	for table, rows := range c {
		kept[table] = nil
		for _, row := range rows {
			if keep(table, row) {
				kept[table] = append(kept[table], row)
			}
		}
	}
	return kept
}

// expectUnchanged checks that the rows equal the earlier rows. A failure names the table and the column, but no
// subject.
func expectUnchanged(t testing.TB, what string, got, want content) {
	t.Helper()
	for _, table := range DataMap().Tables() {
		before, after := want[table.Name], got[table.Name]
		if len(after) != len(before) {
			t.Errorf("%s: %d rows of %s, want %d", what, len(after), table.Name, len(before))
			continue
		}
		for _, column := range table.Columns {
			for i := range after {
				if !same(after[i][column.Name], before[i][column.Name]) {
					t.Errorf("%s: %s.%s has changed in a row", what, table.Name, column.Name)
					break
				}
			}
		}
	}
}

// same reports whether two values of cells are equal. Numbers are compared by their value, because an exported number
// may have another Go type than the number in a Row.
func same(got, want any) bool {
	switch want := want.(type) {
	case nil:
		return got == nil
	case int64:
		n := reflect.ValueOf(got)
		return n.CanInt() && n.Int() == want || n.CanUint() && want >= 0 && n.Uint() == uint64(want)
	case float64:
		n, err := strconv.ParseFloat(fmt.Sprint(got), 64)
		_, isText := got.(string)
		return err == nil && n == want && !isText
	case time.Time:
		instant, ok := got.(time.Time)
		return ok && instant.Equal(want) && instant.Location() == time.UTC
	case []byte:
		raw, ok := got.([]byte)
		return ok && raw != nil && bytes.Equal(raw, want)
	case domain.JSON:
		document, ok := got.(domain.JSON)
		return ok && equalJSON([]byte(document), []byte(want))
	default:
		return got == want
	}
}

func equalJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
