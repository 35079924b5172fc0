package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheProgramErasesTheUser(t *testing.T) {
	ctx := context.Background()
	db, err := open(ctx, filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	server, err := newServer(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, user string) (int, string) {
		request := httptest.NewRequest(method, path, nil)
		request.Header.Set("X-User", user)
		response, err := server.Test(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	status, body := ask(http.MethodGet, "/me/export", "1")
	if status != 200 || !strings.Contains(body, "zoe@example.org") {
		t.Errorf("the export is %d %s", status, body)
	}
	if status, _ := ask(http.MethodDelete, "/me", ""); status != 401 {
		t.Errorf("without a user, DELETE is %d", status)
	}
	status, body = ask(http.MethodDelete, "/me", "1")
	if status != 200 || !strings.Contains(body, `"orders":1`) || !strings.Contains(body, `"users":1`) {
		t.Errorf("the erasure is %d %s", status, body)
	}
	var zoe User
	if err := db.NewSelect().Model(&zoe).Where("id = 1").Scan(ctx); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(zoe.Email, "@erased.invalid") || zoe.Theme != "dark" {
		t.Errorf("the row is %+v", zoe)
	}
}
