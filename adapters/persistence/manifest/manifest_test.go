package manifest_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
)

type User struct {
	bun.BaseModel `bun:"table:users"`
	ID            int64  `bun:"id,pk,autoincrement" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"`
	Theme         string `bun:"theme"`
}

type Invoice struct {
	bun.BaseModel `bun:"table:invoices"`
	ID            int64     `bun:"id,pk,autoincrement"`
	UserID        int64     `bun:"user_id"`
	User          *User     `bun:"rel:belongs-to,join:user_id=id" subject:"path"`
	Address       string    `bun:"address" pii:"financial,erasure:retain,reason:'§147 AO',retain:10y,since:issued_at"`
	IssuedAt      time.Time `bun:"issued_at"`
}

const golden = "testdata/documented.json"

func TestTheDocumentedModelsHaveTheDocumentedManifest(t *testing.T) {
	fromModels, err := bunmodels.Read(bun.NewDB(nil, pgdialect.New()), []any{(*User)(nil), (*Invoice)(nil)}, nil)
	must(t, err)
	text, err := os.ReadFile(golden)
	must(t, err)
	fromManifest, err := manifest.Read(bytes.NewReader(text))
	must(t, err)
	if !reflect.DeepEqual(fromManifest, fromModels) {
		t.Errorf("the manifest says %+v, the models %+v", fromManifest.Tables(), fromModels.Tables())
	}
	var written bytes.Buffer
	must(t, manifest.Write(&written, fromModels))
	if written.String() != string(text) {
		t.Errorf("%s is not what Write makes of the models:\n%s", golden, &written)
	}
}

func TestAFaultyManifestIsRefusedWithThePlace(t *testing.T) {
	text, err := os.ReadFile(golden)
	must(t, err)
	for _, test := range []struct{ former, latter, says string }{
		{`"manifest_version": 2`, `"manifest_version": 3`, "manifest_version: must be 2, the only version"},
		{`"manifest_version": 2`, `"manifest_version": 1`, "manifest_version: must be 2, the only version"},
		{`"manifest_version": 2`, `"manifest_version": "2"`, "manifest_version: must be 2"},
		{`"manifest_version": 2`, `"manifest_version": 3, "colors": []`, "manifest_version: must be 2"},
		{`"manifest_version": 2,`, ``, "manifest_version: must be 2"},
		{`"manifest_version": 2`, `"manifest_version": 2, "colors": []`, "colors: is unknown"},
		{`"manifest_version": 2`, `"manifest_version": 2, "manifest_version": 2`, "manifest_version: occurs twice"},
		{`"manifest_version"`, `"Manifest_Version"`, "Manifest_Version: is unknown"},
		{`"tables": [`, `"tables": [], "tables": [`, "tables: occurs twice"},
		{`"name": "users"`, `"name": "users", "colour": 1`, "tables[0].colour: is unknown"},
		{`"name": "users"`, `"name": "users", "Name": "people"`, "tables[0].Name: is unknown"},
		{`"name": "users"`, `"name": "users", "name": "people"`, "tables[0].name: occurs twice"},
		{`"name": "users"`, `"name": null`, "tables[0].name: has a value of the wrong type"},
		{`"name": "theme"`, `"name": ["theme"]`, "tables[0].columns[2].name: has a value of the wrong type"},
		{`"name": "theme"`, `"name": "theme", "length": "4"`, "tables[0].columns[2].length: has a value of the wrong type"},
		{`"name": "theme"`, `"name": "theme", "length": 1.5`, "tables[0].columns[2].length: has a value of the wrong type"},
		{`"name": "theme"`, `"name": "theme", "personal": null`, "tables[0].columns[2].personal: must be an object"},
		{
			`"category": "contact"`, `"category": "contact", "category": "contact"`,
			"tables[0].columns[1].personal.category: occurs twice",
		},
		{
			`"category": "contact"`, `"category": "contact", "reasons": ""`, "tables[0].columns[1].personal.reasons: is unknown",
		},
		{`"category": "contact"`, `"category": "secret"`, "users.email: has no known category"},
		{`"retain": "10y"`, `"retain": "ten years"`, "tables[1].columns[2].personal.retain: is not like"},
		{`"path": true`, `"path": "yes"`, "tables[1].relations[0].path: has a value of the wrong type"},
		{`"columns": [`, `"columns": null, "column": [`, "columns: must be a list"},
		{`"columns": [`, `"columns": {}, "column": [`, "columns: must be a list"},
		{`"name": "users",`, `"name": "users";`, "line 5: is not JSON: invalid character ';'"},
		{"  ]\n}\n", "  ]\n}\n{}", "invalid character '{' after top-level value"},
		{"  ]\n}\n", "  ]\n", "unexpected end of JSON input"},
		{string(text), ``, "line 1: is not JSON"},
		{string(text), `[]`, "manifest_version: must be 2"},
		{string(text), `null`, "manifest_version: must be 2"},
		{string(text), `{"manifest_version": 2}`, "no table is marked as the subject's table"},
		{string(text), `{"manifest_version": 2, "tables": [1]}`, "tables[0]: must be an object"},
	} {
		faulty := strings.Replace(string(text), test.former, test.latter, 1)
		if faulty == string(text) {
			t.Errorf("%s does not hold %s", golden, test.former)
		}
		_, err := manifest.Read(strings.NewReader(faulty))
		if !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %q", test.latter, err, test.says)
		}
	}
}

