package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/cli"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// office is a schema whose tables are questions.
type office struct{ isDown bool }

func (o office) Catalog(context.Context) (datamap.Catalog, error) {
	if o.isDown {
		return datamap.Catalog{}, errors.New("down")
	}
	table := func(schema, name string, columns ...string) (t datamap.CatalogTable) {
		t.Schema, t.Name, t.Kind = schema, name, datamap.KindTable
		for _, column := range columns {
			t.Columns = append(t.Columns, datamap.CatalogColumn{Name: column, Declared: "varchar(9)"})
		}
		return t
	}
	return datamap.Catalog{Tables: []datamap.CatalogTable{
		table("", "orders", "id", "user_id", "address", "api_token", "placed_at"), table("", "rooms", "id", "floor"),
	}}, nil
}

func (office) CountRows(_ context.Context, table string, most int) (int, error) {
	if table == "orders" {
		return most, nil
	}
	return 7, nil
}

func (office) Examples(_ context.Context, _, column string, _ int) ([]domain.PrivateValue, error) {
	if column == "placed_at" {
		return nil, nil
	}
	return []domain.PrivateValue{domain.NewPrivateValue("value of " + column), domain.NullValue()}, nil
}

// questions returns a file with a manifest and its questions.
func questions(t *testing.T) (file string) {
	t.Helper()
	column := func(name string, t datamap.ColumnType) datamap.Column { return datamap.Column{Name: name, Type: t} }
	annotated := func(name string, s domain.Strategy) datamap.Column {
		c := column(name, datamap.TypeText)
		c.Personal = &datamap.Annotation{Category: domain.CategoryLocation, Strategy: s}
		if s == domain.StrategyRetain {
			c.Personal.Reason = scaffold.ReasonNotStated
		}
		return c
	}
	orders := func(address datamap.Column, to string) datamap.Table {
		return datamap.Table{
			Name: "orders", PrimaryKey: []string{"id"}, Owned: address.Personal.Strategy == domain.StrategyErase,
			Relations: []datamap.Relation{{Columns: []string{"user_id"}, References: to, ReferencedColumns: []string{"id"}}},
			Columns: []datamap.Column{
				column("id", datamap.TypeBigInt), column("user_id", datamap.TypeBigInt), address,
				column("api_token", datamap.TypeText), column("placed_at", datamap.TypeTime),
			},
		}
	}
	option := func(name string, tables ...datamap.Table) datamap.Option {
		return datamap.Option{Name: name, Edit: datamap.Edit{Tables: tables}}
	}
	about := func(columns ...string) []datamap.Option {
		notPersonal, overwrite := datamap.Edit{}, datamap.Edit{}
		for _, name := range columns {
			c := column(name, datamap.TypeText)
			c.NotPersonal = true
			notPersonal.Columns = append(notPersonal.Columns, c)
			overwrite.Columns = append(overwrite.Columns, annotated(name, domain.StrategyAnonymize))
		}
		return []datamap.Option{{Name: "not-personal", Edit: notPersonal}, {Name: "overwrite", Edit: overwrite}}
	}
	m, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			column("id", datamap.TypeBigInt), annotated("email", domain.StrategyAnonymize),
			column("shade", datamap.TypeText), column("created_via", datamap.TypeText), column("theme", datamap.TypeText),
			column("phone", datamap.TypeText),
		},
	})
	must(t, err)
	m = m.WithDecisions(
		datamap.Decision{
			Object: "orders", Seen: []string{"id", "user_id", "address", "api_token", "placed_at", "user_id -> users"},
			Question: "Whose are the rows of orders?", Options: []datamap.Option{
				option("delete", orders(annotated("address", domain.StrategyErase), "users")),
				option("overwrite", orders(annotated("address", domain.StrategyAnonymize), "users")),
				option("keep", orders(annotated("address", domain.StrategyRetain), "users")),
				option("broken", orders(annotated("address", domain.StrategyErase), "rooms")), option("not-about-people"),
			},
		},
		datamap.Decision{
			Object: "users", Columns: []string{"shade", "created_via", "phone"}, Question: "Are they personal?",
			Seen: []string{"id", "email", "shade", "created_via", "phone"}, Options: about("shade", "created_via", "phone"),
		},
		datamap.Decision{
			Object: "audit_log", Seen: []string{"id", "email"}, Question: "Whose?",
			Options: []datamap.Option{option("not-about-people")},
		},
		datamap.Decision{
			Object: "audit_run", Seen: []string{"id", "n"}, Question: "Whose?",
			Options: []datamap.Option{option("not-about-people")},
		},
	)
	file = filepath.Join(t.TempDir(), "datamap.json")
	var text bytes.Buffer
	must(t, manifest.Write(&text, m))
	must(t, os.WriteFile(file, text.Bytes(), 0o640))
	return file
}

