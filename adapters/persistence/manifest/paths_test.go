package manifest_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
)

const aboutTwo = `{"manifest_version": 2, "tables": [
	{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [{"name": "id", "type": "bigint"}]},
	{"name": "notes", "primary_key": ["id"], "relations": [
		{"name": "Author", "columns": ["author_id"], "references": "users", "referenced_columns": ["id"], "path": true,
		 "erasure": "null"},
		{"name": "Target", "columns": ["target_id"], "references": "users", "referenced_columns": ["id"], "path": true,
		 "erasure": "delete", "when": {"column": "target_type", "value": "account"}}],
	 "columns": [{"name": "id", "type": "bigint"}, {"name": "author_id", "type": "bigint"},
		{"name": "target_type", "type": "text"}, {"name": "target_id", "type": "bigint"},
		{"name": "text", "type": "text", "personal": {"category": "communication", "via": "Author,Target"}}]}]}`

func TestAManifestDefinesThePaths(t *testing.T) {
	m, err := manifest.Read(strings.NewReader(aboutTwo))
	if err != nil {
		t.Fatal(err)
	}
	if paths := m.Paths("notes"); len(paths) != 2 || paths[0].Via != "Author" || paths[1].Via != "Target" {
		t.Errorf("got %+v", paths)
	}
	var written bytes.Buffer
	if err := manifest.Write(&written, m); err != nil {
		t.Fatal(err)
	}
	again, err := manifest.Read(&written)
	if err != nil || !reflect.DeepEqual(again.Tables(), m.Tables()) {
		t.Errorf("another data map came back: %v", err)
	}
}

func TestAManifestWithAWrongPathIsRefused(t *testing.T) {
	for says, change := range map[string][2]string{
		"possible: delete, null":           {`"erasure": "null"`, `"erasure": "retain"`},
		"possible: Author, Target":         {`"Author,Target"`, `"Author,Owner"`},
		"not among the columns":            {`"column": "target_type"`, `"column": "kind"`},
		"notes.text: has no via":           {`, "via": "Author,Target"`, ``},
		"has two paths with the same name": {`"name": "Target"`, `"name": "Author"`},
		"tables[1].relations[1].when.is":   {`"value": "account"`, `"is": "account"`},
	} {
		_, err := manifest.Read(strings.NewReader(strings.Replace(aboutTwo, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, which does not say %q", err, says)
		}
	}
}

const linkTable = `{"manifest_version": 2, "tables": [
	{"name": "users", "primary_key": ["id"], "subject_key": ["id"], "columns": [{"name": "id", "type": "bigint"}]},
	{"name": "links", "primary_key": ["id"], "owned": true, "via": "Author", "relations": [
		{"name": "Author", "columns": ["author_id"], "references": "users", "referenced_columns": ["id"], "path": true},
		{"name": "Reader", "columns": ["reader_id"], "references": "users", "referenced_columns": ["id"], "path": true},
		{"columns": ["next_id"], "references": "links", "referenced_columns": ["id"], "erasure": "null"}],
	 "columns": [{"name": "id"}, {"name": "author_id"}, {"name": "reader_id"}, {"name": "next_id"}]}]}`

// An owned table without annotated columns names the path that deletes its rows, and clears references to them.
func TestAManifestNamesThePathThatDeletesRows(t *testing.T) {
	m, err := manifest.Read(strings.NewReader(linkTable))
	if err != nil {
		t.Fatal(err)
	}
	links, _ := m.Table("links")
	for i, path := range m.Paths("links") {
		if deletes := m.RowsDeleted(links, path); deletes != (i == 0) {
			t.Errorf("the path %s deletes the rows: %t", path.Via, deletes)
		}
	}
	if references := m.SelfReferences(links); len(references) != 1 || references[0].ClearedColumns[0] != "next_id" {
		t.Errorf("got %+v", references)
	}
	var written bytes.Buffer
	if err := manifest.Write(&written, m); err != nil {
		t.Fatal(err)
	}
	if text := written.String(); !strings.Contains(text, `"via": "Author"`) {
		t.Errorf("via is missing in %s", text)
	}
	again, err := manifest.Read(&written)
	if err != nil || !reflect.DeepEqual(again.Tables(), m.Tables()) {
		t.Errorf("another data map came back: %v", err)
	}
	for says, change := range map[string][2]string{
		"links: has via, but is not owned":      {`"owned": true, `, ``},
		"possible: Author, Reader":              {`"via": "Author"`, `"via": "Writer"`},
		"to its own table, which is not a path": {`"erasure": "null"`, `"erasure": "delete"`},
		"but leads to its own table, which is":  {`"erasure": "null"`, `"path": true`},
	} {
		_, err := manifest.Read(strings.NewReader(strings.Replace(linkTable, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, which does not say %q", err, says)
		}
	}
}
