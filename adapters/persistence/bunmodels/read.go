// Package bunmodels reads the data map of an application from its bun models and their struct tags.
package bunmodels

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/erasure"
)

// Type describes how to export and anonymize values of a Go type that Read does not know.
type Type struct {
	Type      datamap.ColumnType // determines the exported value, and the surrogate if Surrogate is empty
	Surrogate string             // a constant that overwrites the value, as the database writes it as text; optional
}

// Types describes Go types that Read does not know. Read needs an entry for the type of an annotated field, unless Read
// can derive the column type. For example, a type that implements driver.Valuer needs an entry, because it may encode
// or encrypt its values.
type Types map[reflect.Type]Type

// Read reads the data map from the application's bun models, which are pointers to structs. It reads two struct tags in
// addition to the tags of bun: pii and subject.
//
// The pii tag marks the column of a field as personal data:
//
//	pii:"contact,erasure:anonymize,basis:contract,purpose:'account login'"
//
// It begins with the category of the data. These options can follow in any order:
//
//   - erasure: erase (the default), anonymize, null, retain or delete
//   - basis, purpose: the legal basis and the purpose of the processing
//   - export: yes or no
//   - reason: the reason to retain the column
//   - retain: the retention period, such as 10y
//   - since: the column of the same table that holds the start of the retention period
//   - from: year_end if the period counts from the end of the calendar year of this start
//   - zone: the time zone of the calendar years of the data map, the same in all tags; see datamap.DataMap.WithZone
//   - surrogate: a constant that overwrites the value; {} in it becomes digits that differ in every cell
//   - always, without a value: the surrogate overwrites NULL, too, which otherwise stays
//   - via: the path to the person to whom the value belongs, if the table has several paths
//   - ref: the resolver whose external system uses the value as a key
//
// Put a value that contains a comma in single quotes, and write each single quote inside it twice. A surrogate of two
// single quotes overwrites with the empty text. See datamap.Annotation and datamap.Column for the details.
//
// The following tag states that a column is not personal data, although its name may suggest it (see
// datamap.Column.NotPersonal):
//
//	pii:"none"
//
// The subject tag states which subject a row belongs to. Mark each field of the subject's key in the table of subjects:
//
//	subject:"id"
//
// If a table has several relations that lead to a subject, mark the relation to the subject to whom the rows belong. If
// the rows are about several people, mark several relations:
//
//	subject:"path"
//
// Two options may follow the word path, as in subject:"path,erasure:delete,when:'target_type=account'":
//
//   - erasure: the effect on the row if this subject is erased; delete deletes the row, null sets the reference to NULL
//   - when: a condition; the relation applies only to rows that satisfy it
//
// If a column refers to another table, but the model has no relation for this reference, declare the relation in the
// subject tag of the column. The word path is optional, and marks the relation:
//
//	subject:"path,references:accounts.id"
//
// A relation of a table to itself is not a path. The following tag sets it to NULL in the rows of other people if an
// erasure deletes the row to which they refer (see datamap.Relation.OnErasure):
//
//	subject:"erasure:null"
//
// Mark a relation that is not a path if the row and the row that it refers to always belong to the same person (see
// datamap.Relation.SamePerson):
//
//	subject:"same"
//
// Mark bun.BaseModel if all columns of a row belong to the subject. If the table has several paths, via names the paths
// on which an erasure deletes the rows (see datamap.Table.Via):
//
//	subject:"owned"
//	subject:"owned,via:Liker"
//
// Mark bun.BaseModel of a view that is not plain, if the view shows all rows of a subject, and its rules or triggers
// write to the table below it (see datamap.Table.Trusted). A comma separates the two words, as in "owned,trusted":
//
//	subject:"trusted"
//
// Read returns domain.ErrManifest if the models have mistakes. The error lists all mistakes in the order of the models,
// each with its table and column; see domain.Problem. Read does not find columns of the database that no model
// contains, or columns that are marked as scanonly for bun.
func Read(db *bun.DB, models []any, custom Types) (datamap.DataMap, error) {
	if db == nil {
		return datamap.DataMap{}, domain.Misconfigured("models", "the database is nil")
	}
	read := make([]*modelReader, len(models))
	for i, model := range models {
		read[i] = readModel(db, model, custom)
	}
	fromParents(read)
	for _, r := range read {
		r.checkReferences(read)
	}
	zone := zoneOf(read)
	m, err := dataMapOf(read)
	if err = withPaths(m, err, read); err == nil {
		removeUnusedNames(read)
		m, err = dataMapOf(read)
	}
	if err != nil {
		return datamap.DataMap{}, erasure.Complete(err)
	}
	if m = m.WithNotices(unmapped(db, m)...); zone != "" {
		return m.WithZone(zone)
	}
	return m, nil
}

// zoneOf returns the zone that the pii tags of the models name, or "". It reports tags with another zone, an unknown
// zone, and a zone without an effect.
func zoneOf(models []*modelReader) (zone string) {
	for _, r := range models {
		for _, of := range r.zoned {
			zone = cmp.Or(zone, of.zone)
			_, unknown := datamap.DataMap{}.WithZone(of.zone)
			switch {
			case unknown != nil:
				r.report(of.column, domain.Problem{
					Message: "its pii tag has an unknown zone", Found: of.zone, Remedy: "give a zone like Europe/Berlin",
				})
			case of.from != datamap.FromYearEnd:
				r.report(of.column, domain.Problem{
					Message: "its pii tag has a zone, which has an effect only on calendar years", Found: of.zone,
					Remedy: "add from:" + datamap.FromYearEnd + ", or remove the zone",
				})
			case of.zone != zone:
				r.report(of.column, domain.Problem{
					Message: "its pii tag has another zone than another tag, but a data map has one zone", Found: of.zone,
					Possible: []string{zone},
				})
			}
		}
	}
	return zone
}

