package bunmodels

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// declared is a relation from another table to this table. The model of this table declares it, as has-one or has-many.
type declared struct {
	table    string
	relation datamap.Relation
	field    string // the field that declares the relation
	tagged   string // the subject tag of that field
}

func (r *modelReader) readRelations() {
	for _, name := range slices.Sorted(maps.Keys(r.model.Relations)) {
		r.readRelation(r.model.Relations[name])
	}
}

func (r *modelReader) readRelation(relation *schema.Relation) {
	r.read[fmt.Sprint(relation.Field.Index)] = true
	field := relation.Field.GoName
	tag := relation.Field.StructField.Tag
	if text, annotated := tag.Lookup("pii"); annotated {
		r.report(field, domain.Problem{
			Message: "is a relation and cannot be annotated", Found: text, Remedy: "annotate the columns of the other table",
		})
	}
	read := datamap.Relation{Name: field, SetsNull: relation.OnDelete == "ON DELETE SET NULL"}
	subject := tag.Get("subject")
	if problem := readPath(subject, &read); problem.Message != "" {
		r.report(field, problem)
	}
	if problem := pathProblem(relation, read); problem.Message != "" {
		problem.Found = subject
		r.report(field, problem)
	}
	if relation.Condition != nil && read.When == nil {
		return
	}
	switch relation.Type {
	case schema.BelongsToRelation:
		read.References = relation.JoinTable.Name
		read.Columns, read.ReferencedColumns = namesOf(relation.BasePKs), namesOf(relation.JoinPKs)
		if slices.ContainsFunc(r.table.Relations, read.Equals) {
			r.report(read.Columns[0], domain.Problem{
				Message: `has the option "references" in its subject tag, but the model already has this relation`, Found: field,
				Remedy: "remove the option from the column, and mark the relation " + field,
			})
			return
		}
		r.table.Relations = append(r.table.Relations, read)
	case schema.HasOneRelation, schema.HasManyRelation:
		if pointsAway(relation) {
			return
		}
		read.References, read.SetsNull = r.table.Name, false
		read.Columns, read.ReferencedColumns = namesOf(relation.JoinPKs), namesOf(relation.BasePKs)
		if relation.PolymorphicField != nil && read.When == nil {
			read.When = &datamap.Condition{Column: relation.PolymorphicField.Name, Value: relation.PolymorphicValue}
		}
		r.declared = append(r.declared, declared{relation.JoinTable.Name, read, field, subject})
	}
}

// pathProblem returns a problem if a subject tag marks a relation that cannot lead from a row to its subject. For
// example, it returns a problem for a many-to-many relation.
func pathProblem(relation *schema.Relation, read datamap.Relation) domain.Problem {
	switch {
	case !read.Path && read.OnErasure == "":
	case relation.Type == schema.ManyToManyRelation:
		return domain.Problem{
			Message: "is marked as the path, but is not a belongs-to relation",
			Remedy:  "mark the belongs-to relation of the link table, whose model must be among the models",
		}
	case relation.Type == schema.HasOneRelation && pointsAway(relation):
		return domain.Problem{
			Message: "is marked as the path, but is not a belongs-to relation", Remedy: "declare it as rel:belongs-to",
		}
	case relation.Condition != nil && read.When == nil:
		return domain.Problem{
			Message: "is marked as the path, but holds only for some rows (join_on)",
			Remedy:  "add the condition: when:'column=value'",
		}
	}
	return domain.Problem{}
}

// pointsAway reports whether a has-one relation is a reference from this table to the key of the other table, like a
// belongs-to relation.
func pointsAway(relation *schema.Relation) bool {
	all := func(fields []*schema.Field) bool {
		return !slices.ContainsFunc(fields, func(f *schema.Field) bool { return !f.IsPK })
	}
	return relation.Type == schema.HasOneRelation && all(relation.JoinPKs) && !all(relation.BasePKs)
}

func namesOf(fields []*schema.Field) []string {
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	return names
}

