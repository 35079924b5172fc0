package bunstore_test

import (
	"database/sql"
	"encoding/json"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/internal/tests/databases"
)

type widget struct {
	bun.BaseModel `bun:"table:widgets"`
	ID            int64           `bun:"id,pk" subject:"id"`
	Settings      json.RawMessage `bun:"settings" pii:"technical"`
}

// JSONB is an internal format of SQLite. The test therefore uses functions of SQLite to write the values.
func TestJSONBIsExportedAsJSON(t *testing.T) {
	t.Parallel()
	db := databases.SQLite(t)
	a := newApplication(t, db, nil, (*widget)(nil))
	for expression, want := range map[string]string{
		`jsonb('{"a":[1,-2.5,1e3,null,true,false,"x"],"b":{"c":"ä\"\\\n\u0041"}}')`: `{"a":[1,-2.5,1e3,null,` +
			`true,false,"x"],"b":{"c":"ä\"\\\n\u0041"}}`,
		`jsonb_set('{}', '$.raw', 'a "quoted" <text>' || char(10))`: `{"raw":"a \"quoted\" <text>\n"}`,
		`jsonb('{}')`:    `{}`,
		`jsonb('[]')`:    `[]`,
		`jsonb('"123"')`: `"123"`,
		`jsonb('12')`:    `12`,
		`jsonb('null')`:  `null`,
		`jsonb('{a:0x1F,b:+.5,c:5.,d:-.5e1,e:1.e2,"f":''it''''s''}')`: "",
		`jsonb('{a:0x1F,b:+.5,c:5.,d:-.5e1,e:1.e2,f:''"\'' \v \x41 \0''}')`: `{"a":31,"b":0.5,"c":5,"d":-0.5e1,` +
			`"e":1e2,"f":"\"' \u000b \u0041 \u0000"}`,
		`jsonb_array(replace(hex(zeroblob(200)), '0', 'x'), replace(hex(zeroblob(40000)), '0', 'y'))`: "json",
		`'{"as":"text"}'`:                    `{"as":"text"}`,
		`CAST('{"text":"as blob"}' AS BLOB)`: `{"text":"as blob"}`,
		`'no JSON'`:                          `"no JSON"`,
		`x'7fff'`:                            "",
		`x'1b'`:                              "",
		`x'cc'`:                              "",
		`NULL`:                               `null`,
	} {
		if _, err := db.ExecContext(t.Context(), "INSERT OR REPLACE INTO widgets VALUES (1, "+expression+")"); err != nil {
			if want == "" { // SQLite does not read it as JSON, either
				continue
			}
			t.Fatalf("%s: %v", expression, err)
		}
		var plain sql.NullString
		if want == "json" {
			must(t, db.QueryRowContext(t.Context(), "SELECT json(settings) FROM widgets").Scan(&plain))
			want = plain.String
		}
		got := a.values(t, "1")["settings"]
		if want != "" && got != want && !sameDocument(got, want) {
			t.Errorf("%s: got %.200s, want %.200s", expression, got, want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: got %.200s", expression, got)
		}
	}
}

func sameDocument(a, b string) bool {
	var first, second any
	return json.Unmarshal([]byte(a), &first) == nil && json.Unmarshal([]byte(b), &second) == nil &&
		asText(map[string]any{"": first}) == asText(map[string]any{"": second})
}

// If SQLite can read a blob as JSONB (binary JSON), an export contains the same JSON document.
func FuzzJSONBIsReadAsSQLiteReadsIt(f *testing.F) {
	for _, seed := range []string{
		"\x0c", "\x7cabcdefg", "\x2b\x131", "\x4c\x17a\x131", "\xcb\x02\x131", "\x3b\x17a\x00", "\x2b\x131\x00", "\x37\"\\\"",
		"\x1b\x13",
	} {
		f.Add([]byte(seed))
	}
	db := databases.SQLite(f)
	a := newApplication(f, db, nil, (*widget)(nil))
	f.Fuzz(func(t *testing.T, blob []byte) {
		_, err := db.ExecContext(t.Context(), "INSERT OR REPLACE INTO widgets VALUES (1, ?)", blob)
		must(t, err)
		var valid bool
		var text sql.NullString
		must(t, db.QueryRowContext(t.Context(), "SELECT coalesce(json_valid(settings, 8), 0),"+
			" CASE WHEN json_valid(settings, 8) THEN json(settings) END FROM widgets").Scan(&valid, &text))
		got := a.values(t, "1")["settings"]
		if valid && json.Valid([]byte(text.String)) && !sameDocument(got, text.String) {
			t.Errorf("%x: got %s, want %s", blob, got, text.String)
		}
	})
}