func dataMapOf(models []*modelReader) (datamap.DataMap, error) {
	tables := make([]datamap.Table, 0, len(models))
	var problems []domain.Problem
	for _, r := range models {
		tables, problems = append(tables, r.table), append(problems, r.problems...)
	}
	return datamap.ReadDataMap("models", tables, problems)
}

// withPaths adds further mistakes to err, which is the error of the data map or nil. To find these mistakes, it needs
// the paths of the data map, which are the chains of relations from each table to the table of subjects.
func withPaths(m datamap.DataMap, err error, models []*modelReader) error {
	if err == nil {
		return m.ManifestError("models", slices.Concat(notNull(m, models), collisions(m, models)))
	}
	return datamap.AddProblems(err, func(m datamap.DataMap) []domain.Problem {
		return slices.Concat(notNull(m, models), collisions(m, models))
	})
}

// readModel reads a model. If bun cannot read the model, the result has only the name of the model and a problem.
func readModel(db *bun.DB, model any, custom Types) (r *modelReader) {
	pointer := reflect.TypeOf(model)
	if pointer == nil || pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Struct {
		return unreadable(fmt.Sprintf("%T", model), "is not a pointer to a struct", "give models like (*User)(nil)")
	}
	defer func() {
		if problem := recover(); problem != nil { // bun panics if its own tags are wrong
			r = unreadable(pointer.Elem().String(), fmt.Sprint(problem), "correct its bun tags")
		}
	}()
	r = &modelReader{model: db.Table(pointer.Elem()), custom: custom, read: map[string]bool{}}
	r.readTable(pointer.Elem())
	return r
}

func unreadable(name, message, remedy string) *modelReader {
	return &modelReader{
		table: datamap.Table{Name: name}, problems: []domain.Problem{{Table: name, Message: message, Remedy: remedy}},
	}
}

// modelReader reads a model.
type modelReader struct {
	model    *schema.Table
	custom   Types
	table    datamap.Table
	problems []domain.Problem
	read     map[string]bool // true for each field whose tags were read, by its index in the struct
	declared []declared      // the relations of other tables to this table
	tagged   []tagged        // the columns whose subject tags refer to other tables
	zoned    []zoned         // the columns whose pii tags have a zone
}

type zoned struct{ column, zone, from string }

// report records a mistake in a column or a field, or in the table if the column is empty.
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
	r.checkUnread(structType, nil)
}

func (r *modelReader) readBase(tag reflect.StructTag) {
	if text, annotated := tag.Lookup("pii"); annotated {
		r.report("", domain.Problem{
			Message: "has a pii tag on its BaseModel: only columns can be annotated", Found: text,
			Remedy: `annotate its columns, or mark all of them with subject:"owned"`,
		})
	}
	subject := tag.Get("subject")
	if subject == "" {
		return
	}
	words, err := splitTag(subject)
	wrong := err != nil
	for _, word := range words {
		via, isVia := strings.CutPrefix(word, "via:")
		switch {
		case word == "owned":
			r.table.Owned = true
		case word == "trusted":
			r.table.Trusted = true
		case isVia && r.table.Via == "" && slices.Contains(words, "owned") && via != "":
			r.table.Via, err = unquote(via)
			wrong = wrong || err != nil
		default:
			wrong = true
		}
	}
	if wrong {
		r.report("", domain.Problem{
			Message: `has an unknown subject tag on its BaseModel: it takes "owned", with the paths on which an erasure ` +
				`deletes its rows if it has several, and "trusted"`,
			Found: subject, Possible: []string{"owned", "owned,via:...", "trusted", "owned,trusted"},
		})
	}
}

func (r *modelReader) readField(field *schema.Field) {
	r.read[fmt.Sprint(field.Index)] = true
	column := datamap.Column{Name: field.Name}
	column.Type, column.Length, column.Surrogate = columnType(field)
	if custom, ok := r.custom[field.IndirectType]; ok {
		column.Type, column.Surrogate = custom.Type, custom.Surrogate
	}
	column.SurrogateOfType = column.Surrogate != ""
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

// wellFormed matches a struct tag that reflect.StructTag can parse.
var wellFormed = regexp.MustCompile(`^(?: *[^\s:",]+:"(?:\\.|[^"\\])*")* *$`)

// checkUnread reports tags that would otherwise have no effect: tags of fields that are not columns, and tags that Go
// cannot parse. The parameter index is the position of structType in the model if structType is embedded.
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
				Message: "is annotated, but is not a column of the model", Found: tag,
				Remedy: "annotate the field that bun maps to the column, or remove the tag",
			})
		}
		embedded, isEmbedded := embeddedStruct(field)
		if isEmbedded && embedded != structType {
			r.checkUnread(embedded, here)
		}
	}
}

// embeddedStruct returns the type of an embedded struct, and reports whether the fields of the struct become columns of
// the model.
func embeddedStruct(field reflect.StructField) (reflect.Type, bool) {
	t := field.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	embeds := field.Anonymous || strings.Contains(field.Tag.Get("bun"), "embed:")
	return t, embeds && t.Kind() == reflect.Struct && t != baseModelType
}
