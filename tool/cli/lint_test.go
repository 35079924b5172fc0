package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	linter "github.com/habeas-data/habeas/tool/check"
	"github.com/habeas-data/habeas/tool/cli"
)

// checked is an application with the table users, whose check has no findings if the catalog is that of users.
type checked struct {
	cli.Application
	catalog  datamap.Catalog
	accepted []datamap.Acceptance
}

func (c checked) Catalog(context.Context) (datamap.Catalog, error) { return c.catalog, nil }

// Satisfies says that every row violates every constraint.
func (checked) Satisfies(
	_ context.Context, _ string, _ datamap.CatalogCheck, rows []map[string]any,
) ([]datamap.Verdict, error) {
	return slices.Repeat([]datamap.Verdict{datamap.VerdictFails}, len(rows)), nil
}

func (c checked) DataMap() datamap.DataMap {
	m, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
		},
	})
	if err != nil {
		panic(err)
	}
	return m.WithAccepted(c.accepted...)
}

func (c checked) Plan() datamap.Plan {
	plan, err := erasure.Planner{}.Plan(c.DataMap(), nil)
	if err != nil {
		panic(err)
	}
	return plan
}

func (checked) Registers(context.Context) (bool, error) { return false, nil }

// faultless is the schema of a database that fits the data map of checked.
func faultless() datamap.Catalog {
	return datamap.Catalog{Tables: []datamap.CatalogTable{{
		Name: "users", Kind: datamap.KindTable, PrimaryKey: []string{"id"}, Columns: []datamap.CatalogColumn{
			{Name: "id", Type: datamap.TypeBigInt, Declared: "bigint"},
			{Name: "email", Type: datamap.TypeText, Declared: "text", Nullable: true},
		},
	}}}
}

// faulty is a schema with the findings check-violated users.email and table-undecided logins.
func faulty() datamap.Catalog {
	schema := faultless()
	schema.Tables[0].Checks = []datamap.CatalogCheck{
		{Name: "users_email_check", Columns: []string{"email"}, Text: "email LIKE '%@%'"},
	}
	schema.Tables = append(schema.Tables, datamap.CatalogTable{
		Name: "logins", Kind: datamap.KindTable, PrimaryKey: []string{"user_id"}, Columns: []datamap.CatalogColumn{
			{Name: "user_id", Type: datamap.TypeBigInt, Declared: "bigint"},
		},
		ForeignKeys: []datamap.CatalogForeignKey{{
			Columns: []string{"user_id"}, References: "users", Referenced: []string{"id"}, OnDelete: datamap.ActionNone,
		}},
	})
	return schema
}

// lint runs the command lint on an application with the schema.
func lint(t *testing.T, schema datamap.Catalog, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaint strings.Builder
	code = run(t.Context(), checked{catalog: schema}, nil, &out, &complaint, append([]string{"lint"}, args...)...)
	return code, out.String(), complaint.String()
}

func TestFindingsThatCannotBeWrittenAreAFailure(t *testing.T) {
	var complaint strings.Builder
	application := checked{catalog: faulty()}
	if code := run(t.Context(), application, nil, full{}, &complaint, "lint"); code != 2 {
		t.Errorf("ends with %d", code)
	}
	complains(t, complaint.String(), "output cannot be written")
	complaint.Reset()
	code := run(t.Context(), application, nil, closed(t), &complaint, "lint")
	if code != 1 || complaint.Len() > 0 {
		t.Errorf("with a reader that has gone it ends with %d: %s", code, complaint.String())
	}
}

func TestFindingsAreGroups(t *testing.T) {
	code, stdout, _ := lint(t, faulty())
	want := `2 findings in 2 tables: 1 error, 1 warning.

error check-violated users
  email (users_email_check): The surrogate does not satisfy the CHECK constraint
  users_email_check. The erasure fails.
    Use a surrogate that satisfies it, set erasure:null, or change the
    constraint.

warning table-undecided logins
  The table is not in the data map, and nobody has decided that it stays out.
  Exports and erasures ignore it. Foreign keys lead from it to people: user_id
  (users).
    Add its model to the data map, or name the table, its columns and a reason
    in app.Config.LeftOut.
`
	if code != 1 || stdout != want {
		t.Errorf("ends with %d, printed\n%s", code, stdout)
	}
	if code, stdout, _ := lint(t, faultless()); code != 0 || stdout != "0 findings.\n" {
		t.Errorf("ends with %d, printed %q", code, stdout)
	}
	var decoded []datamap.Finding
	_, stdout, _ = lint(t, faulty(), "-o", "json")
	must(t, json.Unmarshal([]byte(stdout), &decoded))
	if len(decoded) != 2 || decoded[0].Code != "check-violated" || decoded[0].Object != "users_email_check" ||
		decoded[0].Severity != datamap.SeverityError || decoded[0].Where() != "users.email" || decoded[0].Remedy == "" {
		t.Errorf("got %v", decoded)
	}
	if _, stdout, _ = lint(t, faultless(), "-o", "json"); stdout != "[]\n" {
		t.Errorf("printed %q", stdout)
	}
}