// readReference reads a subject tag by which a column refers to another table. The model needs such a tag if it
// declares no relation for the column.
func (r *modelReader) readReference(field *schema.Field, text string) {
	read := datamap.Relation{Name: field.GoName, Columns: []string{field.Name}}
	problem := domain.Problem{Message: "its subject tag has a quote that is not closed"}
	if parts, err := splitTag(text); err == nil {
		word, options := parts[0], parts[1:]
		read.Path = word == "path"
		if !read.Path && (word == "same" || strings.Contains(word, ":")) {
			options = parts
		}
		problem = readOptions(options, append([]string{"references"}, pathOptions...), &read)
	}
	if problem.Message == "" && read.References == "" {
		problem = domain.Problem{
			Message:  `has an unknown subject tag: a column takes "id", or the table and the column that it refers to`,
			Possible: []string{"id", "references:table.column", "path,references:table.column"},
		}
	}
	if problem.Message != "" {
		problem.Found = cmp.Or(problem.Found, text)
		r.report(field.Name, problem)
	}
	if read.References != "" {
		r.table.Relations = append(r.table.Relations, read)
		r.tagged = append(r.tagged, tagged{field.Name, text, read.References})
	}
}

// tagged is a column whose subject tag says to which table it refers.
type tagged struct{ column, text, table string }

// checkReferences reports each column whose subject tag names a table that no model has.
func (r *modelReader) checkReferences(models []*modelReader) {
	tables := make([]string, len(models))
	for i, model := range models {
		tables[i] = model.table.Name
	}
	for _, reference := range r.tagged {
		if !slices.Contains(tables, reference.table) {
			r.report(reference.column, domain.Problem{
				Message: "its subject tag refers to a table that no model has", Found: reference.text, Possible: tables,
				Remedy: "correct the name, or add the model of the table",
			})
		}
	}
}

// pathOptions are the options that can follow the word path in the subject tag of a relation.
var pathOptions = []string{"erasure", "when", "same"}

// readPath parses the subject tag of a relation. The tag has the word path and options, or only the options same and
// erasure if the relation leads to its own table or begins the only path. readPath sets the fields of the relation
// accordingly.
func readPath(text string, into *datamap.Relation) domain.Problem {
	if text == "" {
		return domain.Problem{}
	}
	parts, err := splitTag(text)
	if err != nil {
		return domain.Problem{Message: "its subject tag has a quote that is not closed", Found: text}
	}
	if parts[0] == "same" || strings.HasPrefix(parts[0], "erasure:") {
		return readOptions(parts, pathOptions, into)
	}
	if parts[0] != "path" {
		return domain.Problem{
			Message: `has an unknown subject tag: a relation takes "path"`, Found: text,
			Possible: []string{"path", "erasure:null", "same"},
		}
	}
	into.Path = true
	return readOptions(parts[1:], pathOptions, into)
}

// readOptions parses the options of a subject tag, and sets the fields of the relation accordingly.
func readOptions(parts, allowed []string, into *datamap.Relation) domain.Problem {
	for _, part := range parts {
		name, quoted, _ := strings.Cut(part, ":")
		value, err := unquote(quoted)
		column, equals, isCondition := strings.Cut(value, "=")
		said := name == "erasure" && into.OnErasure != "" || name == "when" && into.When != nil ||
			name == "references" && into.References != "" || name == "same" && (into.SamePerson || part != name)
		switch {
		case !slices.Contains(allowed, name) || said:
			return domain.Problem{
				Message: "its subject tag has an unknown or repeated option: " + name, Found: part, Possible: allowed,
			}
		case err != nil:
			return domain.Problem{
				Message: "its subject tag has a value with only a part of it in single quotes", Found: part,
				Remedy: "put the complete value in single quotes, and write each single quote inside it twice",
			}
		case name == "same":
			into.SamePerson = true
		case name == "references":
			dot := strings.LastIndex(value, ".")
			if dot < 1 || dot == len(value)-1 {
				return domain.Problem{
					Message: "its subject tag has a reference that is not like references:table.column", Found: part,
				}
			}
			into.References, into.ReferencedColumns = value[:dot], []string{value[dot+1:]}
		case name == "erasure":
			into.OnErasure = domain.Strategy(value)
			if value != string(domain.StrategyDelete) && value != string(domain.StrategyNull) {
				into.OnErasure = ""
				return domain.Problem{
					Message: "its subject tag has an unknown value of erasure", Found: value,
					Possible: []string{string(domain.StrategyDelete), string(domain.StrategyNull)},
					Remedy:   "use delete to delete the row, or null to set the reference to NULL",
				}
			}
		case !isCondition:
			return domain.Problem{
				Message: "its subject tag has a condition that is not like when:'column=value'", Found: part,
			}
		default:
			into.When = &datamap.Condition{Column: strings.TrimSpace(column), Value: strings.TrimSpace(equals)}
		}
	}
	return domain.Problem{}
}