// deciding runs the command with the answers that a person types, or without a person if nothing is typed.
func deciding(
	t *testing.T, file string, rows cli.RowReader, typing string, args ...string,
) (code int, stdout, screen string) {
	t.Helper()
	t.Setenv("NO_COLOR", "1")
	root := cli.New(nil)
	root.AddCommand(cli.Decide(cli.Deciding{
		File: func() (string, error) { return file, nil },
		Open: func(context.Context) (cli.RowReader, error) { return rows, nil },
	}))
	var out, shown bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&shown)
	root.SetIn(strings.NewReader(""))
	if typing != "" {
		root.SetIn(typed{strings.NewReader(typing)})
		root.SetErr(screenOf{&shown})
	}
	root.SetArgs(append([]string{"decide", "--operator=dpo"}, args...))
	code = cli.Execute(t.Context(), root)
	return code, out.String(), shown.String()
}

// screenOf is a terminal.
type screenOf struct{ io.Writer }

func (screenOf) IsTerminal() bool { return true }

func read(t *testing.T, file string) datamap.DataMap {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	m, err := manifest.Read(bytes.NewReader(text))
	must(t, err)
	return m
}

// answerTo returns the answer to a question.
func answerTo(m datamap.DataMap, object string, columns ...string) datamap.Decision {
	for _, d := range m.Decisions() {
		if d.Object == object && strings.Join(d.Columns, " ") == strings.Join(columns, " ") {
			return d
		}
	}
	return datamap.Decision{}
}

