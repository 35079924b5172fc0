package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

func TestOnlyColumnsOfTheListAreCorrected(t *testing.T) {
	db := databases.SQLite(t)
	mux, err := newMux(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []*Account{{ID: 42, Name: "Zoe", Phone: "0123"}, {ID: 43, Name: "Bob"}} {
		if _, err := db.NewInsert().Model(row).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	correct := func(user, body string) int {
		request := httptest.NewRequest(http.MethodPatch, "/me/profile", strings.NewReader(body))
		request.Header.Set("X-User", user)
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		return response.Code
	}
	for body, want := range map[string]int{
		`{"phone": "0456"}`: 204, `{"phone": "123456789012345678901"}`: 422, `{"email": "x"}`: 422, `{}`: 422, `[]`: 400,
		`{"name": "Bob"}`: 409,
	} {
		if got := correct("42", body); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	if got := correct("", `{"phone": "0789"}`); got != 401 {
		t.Errorf("without a user: %d", got)
	}
	account := &Account{ID: 42}
	if err := db.NewSelect().Model(account).WherePK().Scan(t.Context()); err != nil || account.Phone != "0456" {
		t.Error(account, err)
	}
}
