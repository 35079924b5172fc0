// Package bunmodels makes the data map of an application from its bun models and their struct tags.
package bunmodels

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/erasure"
)

// Type tells how values of a Go type that the reader does not know are exported and anonymized.
type Type struct {
	Type      domain.ColumnType // how the value is exported, and which surrogate fits when there is no constant
	Surrogate string            // a constant to anonymize with, in the database's text form; optional
}

// Types holds a Type per Go type, for the types of annotated fields that are neither built in nor well
// known: above all those that implement driver.Valuer, which may encode or encrypt.
type Types map[reflect.Type]Type

// Read makes the data map of the application's bun models, which are given as pointers to structs. It reads
// two struct tags beside bun's own:
//
//	pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"
//
// marks a column as personal data. First comes the category, then in any order erasure (erase, which is the default,
// anonymize, null, retain or delete), basis, purpose, export (yes or no), and for what is retained reason, retain (like
// 10y) and since (a time column of the same table); surrogate is a constant to overwrite with, in which {} stands for
// digits that differ from cell to cell, and a pair of single quotes is the empty text; via is the path to the person
// whom the value belongs to, where there are several. A value with a comma stands in single quotes, in which two of
// them are one. domain.Annotation and domain.Column say what the words mean.
//
//	pii:"none"
//
// says that a column holds no personal data although its name may sound like it; see domain.Column.NotPersonal.
//
//	subject:"id"      on each field of the subject's key
//	subject:"path"    on the relation that leads to the subject, where several do; on several of them if the rows are
//	                  about several people. It may say what becomes of the row, or of the reference, when that person is
//	                  erased, and for which rows it holds: subject:"path,erasure:delete,when:'target_type=account'"
//	subject:"path,references:accounts.id"
//	                  on a column that refers to another table, if the model has no relation for it; without path, it
//	                  is a relation like any other: subject:"references:accounts.id"
//	subject:"owned"   on bun.BaseModel: the whole row is the subject's
//
// Everything that is wrong with the models is one domain.ErrManifest. It lists all mistakes in the order of the models,
// each with the table and the column; see domain.Problem. Columns that the models do not have, or that bun only scans,
// are not seen.
func Read(db *bun.DB, models []any, custom Types) (domain.DataMap, error) {
	if db == nil {
		return domain.DataMap{}, domain.Misconfigured("models", "the database is nil")
	}
	read := make([]*modelReader, len(models))
	for i, model := range models {
		read[i] = readModel(db, model, custom)
	}
	fromParents(read)
	m, err := dataMapOf(read)
	if err == nil {
		err = m.Refused("models", notNull(m, read))
	}
	if err == nil {
		nameChoices(read)
		m, err = dataMapOf(read)
	}
	if err != nil {
		return domain.DataMap{}, erasure.Complete(err)
	}
	return m.WithNotices(unmapped(db, m)...), nil
}

func dataMapOf(models []*modelReader) (domain.DataMap, error) {
	tables := make([]domain.Table, 0, len(models))
	var problems []domain.Problem
	for _, r := range models {
		tables, problems = append(tables, r.table), append(problems, r.problems...)
	}
	return domain.ReadDataMap("models", tables, problems)
}

// readModel reads one model. It returns a table with a name alone if bun cannot read the model.
func readModel(db *bun.DB, model any, custom Types) (r *modelReader) {
	pointer := reflect.TypeOf(model)
	if pointer == nil || pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return unreadable(fmt.Sprintf("%T", model), "is not a pointer to a struct", "give models like (*User)(nil)")
	}
	defer func() {
		if problem := recover(); problem != nil { // bun panics over its own tags
			r = unreadable(pointer.Elem().String(), fmt.Sprint(problem), "correct its bun tags")
		}
	}()
	r = &modelReader{model: db.Table(pointer.Elem()), custom: custom, read: map[string]bool{}}
	r.readTable(pointer.Elem())
	return r
}

func unreadable(name, message, remedy string) *modelReader {
	return &modelReader{
		table: domain.Table{Name: name}, problems: []domain.Problem{{Table: name, Message: message, Remedy: remedy}},
	}
}

// modelReader reads one model.
type modelReader struct {
	model    *schema.Table
	custom   Types
	table    domain.Table
	problems []domain.Problem
	read     map[string]bool // the fields whose tags were read, by their place in the struct
	declared []declared      // relations of other tables to this one
}

