package scaffold_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/scaffold"
)

// schema parses a catalog from lines such as
//
//	posts: id*, author_id>users, editor_id?>users=set_null, title:text(40)!, body?
//
// Each line lists the columns of a table. The type follows a colon. The default is bigint for ids, else text. The marks
// are * for the primary key, ! for unique, ? for nullable, > for the referenced table, and = for the action on
// deletion. After the referenced table, / adds a column that both tables have to the reference.
func schema(lines string) datamap.Catalog {
	var catalog datamap.Catalog
	for line := range strings.Lines(strings.ReplaceAll(lines, ",\n", ",")) {
		name, columns, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		table := datamap.CatalogTable{Name: name, Kind: datamap.KindTable}
		for text := range strings.SplitSeq(columns, ",") {
			addColumn(&table, strings.TrimSpace(text))
		}
		catalog.Tables = append(catalog.Tables, table)
	}
	return catalog
}

func addColumn(table *datamap.CatalogTable, text string) {
	text, reference, refers := strings.Cut(text, ">")
	flags := text[len(strings.TrimRight(text, "*!?")):]
	name, declared, typed := strings.Cut(strings.TrimRight(text, "*!?"), ":")
	if !typed {
		declared = "text"
		if strings.HasSuffix(name, "id") {
			declared = "bigint"
		}
	}
	c := datamap.CatalogColumn{Name: name, Declared: declared, Nullable: strings.Contains(flags, "?")}
	base, length, _ := strings.Cut(strings.TrimSuffix(declared, ")"), "(")
	if base == "enum" {
		c.Type, c.Values = datamap.TypeText, strings.Split(length, "|")
	} else {
		c.Type = datamap.ColumnType(base)
		c.Length, _ = strconv.Atoi(length)
	}
	if !c.Type.Valid() {
		c.Type = ""
	}
	table.Columns = append(table.Columns, c)
	if strings.Contains(flags, "*") {
		table.PrimaryKey = append(table.PrimaryKey, name)
	}
	if strings.Contains(flags, "!") {
		table.Uniques = append(table.Uniques, datamap.CatalogUnique{
			Name: table.Name + "_" + name + "_key", Columns: []string{name},
		})
	}
	if refers {
		to, action, _ := strings.Cut(reference, "=")
		to, shared, isComposite := strings.Cut(to, "/")
		key := datamap.CatalogForeignKey{
			Columns: []string{name}, References: to, Referenced: []string{"id"}, OnDelete: datamap.ForeignKeyAction(action),
		}
		if isComposite {
			key.Columns, key.Referenced = append(key.Columns, shared), append(key.Referenced, shared)
		}
		table.ForeignKeys = append(table.ForeignKeys, key)
	}
}

// proposed is a proposal with the data map and the plan that result from it.
type proposed struct {
	scaffold.Proposal
	dataMap datamap.DataMap
	plan    datamap.Plan
}

func propose(t *testing.T, catalog datamap.Catalog, options ...scaffold.Options) proposed {
	t.Helper()
	return proposeWith(t, memory.NewSchema(catalog), append(options, scaffold.Options{})[0])
}

func proposeWith(t *testing.T, reader ports.CatalogReader, options scaffold.Options) proposed {
	t.Helper()
	p, err := scaffold.Propose(t.Context(), reader, options)
	if err != nil {
		t.Fatal(err)
	}
	m, err := datamap.NewDataMap(p.Tables...)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := erasure.Planner{}.Plan(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return proposed{p, m, plan}
}

// steps returns each step of the plan as a text, such as "anonymize users email name".
func (p proposed) steps() []string {
	var list []string
	for _, step := range p.plan.Steps {
		words := []string{string(step.Strategy), step.Target}
		if step.Via != "" {
			words = append(words, "via "+step.Via)
		}
		list = append(list, strings.Join(append(words, step.Columns...), " "))
	}
	return list
}

func (p proposed) column(t *testing.T, place string) datamap.Column {
	t.Helper()
	name, column, _ := strings.Cut(place, ".")
	table, _ := p.dataMap.Table(name)
	c, ok := table.Column(column)
	if !ok {
		t.Fatalf("there is no %s in the data map", place)
	}
	return c
}

// questions returns each question as a text: its object and columns, and the names of its options.
func (p proposed) questions() (list []string) {
	for _, d := range p.Decisions {
		object := d.Object
		if len(d.Columns) > 0 {
			object += "." + strings.Join(d.Columns, "+")
		}
		for _, option := range d.Options {
			object += " " + option.Name
		}
		list = append(list, object)
	}
	return list
}

// question returns the question about the rows of a table.
func (p proposed) question(t *testing.T, table string) datamap.Decision {
	t.Helper()
	for _, d := range p.Decisions {
		if d.Object == table && len(d.Columns) == 0 {
			return d
		}
	}
	t.Fatalf("there is no question about %s", table)
	return datamap.Decision{}
}

func wantLines(t *testing.T, got []string, want string) {
	t.Helper()
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if !slices.Equal(got, lines) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}
