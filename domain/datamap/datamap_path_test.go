package datamap_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestTheSubjectTableHasNoPath(t *testing.T) {
	m := mustMap(t, users(), child("orders", "users"))
	if path := pathOf(m, "users"); len(path) != 0 {
		t.Errorf("got %+v", path)
	}
	if path := pathOf(m, "countries"); len(path) != 0 {
		t.Errorf("a table outside the map has the path %+v", path)
	}
}

func TestAPathGoesOverAnyNumberOfHops(t *testing.T) {
	m := mustMap(t, child("parts", "items"), child("items", "orders"), child("orders", "users"), users())
	want := []datamap.Relation{
		belongsTo("items", "items_id"), belongsTo("orders", "orders_id"), belongsTo("users", "users_id"),
	}
	if got := pathOf(m, "parts"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := pathOf(m, "items"); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("got %+v, want %+v", got, want[1:])
	}
}

func TestAPathKeepsTheColumnsOfACompositeKeyAligned(t *testing.T) {
	subject := datamap.Table{
		Name: "users", PrimaryKey: []string{"tenant", "number"}, SubjectKey: []string{"tenant", "number"},
		Columns: []datamap.Column{column("tenant", datamap.TypeText), column("number", datamap.TypeInteger)},
	}
	orders := child("orders")
	orders.Columns = append(orders.Columns, column("owner", datamap.TypeInteger), column("shop", datamap.TypeText))
	orders.Relations = []datamap.Relation{{
		Columns: []string{"owner", "shop"}, References: "users", ReferencedColumns: []string{"number", "tenant"},
	}}
	m := mustMap(t, subject, orders)
	if got := pathOf(m, "orders"); !reflect.DeepEqual(got, orders.Relations) {
		t.Errorf("got %+v, want %+v", got, orders.Relations)
	}
}

func TestSelfReferencesAreNoPath(t *testing.T) {
	subject, comments := users(), child("comments", "users", "comments")
	subject.Columns = append(subject.Columns, column("invited_by", datamap.TypeBigInt))
	subject.Relations = []datamap.Relation{belongsTo("users", "invited_by")}
	m := mustMap(t, subject, comments)
	if got := pathOf(m, "comments"); !reflect.DeepEqual(got, comments.Relations[:1]) {
		t.Errorf("got %+v", got)
	}
	if got := pathOf(m, "users"); len(got) != 0 {
		t.Errorf("the subject's table has the path %+v", got)
	}
}

func TestAMarkPicksOneOfSeveralPaths(t *testing.T) {
	for marked, want := range []string{"users", "orders"} {
		items := child("items", "users", "orders")
		items.Relations[marked].Path = true
		m := mustMap(t, users(), child("orders", "users"), items)
		if got := pathOf(m, "items"); got[0].References != want {
			t.Errorf("the relation %d is marked, but the path goes to %s", marked, got[0].References)
		}
	}
}

func TestARelationOutOfTheMapIsNoRival(t *testing.T) {
	orders := child("orders", "countries", "users")
	m := mustMap(t, users(), orders)
	if got := pathOf(m, "orders"); len(got) != 1 || got[0].References != "users" {
		t.Errorf("got %+v", got)
	}
}

func names(tables []datamap.Table) []string {
	var list []string
	for _, table := range tables {
		list = append(list, table.Name)
	}
	return list
}

func TestChildrenComeBeforeTheirParents(t *testing.T) {
	items := child("items", "orders", "addresses")
	items.Relations[0].Path = true
	orders := child("orders", "users")
	for want, tables := range map[string][]datamap.Table{
		"users":                        {users()},
		"orders users":                 {users(), orders},
		"apples orders zebras users":   {child("zebras", "users"), orders, users(), child("apples", "users")},
		"parts items orders users":     {users(), orders, child("items", "orders"), child("parts", "items")},
		"zebras apples users":          {users(), child("apples", "users"), child("zebras", "apples")},
		"items addresses orders users": {orders, child("addresses", "users"), items, users()},
		"comments users":               {users(), child("comments", "users", "comments")},
		"another items addresses orders users": {
			child("another", "items"), orders, child("addresses", "users"), items, users(),
		},
	} {
		ordered, err := mustMap(t, tables...).ChildrenFirst()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(names(ordered), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTwoRelationsToOneParentAreNoCycle(t *testing.T) {
	messages := child("messages", "users")
	messages.Columns = append(messages.Columns, column("sender", datamap.TypeBigInt))
	messages.Relations = append(messages.Relations, belongsTo("users", "sender"))
	messages.Relations[0].Path = true
	ordered, err := mustMap(t, users(), messages).ChildrenFirst()
	if err != nil || !slices.Equal(names(ordered), []string{"messages", "users"}) {
		t.Errorf("got %v, %v", names(ordered), err)
	}
}

func TestACycleIsRefused(t *testing.T) {
	subject := users()
	subject.Columns = append(subject.Columns, column("home", datamap.TypeBigInt))
	subject.Relations = []datamap.Relation{belongsTo("addresses", "home")}
	_, err := datamap.NewDataMap(subject, child("addresses", "users"))
	wantManifestError(t, err, "addresses")

	_, err = datamap.NewDataMap(users(), child("a", "b"), child("b", "c"), child("c", "a", "users"))
	wantManifestError(t, err, "a")
}

func TestATableThatOnlyTheSubjectRefersToIsRefused(t *testing.T) {
	subject := users()
	subject.Columns = append(subject.Columns, column("home", datamap.TypeBigInt))
	subject.Relations = []datamap.Relation{belongsTo("addresses", "home")}
	_, err := datamap.NewDataMap(subject, child("addresses"))
	wantManifestError(t, err, "addresses")
	_, err = datamap.NewDataMap(subject, child("addresses"), child("orders", "users"))
	wantManifestError(t, err, "addresses")
}

func TestTheErrorOfACycleNamesAMemberOfIt(t *testing.T) {
	// "x" and "y" refer to each other. "x" also refers to "a", which is not in the cycle.
	_, err := datamap.NewDataMap(users(), child("a", "users"), child("x", "y", "a"), child("y", "x"))
	wantManifestError(t, err, "x")
}
