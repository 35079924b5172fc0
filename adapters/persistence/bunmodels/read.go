// Package bunmodels makes the data map of an application from its bun models and their struct tags.
package bunmodels

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
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
// marks a column as personal data. First comes the category, then in any order erasure (delete, which is the
// default, anonymize or retain), basis, purpose, and for what is retained reason, retain (like 10y) and since (a time
// column of the same table); surrogate is a constant to anonymize with. A value with a comma stands in single quotes,
// in which two of them are one.
//
//	subject:"id"      on each field of the subject's key
//	subject:"path"    on the belongs-to relation that leads to the subject, where several do
//	subject:"owned"   on bun.BaseModel: the whole row is the subject's
//
// Everything that is wrong with the models is domain.ErrManifest and names the table and the column. Columns that the
// models do not have, or that bun only scans, are not seen.
func Read(db *bun.DB, models []any, custom Types) (domain.DataMap, error) {
	if db == nil {
		return domain.DataMap{}, domain.Misconfigured("models", "the database is nil")
	}
	tables := make([]domain.Table, 0, len(models))
	for _, model := range models {
		table, err := readModel(db, model, custom)
		if err != nil {
			return domain.DataMap{}, err
		}
		tables = append(tables, table)
	}
	return domain.NewDataMap(tables...)
}

func readModel(db *bun.DB, model any, custom Types) (table domain.Table, err error) {
	pointer := reflect.TypeOf(model)
	if pointer == nil || pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return domain.Table{}, modelError(fmt.Sprintf("%T", model), "is not a pointer to a struct")
	}
	defer func() {
		if problem := recover(); problem != nil { // bun panics over its own tags
			err = modelError(pointer.Elem().String(), fmt.Sprint(problem))
		}
	}()
	r := &modelReader{model: db.Table(pointer.Elem()), custom: custom, read: map[string]bool{}}
	if err := r.readTable(pointer.Elem()); err != nil {
		return domain.Table{}, err
	}
	return r.table, nil
}

// modelReader reads one model.
type modelReader struct {
	model  *schema.Table
	custom Types
	table  domain.Table
	read   map[string]bool // the fields whose tags were read, by their place in the struct
}

var baseModelType = reflect.TypeFor[bun.BaseModel]()

func (r *modelReader) readTable(structType reflect.Type) error {
	r.table.Name = r.model.Name
	if base, ok := structType.FieldByName("BaseModel"); ok && base.Type == baseModelType {
		r.read[fmt.Sprint(base.Index)] = true
		if _, annotated := base.Tag.Lookup("pii"); annotated {
			return modelError(r.table.Name, "has a pii tag on its BaseModel: only columns are annotated")
		}
		switch base.Tag.Get("subject") {
		case "owned":
			r.table.Owned = true
		case "":
		default:
			return modelError(r.table.Name, `has an unknown subject tag on its BaseModel: it takes "owned"`)
		}
	}
	for _, key := range r.model.PKs {
		r.table.PrimaryKey = append(r.table.PrimaryKey, key.Name)
	}
	for _, field := range r.model.Fields {
		if err := r.readField(field); err != nil {
			return err
		}
	}
	for _, name := range sortedNames(r.model.Relations) {
		if err := r.readRelation(r.model.Relations[name]); err != nil {
			return err
		}
	}
	return r.checkUnread(structType, nil)
}

func (r *modelReader) readField(field *schema.Field) error {
	r.read[fmt.Sprint(field.Index)] = true
	column := domain.Column{Name: field.Name}
	column.Type, column.Length, column.Surrogate = columnType(field)
	if custom, ok := r.custom[field.IndirectType]; ok {
		column.Type, column.Surrogate = custom.Type, custom.Surrogate
	}
	switch field.StructField.Tag.Get("subject") {
	case "id":
		r.table.SubjectKey = append(r.table.SubjectKey, column.Name)
	case "":
	default:
		return modelError(r.table.Name+"."+column.Name, `has an unknown subject tag: a column takes "id"`)
	}
	if text, annotated := field.StructField.Tag.Lookup("pii"); annotated {
		tag, err := parseTag(text)
		if err != nil {
			return modelError(r.table.Name+"."+column.Name, err.Error())
		}
		column.Personal = &tag.annotation
		if tag.surrogate != "" {
			column.Surrogate = tag.surrogate
			if column.Type == "" {
				column.Type = domain.TypeText
			}
		}
		if column.Type == "" {
			return modelError(r.table.Name+"."+column.Name, "is of the type "+field.IndirectType.String()+
				", for which no surrogate is known: register a CustomType, or give the column a surrogate")
		}
		if problem := surrogateProblem(field, column); problem != "" {
			return modelError(r.table.Name+"."+column.Name, problem)
		}
	}
	r.table.Columns = append(r.table.Columns, column)
	return nil
}