func TestTheSeverityAndTheRulesThatCountAreFlags(t *testing.T) {
	for args, want := range map[string]int{
		"":                        1,
		"--fail-on error":         1,
		"--fail-on warning":       1,
		"--ignore check-violated": 1,
		"--fail-on error --ignore check-violated": 0,
		"--ignore check-violated,table-undecided": 0,
		"--ignore users.email":                    2,
		"--fail-on users.email":                   2,
		"--sarif testdata/none.go":                2,
	} {
		code, stdout, stderr := lint(t, faulty(), strings.Fields(args)...)
		if code != want || strings.Contains(stderr, "users") || strings.Contains(stderr, "none") {
			t.Errorf("%q ends with %d: %s%s", args, code, stdout, stderr)
		}
	}
}

// loginsAccepted accepts the finding table-undecided logins.
var loginsAccepted = datamap.Acceptance{
	Rule: "table-undecided", Table: "logins", Reason: "logins end in May", Until: "9999-05-31",
}

func TestAcceptedFindingsAreCountedAndShownOnRequest(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("user.go", []byte(models), 0o600))
	lint := func(args ...string) string {
		t.Helper()
		var out, complaint strings.Builder
		application := checked{catalog: faulty(), accepted: []datamap.Acceptance{loginsAccepted}}
		if code := run(t.Context(), application, nil, &out, &complaint, append([]string{"lint"}, args...)...); code != 1 {
			t.Errorf("%q ends with %d: %s", args, code, complaint.String())
		}
		return out.String()
	}
	const summary = "1 finding in 1 table: 1 error, and 1 accepted finding.\n"
	if got := lint(); !strings.HasPrefix(got, summary) || strings.Contains(got, "logins") {
		t.Errorf("printed\n%s", got)
	}
	const shown = `
accepted table-undecided logins
  The table is not in the data map, and nobody has decided that it stays out.
  Exports and erasures ignore it. Foreign keys lead from it to people: user_id
  (users).
    Add its model to the data map, or name the table, its columns and a reason
    in app.Config.LeftOut.
    Accepted until 9999-05-31: logins end in May
`
	if got := lint("--all"); !strings.HasSuffix(got, shown) {
		t.Errorf("printed\n%s", got)
	}
	var decoded []struct {
		datamap.Finding
		Acceptance *datamap.Acceptance
	}
	must(t, json.Unmarshal([]byte(lint("--all", "-o", "json")), &decoded))
	if len(decoded) != 2 || decoded[0].Acceptance != nil || decoded[1].Acceptance.Reason != "logins end in May" ||
		decoded[1].Acceptance.Until != "9999-05-31" || decoded[1].Severity != datamap.SeverityWarning {
		t.Errorf("got %+v", decoded)
	}
	for _, args := range [][]string{{"-o", "json"}, {"--sarif", "user.go"}, {"--all", "--ignore", "table-undecided"}} {
		if got := lint(args...); strings.Contains(got, "logins") || strings.Contains(got, "suppressions") {
			t.Errorf("%q prints %s", args, got)
		}
	}
	const suppressed = `"suppressions":[{"justification":"logins end in May (until 9999-05-31)",` +
		`"kind":"external","status":"accepted"}]`
	if got := lint("--all", "--sarif", "user.go"); strings.Count(got, `"suppressions"`) != 1 ||
		!strings.Contains(got, suppressed) {
		t.Errorf("printed %s", got)
	}
}

func TestANoticeNeverFailsALint(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.WriteFile("user.go", []byte(models), 0o600))
	notice := checked{catalog: faultless(), accepted: []datamap.Acceptance{loginsAccepted}}
	lint := func(args ...string) (code int, stdout string) {
		t.Helper()
		var out, complaint strings.Builder
		code = run(t.Context(), notice, nil, &out, &complaint, append([]string{"lint"}, args...)...)
		return code, out.String()
	}
	for _, args := range [][]string{nil, {"--fail-on", "error"}, {"-o", "json"}} {
		if code, stdout := lint(args...); code != 0 || !strings.Contains(stdout, "acceptance-unused") {
			t.Errorf("%q ends with %d: %s", args, code, stdout)
		}
	}
	if _, stdout := lint("--sarif", "user.go"); !strings.Contains(stdout, `"level":"note"`) ||
		strings.Contains(stdout, `"level":"notice"`) {
		t.Errorf("printed %s", stdout)
	}
}

const models = `package models

type User struct {
	bun.BaseModel ` + "`bun:\"table:users\"`" + `
	Work string ` + "`bun:\"work_email\"`" + `
	Email string ` + "`bun:\"email\" pii:\"contact\"`" + `
}
`

