package bunmodels_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
)

// caller is the table of subjects. A row of the other table in these tests is about two callers.
type caller struct {
	bun.BaseModel `bun:"table:callers"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Email         string `bun:"email" pii:"contact,erasure:anonymize"`
}

// sharedModel returns the model of a table whose rows belong to two subjects: a sender and a recipient. The first two
// parameters are options of the subject tags.
func sharedModel(sender, recipient string, fields ...reflect.StructField) any {
	field := func(name string, of any, tag string) reflect.StructField {
		return reflect.StructField{Name: name, Type: reflect.TypeOf(of), Tag: reflect.StructTag(tag)}
	}
	base := field("BaseModel", bun.BaseModel{}, `bun:"table:calls"`)
	base.Anonymous = true
	all := append([]reflect.StructField{
		base, field("ID", int64(0), `bun:"id,pk"`),
		field("SenderID", (*int64)(nil), `bun:"sender_id,unique:sent"`),
		field("Sender", (*caller)(nil), `bun:"rel:belongs-to,join:sender_id=id" subject:"path`+sender+`"`),
		field("RecipientID", (*int64)(nil), `bun:"recipient_id"`),
		field("Recipient", (*caller)(nil), `bun:"rel:belongs-to,join:recipient_id=id" subject:"path`+recipient+`"`),
	}, fields...)
	return reflect.New(reflect.StructOf(all)).Interface()
}

// A unique column is refused only if an erasure writes equal values into rows that it does not delete. Whether it
// deletes a row depends on the relation by which the row belongs to the subject.
func TestUniqueColumnsAreJudgedAlongThePathOfTheirTable(t *testing.T) {
	field := func(name string, of any, tag string) reflect.StructField {
		return reflect.StructField{Name: name, Type: reflect.TypeOf(of), Tag: reflect.StructTag(tag)}
	}
	const del, null = ",erasure:delete", ",erasure:null"
	number := field("Code", int64(0), `bun:"code,unique" pii:"technical,via:Sender"`)
	theme := field("Theme", "", `bun:"theme"`)
	for name, c := range map[string]struct {
		sender, recipient string
		fields            []reflect.StructField
		refused           string
	}{
		"kept by nothing but the paths": {"", "", []reflect.StructField{number}, "calls.code"},
		"deleted, although a column would keep it": {
			del, del, []reflect.StructField{number, theme}, "",
		},
		"deleted along its path":       {del, "", []reflect.StructField{number, theme}, ""},
		"deleted along the other path": {"", del, []reflect.StructField{number}, "calls.code"},
		"deleted along one of its paths": {del, "", []reflect.StructField{field("Code", int64(0),
			`bun:"code,unique" pii:"technical,via:'Sender,Recipient'"`)}, "calls.code"},
		"distinct in a column of the other path alone": {"", "", []reflect.StructField{
			field("Code", int64(0), `bun:"code,unique:pair" pii:"technical,via:Sender"`),
			field("Name", "", `bun:"name,unique:pair" pii:"contact,via:Recipient"`),
		}, "calls.code"},
		"distinct in a column of the same path": {"", "", []reflect.StructField{
			field("Code", int64(0), `bun:"code,unique:pair" pii:"technical,via:Sender"`),
			field("Name", "", `bun:"name,unique:pair" pii:"contact,via:Sender"`),
		}, ""},
		"with a reference that stays": {"", "", []reflect.StructField{
			field("Code", int64(0), `bun:"code,unique:sent" pii:"technical,via:Sender"`),
		}, "calls.code"},
		"with a reference that is set to NULL": {null, "", []reflect.StructField{
			field("Code", int64(0), `bun:"code,unique:sent" pii:"technical,via:Sender"`),
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			models := []any{(*caller)(nil), sharedModel(c.sender, c.recipient, c.fields...)}
			_, err := bunmodels.Read(unconnected(), models, nil)
			if c.refused == "" {
				must(t, err)
				return
			}
			wantManifestError(t, err, c.refused, "is unique in the database")
		})
	}
}

func TestUniqueColumnsAreReportedWithOtherMistakes(t *testing.T) {
	type Login struct {
		bun.BaseModel `bun:"table:logins"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Code          int64     `bun:"code,unique" pii:"contact"`
		Name          string    `bun:"name" pii:"contacts"`
		At            time.Time `bun:"at"`
	}
	type Visit struct { // its plan is refused
		bun.BaseModel `bun:"table:visits"`
		ID            int64  `bun:"id,pk"`
		LoginID       int64  `bun:"login_id" pii:"technical,erasure:anonymize"`
		Login         *Login `bun:"rel:belongs-to,join:login_id=id"`
	}
	_, err := bunmodels.Read(unconnected(), []any{(*Login)(nil), (*Visit)(nil)}, nil)
	wantManifestError(t, err, "logins.code: is unique", "logins.name: has no known category", "visits.login_id: would be")
	type Right struct {
		bun.BaseModel `bun:"table:logins"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Code          int64     `bun:"code,unique" pii:"contact"`
		At            time.Time `bun:"at"`
	}
	type Seen struct {
		bun.BaseModel `bun:"table:visits"`
		ID            int64  `bun:"id,pk"`
		LoginID       int64  `bun:"login_id" pii:"technical,erasure:anonymize"`
		Login         *Right `bun:"rel:belongs-to,join:login_id=id"`
	}
	_, err = bunmodels.Read(unconnected(), []any{(*Right)(nil), (*Seen)(nil)}, nil)
	if problems := domain.Problems(err); len(problems) != 2 {
		t.Errorf("got %v", err)
	}
}