// surrogateProblem says what is wrong with the constant to anonymize a column with. It must not be found by the first
// erasure, nor by the first query of the application after it.
func surrogateProblem(field *schema.Field, column domain.Column) string {
	switch {
	case column.Surrogate == "":
		return ""
	case column.Length > 0 && utf8.RuneCountInString(column.Surrogate) > column.Length:
		return "has a surrogate that is longer than the column"
	case field.ScanWithCheck(reflect.New(field.StructField.Type).Elem(), column.Surrogate) != nil:
		return "has a surrogate that its field could not read: it is of the type " + field.IndirectType.String()
	}
	return ""
}

func (r *modelReader) readRelation(relation *schema.Relation) error {
	r.read[fmt.Sprint(relation.Field.Index)] = true
	tag := relation.Field.StructField.Tag
	subject := tag.Get("subject")
	_, annotated := tag.Lookup("pii")
	switch {
	case annotated:
		return modelError(r.table.Name+"."+relation.Field.GoName, "is a relation and cannot be annotated")
	case subject != "" && subject != "path":
		return modelError(r.table.Name+"."+relation.Field.GoName, `has an unknown subject tag: a relation takes "path"`)
	case subject == "path" && relation.Type != schema.BelongsToRelation:
		return modelError(r.table.Name+"."+relation.Field.GoName, "is marked as the path, but is no belongs-to relation")
	case subject == "path" && relation.Condition != nil:
		return modelError(r.table.Name+"."+relation.Field.GoName,
			"is marked as the path, but holds for some rows only (join_on)")
	case relation.Type != schema.BelongsToRelation, relation.Condition != nil:
		return nil
	}
	read := domain.Relation{
		References: relation.JoinTable.Name,
		Path:       subject == "path",
		SetsNull:   relation.OnDelete == "ON DELETE SET NULL",
	}
	for i, field := range relation.BasePKs {
		read.Columns = append(read.Columns, field.Name)
		read.ReferencedColumns = append(read.ReferencedColumns, relation.JoinPKs[i].Name)
	}
	r.table.Relations = append(r.table.Relations, read)
	return nil
}

// wellFormed is what reflect.StructTag can read.
var wellFormed = regexp.MustCompile(`^(?: *[^\s:",]+:"(?:\\.|[^"\\])*")* *$`)

// checkUnread refuses tags that would otherwise be overlooked: those of fields that are no columns, and those that Go
// cannot read. The struct is embedded in the model at the index.
func (r *modelReader) checkUnread(structType reflect.Type, index []int) error {
	for i := range structType.NumField() {
		field := structType.Field(i)
		here := append(slices.Clone(index), i)
		tag := string(field.Tag)
		if !wellFormed.MatchString(tag) && (strings.Contains(tag, "pii:") || strings.Contains(tag, "subject:")) {
			return modelError(r.table.Name+"."+field.Name, `has a malformed struct tag: it must be like bun:"..." pii:"..."`)
		}
		_, annotated := field.Tag.Lookup("pii")
		_, marked := field.Tag.Lookup("subject")
		if (annotated || marked) && !r.read[fmt.Sprint(here)] {
			return modelError(r.table.Name+"."+field.Name, "is annotated, but it is no column of the model")
		}
		embedded, isEmbedded := embeddedStruct(field)
		if isEmbedded && embedded != structType {
			if err := r.checkUnread(embedded, here); err != nil {
				return err
			}
		}
	}
	return nil
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

func sortedNames(relations map[string]*schema.Relation) []string {
	names := make([]string, 0, len(relations))
	for name := range relations {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func modelError(where, message string) error {
	return &domain.Error{Code: domain.ErrManifest, Op: "models", Message: where + ": " + message}
}
