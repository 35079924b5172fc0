package engine_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/examples/engine"
	"github.com/habeas-data/habeas/internal/tests/databases"
)

const dataMap = `{"manifest_version": 2, "tables": [
  {"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [
    {"name": "id", "type": "bigint"},
    {"name": "email", "type": "text", "personal": {"category": "contact", "erasure": "anonymize"}}]}]}`

func TestTheRoutesWorkWithoutTheIntegration(t *testing.T) {
	db := databases.SQLite(t)
	databases.Execute(t, db, "CREATE TABLE users (id BIGINT PRIMARY KEY, email TEXT)")
	databases.Execute(t, db, "INSERT INTO users VALUES (1, 'zoe@example.org')")
	rights, err := engine.Rights(t.Context(), db, dataMap, "/me", func(*http.Request) (domain.Subject, error) {
		return domain.NewSubject("1")
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ method, path, says string }{
		{http.MethodGet, "/me/export", "zoe@example.org"}, {http.MethodDelete, "/me", `"anonymized":{"users":1}`},
	} {
		answer := httptest.NewRecorder()
		rights.ServeHTTP(answer, httptest.NewRequest(step.method, step.path, nil))
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), step.says) {
			t.Errorf("%s %s: %d %s", step.method, step.path, answer.Code, answer.Body)
		}
	}
}
