package diagram_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/habeas-data/habeas/adapters/diagram"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports/porttest"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

func shop(t testing.TB) (datamap.DataMap, datamap.Plan) {
	t.Helper()
	m := porttest.DataMap()
	plan, err := erasure.Planner{}.Plan(m, []string{"media", "maps", "supportdesk"})
	if err != nil {
		t.Fatal(err)
	}
	return m, plan
}

func TestPicturesEqualTheGoldenFiles(t *testing.T) {
	m, plan := shop(t)
	for name, picture := range map[string]string{
		"shop.svg": diagram.SVG(m, plan), "shop.dot": diagram.DOT(m, plan), "shop.mmd": diagram.Mermaid(m, plan),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(picture), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if picture != string(want) {
			t.Errorf("%s has changed; check the picture, and run the test with -update if it is right", name)
		}
	}
}

func TestEveryTableColumnAndSystemIsInThePicture(t *testing.T) {
	m, plan := shop(t)
	for kind, picture := range map[string]string{
		"SVG": diagram.SVG(m, plan), "DOT": diagram.DOT(m, plan), "Mermaid": diagram.Mermaid(m, plan),
	} {
		for _, table := range m.Tables() {
			for _, column := range table.Personal() {
				if !strings.Contains(picture, column.Name) {
					t.Errorf("%s lacks %s.%s", kind, table.Name, column.Name)
				}
			}
			if !strings.Contains(picture, table.Name) {
				t.Errorf("%s lacks %s", kind, table.Name)
			}
		}
		for _, system := range []string{"media", "maps", "supportdesk"} {
			if !strings.Contains(picture, system) {
				t.Errorf("%s lacks %s", kind, system)
			}
		}
	}
}

func TestNamesAreEscaped(t *testing.T) {
	const name = `a"<b>&{c}|'d'` + "\n`[e]"
	m := fixture.MustMap(t, datamap.Table{
		Name: name, PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: name, Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
			}},
		},
	})
	plan, err := erasure.Planner{}.Plan(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	svg := diagram.SVG(m, plan)
	wellFormed(t, svg)
	if strings.Contains(svg, "<b>") {
		t.Error("the SVG has a name that is markup")
	}
	for _, line := range strings.Split(diagram.Mermaid(m, plan), "\n") {
		if strings.Contains(line, "n0") && strings.Count(line, `"`) != 2 {
			t.Errorf("the quotes of the label are not balanced: %s", line)
		}
	}
	if dot := diagram.DOT(m, plan); !strings.Contains(dot, `a\"\<b\>&\{c\}\|'d' `) {
		t.Errorf("got %s", dot)
	}
}

// XML 1.0 forbids most control characters, and every format breaks a text at a line break.
func TestNamesMayHaveControlCharacters(t *testing.T) {
	name := "a\r\n\tb\xff\ufffe\uffff\u2028\u202e"
	for r := rune(1); r < 0xa0; r++ {
		if r < ' ' || r >= 0x7f {
			name += string(r)
		}
	}
	personal := func(via string) *datamap.Annotation {
		return &datamap.Annotation{Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize, Via: via}
	}
	to := func(column, called string) datamap.Relation {
		return datamap.Relation{
			Name: called, Columns: []string{column}, References: name, ReferencedColumns: []string{"id"}, Path: true,
		}
	}
	m := fixture.MustMap(t,
		datamap.Table{
			Name: name, PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt}, {Name: name, Type: datamap.TypeText, Personal: personal("")},
			},
		},
		datamap.Table{
			Name: "loans", PrimaryKey: []string{"id"}, Relations: []datamap.Relation{to("reader", name), to("clerk", "clerk")},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "reader"},
				{Name: "clerk"},
				{Name: "note", Type: datamap.TypeText, Personal: personal(name)},
			},
		},
	)
	plan, err := erasure.Planner{}.Plan(m, []string{"desk"})
	if err != nil {
		t.Fatal(err)
	}
	svg := diagram.SVG(m, plan)
	wellFormed(t, svg)
	lines := map[string]int{}
	for kind, picture := range map[string]string{
		"SVG": svg, "DOT": diagram.DOT(m, plan), "Mermaid": diagram.Mermaid(m, plan),
	} {
		for _, r := range picture {
			if r != '\n' && !unicode.IsGraphic(r) {
				t.Errorf("%s has the character %U", kind, r)
				break
			}
		}
		if !strings.Contains(picture, "a   b\ufffd") {
			t.Errorf("%s lacks the visible part of the name:\n%s", kind, picture)
		}
		lines[kind] = strings.Count(picture, "\n")
	}
	// without line breaks in names: 3 boxes with 2 colours, and no arrow because the relations lead to the subject
	if lines["DOT"] != 7 || lines["Mermaid"] != 6 {
		t.Errorf("the numbers of lines are %v", lines)
	}
}

func TestAnSVGIsWellFormedAndLoadsNoResources(t *testing.T) {
	svg := diagram.SVG(shop(t))
	wellFormed(t, svg)
	for _, loads := range []string{"<script", "href", "url(http", "@import", "<image"} {
		if strings.Contains(svg, loads) {
			t.Errorf("it has %s", loads)
		}
	}
}

func wellFormed(t testing.TB, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func ExampleMermaid() {
	m, _ := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Owned: true,
		Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{Category: domain.CategoryContact}},
		},
	})
	plan, _ := erasure.Planner{}.Plan(m, nil)
	picture := diagram.Mermaid(m, plan)
	_, _ = io.WriteString(os.Stdout, strings.SplitAfterN(picture, "\n", 3)[1])
	// Output: n0["<b>users</b><br/><i>deleted</i><br/>email: contact"]:::deleted
}
