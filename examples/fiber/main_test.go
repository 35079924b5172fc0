package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// start returns a function that sends a request to the program, and one that returns the row of the user.
func start(t *testing.T) (ask func(method, path, user string) (int, string), zoe func() User) {
	t.Helper()
	db, err := open(t.Context(), filepath.Join(t.TempDir(), "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	server, err := newServer(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	ask = func(method, path, user string) (int, string) {
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
	return ask, func() (user User) {
		if err := db.NewSelect().Model(&user).Where("id = 1").Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		return user
	}
}

func TestTheProgramErasesTheUser(t *testing.T) {
	ask, zoe := start(t)
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
	if row := zoe(); !strings.HasSuffix(row.Email, "@erased.invalid") || row.Theme != "dark" {
		t.Errorf("the row is %+v", row)
	}
}

// The README shows the responses of this program. Only their times differ.
func TestTheREADMEShowsTheResponses(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	requests := []string{http.MethodGet + " /me/export", http.MethodDelete + " /me"}
	if len(shown) != len(requests) {
		t.Fatalf("the README shows %d responses, want %d", len(shown), len(requests))
	}
	decode := func(text string) (object map[string]any) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		for _, time := range []string{"generated_at", "completed_at"} {
			if object[time] != nil {
				object[time] = "a time"
			}
		}
		return object
	}
	ask, _ := start(t)
	for i, request := range requests {
		method, path, _ := strings.Cut(request, " ")
		_, body := ask(method, path, "1")
		if got, want := decode(body), decode(shown[i][1]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the program responds %v, and the README shows %v", request, got, want)
		}
	}
}
