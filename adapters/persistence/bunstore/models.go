package bunstore

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
)

// CustomType tells how values of a Go type that the reader does not know are exported and anonymized.
type CustomType struct {
	Type      domain.ColumnType // how the value is exported, and which surrogate fits when there is no constant
	Surrogate string            // a constant to anonymize with, in the database's text form; optional
}

// CustomTypes holds a CustomType per Go type, for the types of annotated fields that are neither built in nor well
// known: above all those that implement driver.Valuer, which may encode or encrypt.
type CustomTypes map[reflect.Type]CustomType

// ReadModels makes the data map of the application's bun models, which are given as pointers to structs. It reads
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
// Everything that is wrong with the models is domain.ErrManifest and names the table and the column.
func ReadModels(db *bun.DB, models []any, custom CustomTypes) (domain.DataMap, error) {
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

func readModel(db *bun.DB, model any, custom CustomTypes) (table domain.Table, err error) {
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
	custom CustomTypes
	table  domain.Table
	read   map[string]bool // Go names of the fields whose tags were read
}

func (r *modelReader) readTable(structType reflect.Type) error {
	r.table.Name = r.model.Name
	if base, ok := structType.FieldByName("BaseModel"); ok {
		r.read["BaseModel"] = true
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
	return r.checkUnread(structType)
}

func (r *modelReader) readField(field *schema.Field) error {
	r.read[field.GoName] = true
	column := domain.Column{Name: field.Name}
	custom, isCustom := r.custom[field.IndirectType]
	if isCustom {
		column.Type, column.Surrogate = custom.Type, custom.Surrogate
	} else {
		column.Type, column.Length, column.Surrogate = columnType(field)
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
	}
	r.table.Columns = append(r.table.Columns, column)
	return nil
}

func (r *modelReader) readRelation(relation *schema.Relation) error {
	r.read[relation.Field.GoName] = true
	tag := relation.Field.StructField.Tag
	subject := tag.Get("subject")
	switch {
	case tag.Get("pii") != "":
		return modelError(r.table.Name+"."+relation.Field.GoName, "is a relation and cannot be annotated")
	case subject != "" && subject != "path":
		return modelError(r.table.Name+"."+relation.Field.GoName, `has an unknown subject tag: a relation takes "path"`)
	case subject == "path" && relation.Type != schema.BelongsToRelation:
		return modelError(r.table.Name+"."+relation.Field.GoName, "is marked as the path, but is no belongs-to relation")
	case relation.Type != schema.BelongsToRelation:
		return nil
	}
	read := domain.Relation{References: relation.JoinTable.Name, Path: subject == "path"}
	for i, field := range relation.BasePKs {
		read.Columns = append(read.Columns, field.Name)
		read.ReferencedColumns = append(read.ReferencedColumns, relation.JoinPKs[i].Name)
	}
	r.table.Relations = append(r.table.Relations, read)
	return nil
}

// checkUnread refuses tags on fields that are no columns, which would otherwise be overlooked.
func (r *modelReader) checkUnread(structType reflect.Type) error {
	for i := range structType.NumField() {
		field := structType.Field(i)
		_, annotated := field.Tag.Lookup("pii")
		_, marked := field.Tag.Lookup("subject")
		if (annotated || marked) && !r.read[field.Name] {
			return modelError(r.table.Name+"."+field.Name, "is annotated, but it is no column of the model")
		}
		if field.Anonymous && field.Type.Kind() == reflect.Struct && field.Name != "BaseModel" {
			if err := r.checkUnread(field.Type); err != nil {
				return err
			}
		}
	}
	return nil
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
