package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestTheErasureIsPartOfTheTransaction(t *testing.T) {
	db := databases.SQLite(t)
	mux, err := newMux(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.NewInsert().Model(&Member{Email: "zoe@example.org"}).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	state := func() (members, departed int) {
		if err = db.NewSelect().Model((*Member)(nil)).ColumnExpr("count(*)").Scan(t.Context(), &members); err == nil {
			err = db.NewSelect().Model((*Departure)(nil)).ColumnExpr("sum(members)").Scan(t.Context(), &departed)
		}
		if err != nil {
			t.Fatal(err)
		}
		return members, departed
	}
	for _, test := range []struct {
		user, reason              string
		status, members, departed int
	}{
		{"", "price", 401, 1, 0},
		{"1", "boredom", 422, 1, 0},
		{"1", "price", 204, 0, 1},
	} {
		request := httptest.NewRequest(http.MethodDelete, "/account?reason="+test.reason, strings.NewReader(""))
		request.Header.Set("X-User", test.user)
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		members, departed := state()
		if response.Code != test.status || members != test.members || departed != test.departed {
			t.Errorf("%+v: status %d, %d members, %d departed", test, response.Code, members, departed)
		}
	}
}