func TestAManifestCanAcceptFindings(t *testing.T) {
	text, err := os.ReadFile(golden)
	must(t, err)
	read := func(accepted string) (datamap.DataMap, error) {
		whole := strings.Replace(string(text), `"tables"`, `"accepted": `+accepted+`, "tables"`, 1)
		return manifest.Read(strings.NewReader(whole))
	}
	m, err := read(`[{"rule": "index-missing", "table": "invoices", "reason": "few rows", "until": "2027-03-31"}]`)
	must(t, err)
	want := datamap.Acceptance{Rule: "index-missing", Table: "invoices", Reason: "few rows", Until: "2027-03-31"}
	if got := m.Accepted(); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v", got)
	}
	var written bytes.Buffer
	must(t, manifest.Write(&written, m))
	if again, err := manifest.Read(&written); err != nil || !reflect.DeepEqual(again, m) {
		t.Errorf("written and read again: %+v, %v", again.Accepted(), err)
	}
	for accepted, says := range map[string]string{
		`{}`:   "accepted: must be a list",
		`[{}]`: "accepted[0]: has no rule",
		`[1]`:  "accepted[0]: must be an object",
		`[{"rule": "a", "table": "b", "until": "2027-03-31"}]`:          "accepted[0]: has no reason",
		`[{"rule": "a", "table": "b", "reason": "c"}]`:                  "accepted[0]: until is not a day",
		`[{"rule": "a", "table": "b", "reason": "c", "until": "soon"}]`: "such as 2027-03-31",
		`[{"rule": "a", "columns": ["d"]}]`:                             "accepted[0].columns: is unknown",
		`[{"rule": "a", "rule": "a"}]`:                                  "accepted[0].rule: occurs twice",
	} {
		if _, err := read(accepted); !errors.Is(err, domain.ErrManifest) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", accepted, err)
		}
	}
}

func TestAFailedReaderOrWriterIsAnError(t *testing.T) {
	if _, err := manifest.Read(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, domain.ErrManifest) ||
		!errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Read: got %v", err)
	}
	if err := manifest.Write(io.Discard, datamap.DataMap{}); !errors.Is(err, domain.ErrManifest) {
		t.Errorf("Write of an empty map: got %v", err)
	}
	text, err := os.ReadFile(golden)
	must(t, err)
	m, err := manifest.Read(bytes.NewReader(text))
	must(t, err)
	pipe, writer := io.Pipe()
	must(t, pipe.Close())
	if err := manifest.Write(writer, m); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write into a closed pipe: got %v", err)
	}
}

var must = fixture.Must
