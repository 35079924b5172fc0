package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// forum is a schema of an application, the first time without a table and a column that a migration adds later.
type forum struct{ isMigrated, isEmpty bool }

func (f forum) Catalog(context.Context) (datamap.Catalog, error) {
	table := func(name, columns string, references ...string) datamap.CatalogTable {
		t := datamap.CatalogTable{Name: name, Kind: datamap.KindTable, PrimaryKey: []string{"id"}}
		for _, column := range strings.Fields("id " + columns) {
			c := datamap.CatalogColumn{Name: column, Type: datamap.TypeText, Declared: "text"}
			if strings.HasSuffix(column, "id") {
				c.Type, c.Declared = datamap.TypeBigInt, "bigint"
			}
			t.Columns = append(t.Columns, c)
		}
		for _, reference := range references {
			t.ForeignKeys = append(t.ForeignKeys, datamap.CatalogForeignKey{
				Columns: []string{reference}, References: "users", Referenced: []string{"id"},
			})
		}
		return t
	}
	users := "email password_hash"
	if f.isMigrated {
		users += " phone"
	}
	tables := []datamap.CatalogTable{
		table("follows", "follower_id followee_id", "follower_id", "followee_id"),
		table("projects", "owner_id name contact_email", "owner_id"),
		table("sessions", "user_id ip", "user_id"),
		table("users", users),
	}
	switch {
	case f.isEmpty:
		return datamap.Catalog{}, nil
	case f.isMigrated:
		tables = append(tables, table("preferences", "user_id theme", "user_id"))
	}
	return datamap.Catalog{Tables: tables}, nil
}

// Satisfies implements ports.CatalogReader.
func (f forum) Satisfies(
	_ context.Context, _ string, _ datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	return make([]datamap.Verdict, len(rows)), nil // the schema has no constraints
}

func scaffolded(t *testing.T, schema forum, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	root := cli.New(nil)
	root.AddCommand(cli.Scaffold(func(context.Context) (ports.CatalogReader, error) { return schema, nil }))
	var out, complaint strings.Builder
	root.SetOut(&out)
	root.SetErr(&complaint)
	root.SetArgs(append([]string{"scaffold"}, args...))
	code = cli.Execute(t.Context(), root)
	return code, out.String(), complaint.String()
}

func TestADraftHasOneLineForEachColumnAndItsQuestionsAsData(t *testing.T) {
	code, draft, stderr := scaffolded(t, forum{})
	if code != 0 {
		t.Fatalf("ends with %d: %s", code, stderr)
	}
	if line := `{"name": "id", "type": "bigint"},`; !strings.Contains(draft, "\n        "+line) {
		t.Errorf("no line is %s in\n%s", line, draft)
	}
	dataMap, err := manifest.Read(strings.NewReader(draft))
	must(t, err)
	var objects []string
	for _, decision := range dataMap.Decisions() {
		if len(decision.Columns) == 0 {
			objects = append(objects, decision.Object)
		}
	}
	if got := strings.Join(objects, " "); got != "users projects sessions follows" {
		t.Errorf("the questions are about %s", got)
	}
}

func TestAnUpdateAddsToTheFileOfADataMap(t *testing.T) {
	_, draft, _ := scaffolded(t, forum{})
	decided := strings.Replace(draft, `"{}@erased.invalid"`, `"{}@gone.invalid"`, 1)
	decided = strings.Replace(decided, `  "decisions": [`, `  "accepted": [
    {"rule": "index-missing", "table": "sessions", "reason": "few rows", "until": "2030-01-01"}
  ],
  "decisions": [`, 1)
	file := filepath.Join(t.TempDir(), "datamap.json")
	must(t, os.WriteFile(file, []byte(decided), 0o600))
	code, same, stderr := scaffolded(t, forum{}, "--update", file)
	if code != 0 || strings.Count(same, "gone.invalid") == 0 {
		t.Errorf("ends with %d: %s\n%s\nbut was\n%s", code, stderr, same, decided)
	}
	code, updated, stderr := scaffolded(t, forum{isMigrated: true}, "--update", file, "--include", "projects")
	dataMap, err := manifest.Read(strings.NewReader(updated))
	if code != 0 || err != nil {
		t.Fatalf("ends with %d, %v: %s", code, err, stderr)
	}
	phone, _ := dataMap.SubjectTable().Column("phone")
	_, hasProjects := dataMap.Table("projects")
	_, hasFollows := dataMap.Table("follows")
	if phone.Personal == nil || !hasProjects || hasFollows || len(dataMap.Accepted()) != 1 {
		t.Errorf("the updated data map is\n%s", updated)
	}
	if code, _, stderr := scaffolded(t, forum{}, "--include", "follows"); code != 2 {
		t.Errorf("two people are in a row of follows, but it is included: %s", stderr)
	}
}

func TestScaffoldExplainsWhatItCannotDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "datamap.json")
	must(t, os.WriteFile(file, []byte("{}"), 0o600))
	for _, test := range []struct {
		schema forum
		args   []string
		says   string
	}{
		{forum{isEmpty: true}, nil, "the database has no tables"},
		{forum{}, []string{"--update", file}, "manifest_version"},
		{forum{}, []string{"--update", file + "x"}, "cannot be read"},
		{forum{}, []string{"--update", file, "--subject-table", "users"}, "leave out --subject-table"},
		{forum{}, []string{"--include", "nothing"}, "nothing is not a table"},
	} {
		code, stdout, stderr := scaffolded(t, test.schema, test.args...)
		if code != 2 || stdout != "" {
			t.Errorf("%q ends with %d: %s", test.args, code, stdout)
		}
		complains(t, stderr, test.says)
	}
}

func TestADraftIsWrittenToAFileAsAWholeOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "datamap.json")
	if code, _, _ := scaffolded(t, forum{isEmpty: true}, "--out", file); code != 2 {
		t.Errorf("ends with %d", code)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("a failed command leaves %v", left)
	}
	_, draft, _ := scaffolded(t, forum{})
	code, stdout, stderr := scaffolded(t, forum{}, "--out", file)
	written, err := os.ReadFile(file)
	if code != 0 || err != nil || string(written) != draft || !strings.Contains(stdout, "The command decide asks them") {
		t.Errorf("ends with %d: %s%s", code, stdout, stderr)
	}
	code, _, stderr = scaffolded(t, forum{isMigrated: true}, "--out", file)
	if again, _ := os.ReadFile(file); code != 2 || string(again) != draft {
		t.Errorf("ends with %d, and replaces a file", code)
	}
	complains(t, stderr, "--out exists", "--update")
	code, _, _ = scaffolded(t, forum{isMigrated: true}, "--update", file, "--out", file)
	if again, _ := os.ReadFile(file); code != 0 || !strings.Contains(string(again), "preferences") {
		t.Errorf("ends with %d", code)
	}
}

func TestScaffoldReportsACatalogThatCannotBeRead(t *testing.T) {
	root := cli.New(nil)
	root.AddCommand(cli.Scaffold(func(context.Context) (ports.CatalogReader, error) {
		return nil, &domain.Error{Op: "catalog", Message: "a table or a column is missing: were the migrations run?"}
	}))
	var complaint strings.Builder
	root.SetErr(&complaint)
	root.SetArgs([]string{"scaffold"})
	if code := cli.Execute(t.Context(), root); code != 2 || !strings.Contains(complaint.String(), "is missing") {
		t.Errorf("ends with %d: %s", code, complaint.String())
	}
}

func TestADataMapIsProposed(t *testing.T) {
	propose := func(args ...string) (code int, stdout, stderr string) {
		t.Helper()
		root := cli.New(nil)
		root.AddCommand(cli.Scaffold(func(context.Context) (ports.CatalogReader, error) { return live(), nil }))
		var out, complaint strings.Builder
		root.SetOut(&out)
		root.SetErr(&complaint)
		root.SetArgs(append([]string{"scaffold"}, args...))
		code = cli.Execute(t.Context(), root)
		return code, out.String(), complaint.String()
	}
	code, stdout, _ := propose()
	dataMap, err := manifest.Read(strings.NewReader(stdout))
	if code != 0 || err != nil || dataMap.SubjectTable().Name != "users" {
		t.Errorf("ends with %d, %v:\n%s", code, err, stdout)
	}
	var proposal scaffold.Proposal
	code, stdout, _ = propose("-o", "json")
	must(t, json.Unmarshal([]byte(stdout), &proposal))
	if code != 0 || len(proposal.Tables) == 0 {
		t.Errorf("ends with %d:\n%s", code, stdout)
	}
	code, stdout, _ = propose("--subject-table", "employees")
	if code != 0 || !strings.Contains(stdout, "--name") {
		t.Errorf("ends with %d:\n%s", code, stdout)
	}
	code, _, stderr := propose("--subject-table", "people")
	if code != 2 {
		t.Errorf("ends with %d", code)
	}
	complains(t, stderr, "users")
}