func TestSARIFHasTheLinesOfASource(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("my models", 0o700))
	must(t, os.WriteFile(filepath.Join("my models", "user.go"), []byte(models), 0o600))
	code, stdout, _ := lint(t, faulty(), "--sarif", "./my models/user.go")
	var report struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Rules []struct{ ID string }
				}
			}
			Results json.RawMessage
		}
	}
	must(t, json.Unmarshal([]byte(stdout), &report))
	rules, known := report.Runs[0].Tool.Driver.Rules, linter.Rules()
	if code != 1 || report.Version != "2.1.0" || len(rules) != len(known) || rules[0].ID != known[0].Code {
		t.Errorf("ends with %d, printed %s", code, stdout)
	}
	at := func(code string) string {
		for i, rule := range rules {
			if rule.ID == code {
				text, _ := json.Marshal(i)
				return string(text)
			}
		}
		return "none"
	}
	want := `[{"ruleId":"check-violated","ruleIndex":` + at("check-violated") + `,"level":"error","message":{` +
		`"text":"users.email: The surrogate does not satisfy the CHECK constraint users_email_check. The erasure fails. ` +
		`Use a surrogate that satisfies it, set erasure:null, or change the constraint."},` +
		`"locations":[{"physicalLocation":{` +
		`"artifactLocation":{"uri":"my%20models/user.go"},"region":{"startLine":6}},` +
		`"logicalLocations":[{"fullyQualifiedName":"users.email"}]}],` +
		`"partialFingerprints":{"habeas/v1":"check-violated users.email users_email_check"}},` +
		`{"ruleId":"table-undecided","ruleIndex":` + at("table-undecided") + `,"level":"warning","message":{"text":"` +
		`logins: The table is not in the data map, and nobody has decided that it stays out. Exports and erasures ` +
		`ignore it. Foreign keys lead from it to people: user_id (users). Add its model to the data map, or name the ` +
		`table, its columns and a reason in app.Config.LeftOut."},"locations":[{"physicalLocation":{` +
		`"artifactLocation":{"uri":"my%20models/user.go"},"region":{"startLine":1}},` +
		`"logicalLocations":[{"fullyQualifiedName":"logins"}]}],` +
		`"partialFingerprints":{"habeas/v1":"table-undecided logins "}}]`
	var got, wanted any
	must(t, json.Unmarshal(report.Runs[0].Results, &got))
	must(t, json.Unmarshal([]byte(want), &wanted))
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("results are\n%s\nwant\n%s", report.Runs[0].Results, want)
	}
}

func TestTheRulesAreATopic(t *testing.T) {
	got := page(t, cli.New(nil), "rules")
	for _, rule := range linter.Rules() {
		if !strings.Contains(got, "\n      "+rule.Code+", "+string(rule.Severity)+"\n") {
			t.Errorf("the page lacks %s", rule.Code)
		}
	}
	for line := range strings.Lines(got) {
		if len([]rune(line)) > 81 {
			t.Errorf("a line is too wide: %s", line)
		}
	}
}

// live returns the schema of a shop.
func live() memory.Schema {
	return memory.NewSchema(datamap.Catalog{Tables: []datamap.CatalogTable{
		{Name: "users", Kind: datamap.KindTable, PrimaryKey: []string{"id"}, Columns: []datamap.CatalogColumn{
			{Name: "id", Type: datamap.TypeBigInt, Declared: "bigint"},
			{Name: "email", Type: datamap.TypeText, Declared: "text"},
			{Name: "password_hash", Type: datamap.TypeText, Declared: "text"},
		}},
		{Name: "employees", Kind: datamap.KindTable, PrimaryKey: []string{"id"}, Columns: []datamap.CatalogColumn{
			{Name: "id", Type: datamap.TypeBigInt, Declared: "bigint"},
			{Name: "email", Type: datamap.TypeText, Declared: "text"},
		}},
		{Name: "countries", Kind: datamap.KindTable, PrimaryKey: []string{"code"}, Columns: []datamap.CatalogColumn{
			{Name: "code", Type: datamap.TypeText, Declared: "text"},
		}},
	}})
}

func TestSARIFFindsTheFileOfATable(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"order.go": "package models // users have orders\n",
		"user.go":  models,
		"plain.go": "package models\n\ntype UserID int\n\ntype User struct {\n\tID    int64\n\tEmail string\n}\n",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	for args, want := range map[string]string{
		"--sarif order.go --sarif user.go": `"uri":"user.go"},"region":{"startLine":6}`,
		"--sarif user.go --sarif order.go": `"uri":"user.go"},"region":{"startLine":6}`,
		"--sarif order.go":                 `"uri":"order.go"},"region":{"startLine":1}`,
		"--sarif plain.go":                 `"uri":"plain.go"},"region":{"startLine":7}`, // with bun's default names
	} {
		if _, stdout, _ := lint(t, faulty(), strings.Fields(args)...); !strings.Contains(stdout, want) {
			t.Errorf("%s: printed %s", args, stdout)
		}
	}
	if code, _, _ := lint(t, faulty(), "--sarif", "user.go", "--sarif", "none.go"); code != 2 {
		t.Errorf("a file that is missing: exit code %d", code)
	}
}