// report notes a mistake of the table, or of one of its columns or fields.
func (r *modelReader) report(column string, problem domain.Problem) {
	problem.Table, problem.Column = r.table.Name, column
	r.problems = append(r.problems, problem)
}

var baseModelType = reflect.TypeFor[bun.BaseModel]()

func (r *modelReader) readTable(structType reflect.Type) {
	r.table.Name = r.model.Name
	if base, ok := structType.FieldByName("BaseModel"); ok && base.Type == baseModelType {
		r.read[fmt.Sprint(base.Index)] = true
		r.readBase(base.Tag)
	}
	for _, key := range r.model.PKs {
		r.table.PrimaryKey = append(r.table.PrimaryKey, key.Name)
	}
	for _, field := range r.model.Fields {
		r.readField(field)
	}
	r.readRelations()
	r.checkUnique()
	r.checkUnread(structType, nil)
}

func (r *modelReader) readBase(tag reflect.StructTag) {
	if text, annotated := tag.Lookup("pii"); annotated {
		r.report("", domain.Problem{
			Message: "has a pii tag on its BaseModel: only columns are annotated", Found: text,
			Remedy: `annotate its columns, or mark the whole row: subject:"owned"`,
		})
	}
	switch subject := tag.Get("subject"); subject {
	case "owned":
		r.table.Owned = true
	case "":
	default:
		r.report("", domain.Problem{
			Message: `has an unknown subject tag on its BaseModel: it takes "owned"`, Found: subject,
			Possible: []string{"owned"},
		})
	}
}

func (r *modelReader) readField(field *schema.Field) {
	r.read[fmt.Sprint(field.Index)] = true
	column := domain.Column{Name: field.Name}
	column.Type, column.Length, column.Surrogate = columnType(field)
	if custom, ok := r.custom[field.IndirectType]; ok {
		column.Type, column.Surrogate = custom.Type, custom.Surrogate
	}
	switch subject := field.StructField.Tag.Get("subject"); subject {
	case "id":
		r.table.SubjectKey = append(r.table.SubjectKey, column.Name)
	case "":
	default:
		r.readReference(field, subject)
	}
	if text, annotated := field.StructField.Tag.Lookup("pii"); annotated {
		if column.NotPersonal = strings.TrimSpace(text) == notPersonal; !column.NotPersonal {
			r.readAnnotation(field, &column, text)
		}
	}
	r.table.Columns = append(r.table.Columns, column)
}

// wellFormed is what reflect.StructTag can read.
var wellFormed = regexp.MustCompile(`^(?: *[^\s:",]+:"(?:\\.|[^"\\])*")* *$`)

// checkUnread refuses tags that would otherwise be overlooked: those of fields that are no columns, and those that Go
// cannot read. The struct is embedded in the model at the index.
func (r *modelReader) checkUnread(structType reflect.Type, index []int) {
	for i := range structType.NumField() {
		field := structType.Field(i)
		here := append(slices.Clone(index), i)
		tag := string(field.Tag)
		_, annotated := field.Tag.Lookup("pii")
		_, marked := field.Tag.Lookup("subject")
		switch {
		case !wellFormed.MatchString(tag) && (strings.Contains(tag, "pii:") || strings.Contains(tag, "subject:")):
			r.report(field.Name, domain.Problem{
				Message: `has a malformed struct tag: it must be like bun:"..." pii:"..."`, Found: tag,
			})
		case (annotated || marked) && !r.read[fmt.Sprint(here)]:
			r.report(field.Name, domain.Problem{
				Message: "is annotated, but it is no column of the model", Found: tag,
				Remedy: "annotate the field that bun maps to the column, or take the tag off",
			})
		}
		embedded, isEmbedded := embeddedStruct(field)
		if isEmbedded && embedded != structType {
			r.checkUnread(embedded, here)
		}
	}
}

// embeddedStruct returns the struct whose fields are columns of the model that the field is in.
func embeddedStruct(field reflect.StructField) (reflect.Type, bool) {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	embeds := field.Anonymous || strings.Contains(field.Tag.Get("bun"), "embed:")
	return t, embeds && t.Kind() == reflect.Struct && t != baseModelType
}
