// Package modelsource writes bun models for a data map, as Go source. If package bunmodels reads these models, it
// returns a data map that leads to the same exports and erasures.
package modelsource

import (
	"bytes"
	"go/format"
	"go/token"
	"io"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// Write writes a Go file with one bun model for each table, in the order of the tables. The fields have the struct tags
// bun, pii and subject. The file also contains a function Models, which returns all models. The file imports only bun
// and the standard library.
//
// The notes of tables and columns become comments. If a note names a decision that a person must make, its comment
// begins with DECIDE.
//
// The catalog is the schema of the tables. It determines which columns can be NULL and which columns are unique.
// Columns of the catalog that the data map does not contain are not written.
//
// Write returns domain.ErrInvalid if packageName is not a valid package name. It returns domain.ErrManifest if the
// tables are not a valid data map, if the catalog lacks one of the tables, or if a name cannot be used in a struct tag.
func Write(w io.Writer, packageName string, catalog datamap.Catalog, tables []datamap.Table) error {
	if !token.IsIdentifier(packageName) || packageName == "_" {
		return domain.Invalid("models", []domain.FieldError{{
			Field: "package", Code: domain.FieldCharacter, Message: "must be the name of a Go package",
		}})
	}
	m, err := datamap.NewDataMap(tables...)
	if err != nil {
		return err
	}
	f, err := newFile(catalog, m)
	if err != nil {
		return err
	}
	source, err := format.Source(f.source(packageName))
	if err != nil {
		return &domain.Error{Op: "models", Message: "the source is not valid Go", Err: err}
	}
	if _, err := w.Write(source); err != nil {
		return &domain.Error{Op: "models", Message: "cannot be written", Err: err}
	}
	return nil
}

// file is a Go file under construction.
type file struct {
	models  []*model
	imports map[string]bool
}

// model is the model of a table.
type model struct {
	datamap.Table
	live      datamap.CatalogTable
	name      string
	columns   map[string]string // the names of the fields, by column
	relations []string          // the names of the fields of the relations, in order
	vias      map[string]string // the names of the paths in the models, by their names in the data map
	owners    string            // the option "via" of the tag subject:"owned"
	isDeleted bool              // an erasure deletes the rows, so the model gets the tag subject:"owned"
}

func newFile(catalog datamap.Catalog, m datamap.DataMap) (*file, error) {
	f := &file{imports: map[string]bool{"github.com/uptrace/bun": true}}
	var problems []domain.Problem
	taken := map[string]bool{"Models": true}
	for _, table := range m.Tables() {
		live, ok := catalog.Table(table.Name)
		if !ok {
			problems = append(problems, domain.Problem{
				Table: table.Name, Message: "is not in the catalog", Remedy: "correct the name, or leave the table out",
			})
		}
		problems = append(problems, unwritable(table)...)
		for _, c := range table.Columns {
			if _, ok := live.Column(c.Name); !ok && live.Name != "" {
				problems = append(problems, domain.Problem{
					Table: table.Name, Column: c.Name, Message: "is not in the catalog", Remedy: "correct the name, or leave it out",
				})
			}
		}
		made := &model{Table: table, live: live, name: uniqueName(structName(table.Name), taken)}
		made.nameFields()
		f.models = append(f.models, made)
	}
	for _, made := range f.models {
		made.nameVias(m, f)
		made.isDeleted = made.RowsDeleted() && len(m.Paths(made.Name)) == 1
		made.nameOwners(m)
	}
	return f, m.ManifestError("models", problems)
}

// unwritable returns a problem for each name of the table or its columns that bun could not read from a struct tag.
func unwritable(table datamap.Table) []domain.Problem {
	var problems []domain.Problem
	check := func(column, name string) {
		if strings.ContainsAny(name, ",:;=\"'`\\()") || name == "-" {
			problems = append(problems, domain.Problem{
				Table: table.Name, Column: column, Message: "has a name that cannot be used in a struct tag", Found: name,
			})
		}
	}
	check("", table.Name)
	for _, c := range table.Columns {
		check(c.Name, c.Name)
	}
	return problems
}

func (f *file) model(table string) *model {
	return f.models[slices.IndexFunc(f.models, func(m *model) bool { return m.Name == table })]
}

func (f *file) source(packageName string) []byte {
	var body bytes.Buffer
	body.WriteString("// Models returns the models of the data map.\nfunc Models() []any {\n\treturn []any{\n")
	for _, m := range f.models {
		body.WriteString("\t\t(*" + m.name + ")(nil),\n")
	}
	body.WriteString("\t}\n}\n")
	for _, m := range f.models {
		f.writeModel(&body, m)
	}

	var head bytes.Buffer
	head.WriteString("package " + packageName + "\n\nimport (\n")
	for _, path := range []string{"encoding/json", "time"} {
		if f.imports[path] {
			head.WriteString("\t\"" + path + "\"\n")
		}
	}
	head.WriteString("\n\t\"github.com/uptrace/bun\"\n)\n\n")
	return append(head.Bytes(), body.Bytes()...)
}

// baseTag returns the subject tag of the BaseModel.
func (m *model) baseTag() string {
	words := []string{m.ownedTag(), ifTrue(m.Trusted, "trusted")}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), ",")
}

func (f *file) writeModel(b *bytes.Buffer, m *model) {
	b.WriteString("\n")
	writeComment(b, "", m.name+" is a row of "+m.Name+". "+m.Note)
	b.WriteString("type " + m.name + " struct {\n\tbun.BaseModel " + tags(
		tag{"bun", "table:" + m.Name}, tag{"subject", m.baseTag()},
	) + "\n\n")
	for _, c := range m.Columns {
		live, _ := m.live.Column(c.Name)
		goType, sqlType := f.typeOf(live)
		if needsSurrogate(c, live) {
			sqlType = ""
		}
		writeComment(b, "\t", c.Note)
		b.WriteString("\t" + m.columns[c.Name] + " " + goType + " " + tags(
			tag{"bun", m.bunTag(c, live, sqlType)}, tag{"pii", m.piiTag(c)},
			tag{"subject", ifTrue(slices.Contains(m.SubjectKey, c.Name), "id")},
		) + "\n")
		for i, r := range m.Relations {
			if r.Columns[len(r.Columns)-1] == c.Name {
				f.writeRelation(b, m, i)
			}
		}
	}
	b.WriteString("}\n")
}

// writeRelation writes the field of a relation. It writes nothing if the referenced table is not in the data map.
func (f *file) writeRelation(b *bytes.Buffer, m *model, i int) {
	r := m.Relations[i]
	if m.relations[i] == "" {
		return
	}
	b.WriteString("\t" + m.relations[i] + " *" + f.model(r.References).name + " " + tags(
		tag{"bun", relationTag(r)}, tag{"subject", pathTag(r)},
	) + "\n")
}

// writeComment writes a note as a comment. Each decision in the note begins a new paragraph.
func writeComment(b *bytes.Buffer, indent, note string) {
	const width, mark = 116, "DECIDE:"
	note = strings.TrimSpace(note)
	for note != "" {
		next := strings.Index(note[1:], mark)
		paragraph := note
		if next >= 0 {
			paragraph, note = note[:next+1], note[next+1:]
		} else {
			note = ""
		}
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(indent)+len("// ")+len(line)+1+len(word) > width {
				b.WriteString(indent + "// " + line + "\n")
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		b.WriteString(indent + "// " + line + "\n")
	}
}