func TestAnAnswerIsWrittenWithItsChangeOfTheDataMap(t *testing.T) {
	file := questions(t)
	code, stdout, stderr := deciding(t, file, nil, "", "orders=delete",
		"--because", "an order is its customer's", "--by", "zoe")
	m := read(t, file)
	got := answerTo(m, "orders")
	orders, mapped := m.Table("orders")
	if code != 0 || !mapped || !orders.Owned || got.Answer != "delete" || got.By != "zoe" ||
		got.Because != "an order is its customer's" || !strings.Contains(stdout, "Answered: orders.\n3 questions open.") {
		t.Errorf("ends with %d: %s%s %+v", code, stdout, stderr, got)
	}
	code, _, stderr = deciding(t, file, nil, "", "orders=not-about-people", "--because", "rooms order")
	m = read(t, file)
	if _, mapped = m.Table("orders"); code != 0 || mapped || answerTo(m, "orders").By != "dpo" {
		t.Errorf("the answer cannot be changed: %s", stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file has other permissions: %v", info.Mode())
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("files are left: %v", left)
	}
}

func TestARefusedAnswerSaysWhyAndWritesNothing(t *testing.T) {
	for answers, says := range map[string]string{
		"orders=broken":                           "orders=broken is not possible, because the data map would have",
		"orders=burn":                             `no option "burn", but delete, overwrite, keep, broken, not-about-people`,
		"orders=not-about-people":                 "say with --because why this is right, because its name suggests",
		"orders=keep":                             "needs a reason: say with --because the legal duty",
		"orders=overwrite":                        "why these columns stay as they are",
		"orders=delete --retain 10y --because x":  "--retain and --since are only for an answer that keeps values",
		"orders=keep --retain ten --because x":    "--retain must be a period",
		"orders=keep --since email --because x":   "orders=keep is not possible",
		"audit_*=not-about-people":                "suggests personal data: email",
		"audit_run=not-about-people orders=burn":  "nothing was written",
		"orders":                                  "an answer has the form TABLE=ANSWER",
		"order*=delete --columns theme=overwrite": "theme: no open question is about such a column",
		"rooms=delete":                            "rooms: no open question is about it",
		"rooms=elsewhere --because x":             "rooms: no question is about it, and the database has no such table",
		"legacy.*=elsewhere":                      "legacy.*=elsewhere: the answer needs a reason",
		"--columns phone=not-personal":            "suggests personal data: phone",
		"--bases users=whim:x":                    "A basis is one of consent, contract",
		"--bases audit_log=consent:x":             "no such table of the data map has personal data",
	} {
		file := questions(t)
		before, err := os.ReadFile(file)
		must(t, err)
		code, stdout, stderr := deciding(t, file, nil, "", strings.Fields(answers)...)
		after, err := os.ReadFile(file)
		must(t, err)
		if code != 2 || !bytes.Equal(before, after) || !strings.Contains(strings.Join(strings.Fields(stderr), " "), says) {
			t.Errorf("%s ends with %d: %s%s", answers, code, stdout, stderr)
		}
	}
}

func TestPatternsAnswerGroups(t *testing.T) {
	file := questions(t)
	code, _, stderr := deciding(t, file, office{}, "", "audit_*=not-about-people", "legacy.*=elsewhere", "rooms=map:staff",
		"--columns", "created_*,shade=not-personal", "--columns", "users.theme=not-personal", "--because", "job 7")
	m := read(t, file)
	users := m.SubjectTable()
	shade, _ := users.Column("shade")
	theme, _ := users.Column("theme")
	if code != 0 || !shade.NotPersonal || !theme.NotPersonal || answerTo(m, "audit_log").Because != "job 7" ||
		answerTo(m, "users", "shade", "created_via").Answer != "not-personal" || answerTo(m, "users", "phone").Answer != "" ||
		answerTo(m, "legacy.*").Answer != "elsewhere" || strings.Join(answerTo(m, "rooms").Seen, " ") != "id floor" {
		t.Errorf("ends with %d: %s\n%+v", code, stderr, m.Decisions())
	}
	rest := answerTo(m, "users", "phone")
	if overwrite, _ := rest.Option("overwrite"); len(overwrite.Edit.Columns) != 1 {
		t.Errorf("the rest of the question has the edit %+v", overwrite.Edit)
	}
}

func TestWhatIsLeftMayBeHarmless(t *testing.T) {
	file := questions(t)
	code, stdout, _ := deciding(t, file, nil, "", "--all-left", "-o", "json")
	m := read(t, file)
	if code != 0 || stdout != `{"answered":["audit_run"],"open":3}`+"\n" || !answerTo(m, "audit_log").IsOpen() {
		t.Errorf("ends with %d: %s", code, stdout)
	}
}

func TestKeptValuesHaveAPeriodAndAReason(t *testing.T) {
	file := questions(t)
	code, _, stderr := deciding(t, file, nil, "", "orders=keep",
		"--retain", "10y", "--since", "placed_at", "--because", "§ 147 AO")
	orders, _ := read(t, file).Table("orders")
	address, _ := orders.Column("address")
	if p := address.Personal; code != 0 || p == nil || p.Retain.String() != "10y" || p.Since != "placed_at" ||
		p.Reason != "§ 147 AO" {
		t.Errorf("ends with %d: %s %+v", code, stderr, p)
	}
}

func TestAnAnswerAboutRowsKeepsTheAnswersAboutColumns(t *testing.T) {
	file := questions(t)
	must(t, os.WriteFile(file, bytes.Replace(must2(os.ReadFile(file)), []byte(`"object": "users"`),
		[]byte(`"object": "orders"`), 1), 0o600))
	for _, args := range [][]string{
		{"orders=overwrite", "--because", "no person's token"}, {"--columns", "shade=overwrite"}, {"orders=delete"},
	} {
		if code, _, stderr := deciding(t, file, nil, "", args...); code != 0 {
			t.Fatal(stderr)
		}
	}
	orders, _ := read(t, file).Table("orders")
	if shade, ok := orders.Column("shade"); !ok || shade.Personal == nil {
		t.Errorf("orders has %+v", orders.Columns)
	}
}

func must2(text []byte, _ error) []byte { return text }
