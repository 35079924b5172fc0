package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/internal/tests/visit"
)

func TestTheProgramErasesTheUserInTheService(t *testing.T) {
	erased := make(chan string, 1)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete && r.Header.Get("Authorization") == "Bearer secret" {
			erased <- r.URL.Path
		}
		_, _ = w.Write([]byte(`{"subscribed_at": "2020-01-01T00:00:00Z"}`))
	}))
	defer service.Close()
	db := databases.SQLite(t)
	if _, err := db.NewCreateTable().Model((*User)(nil)).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.NewInsert().Model(&User{Email: "zoe@example.org"}).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	visit.Program(t, func(ctx context.Context, address string) error {
		ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // the worker calls after the visit
		program := make(chan error, 1)
		go func() { program <- run(ctx, db, service.URL, "secret", address) }()
		var path string
		select {
		case path = <-erased:
		case <-time.After(10 * time.Second):
		}
		stop()
		if path != "/subscribers/zoe@example.org" {
			t.Errorf("the service was asked to erase %q", path)
		}
		return <-program
	})
}
