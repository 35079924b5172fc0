package bunmodels_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

type Base struct {
	ID   int64  `bun:"id,pk" subject:"id"`
	Name string `bun:"name" pii:"identity"`
}

type address struct {
	Street string `bun:"street" pii:"location"`
	City   string `bun:"city"`
}

func TestEmbeddedStructsAddTheirColumns(t *testing.T) {
	type Customer struct {
		bun.BaseModel `bun:"table:customers"`
		Base
		Home address  `bun:"embed:home_"`
		Work *address `bun:"embed:work_"`
	}
	type ByPointer struct {
		bun.BaseModel `bun:"table:customers"`
		*Base
		Home *address `bun:"embed:home_"`
		Work address  `bun:"embed:work_"`
	}
	location := &datamap.Annotation{Category: domain.CategoryLocation, Strategy: domain.StrategyErase}
	for _, model := range []any{(*Customer)(nil), (*ByPointer)(nil)} {
		wantTables(t, read(t, model), datamap.Table{
			Name: "customers", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
			Columns: []datamap.Column{
				{Name: "id", Type: datamap.TypeBigInt},
				{Name: "name", Type: datamap.TypeText, Personal: identity()},
				{Name: "home_street", Type: datamap.TypeText, Personal: location},
				{Name: "home_city", Type: datamap.TypeText},
				{Name: "work_street", Type: datamap.TypeText, Personal: location},
				{Name: "work_city", Type: datamap.TypeText},
			},
		})
	}
}

func TestAnAnnotationOutsideOfAColumnIsRefused(t *testing.T) {
	type Skipped struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Data          string `bun:"-" pii:"identity"`
	}
	type Unexported struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk" subject:"id"`
		data          string `pii:"identity"`
	}
	type SkippedKey struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Data          string `bun:"-" subject:"id"`
	}
	type OnlyScanned struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Data          string `bun:"data,scanonly" pii:"identity"`
	}
	type Embedding struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64   `bun:"id,pk" subject:"id"`
		Data          address `bun:"embed:home_" pii:"location"`
	}
	_ = Unexported{}.data
	for _, model := range []any{
		(*Skipped)(nil), (*Unexported)(nil), (*SkippedKey)(nil), (*OnlyScanned)(nil), (*Embedding)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), []any{model}, nil)
		wantManifestError(t, err, "wrong.", "ata: is annotated, but is not a column of the model")
	}
}

// If an outer struct declares a column again, bun ignores the field of the embedded struct. The pii tag of this field
// would then have no effect.
func TestAnAnnotationThatIsShadowedIsRefused(t *testing.T) {
	type Shadowing struct {
		bun.BaseModel `bun:"table:wrong"`
		Base
		Name string `bun:"name"`
	}
	type hidden struct {
		Note string `bun:"-" pii:"identity"`
	}
	type Inside struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Note          string `bun:"note" pii:"identity"`
		Hidden        hidden `bun:"embed:hidden_"`
	}
	type Ambiguous struct {
		bun.BaseModel `bun:"table:wrong"`
		Base
		address
		Other struct {
			Street string `bun:"street" pii:"location"`
		} `bun:"embed:"`
	}
	for where, model := range map[string]any{
		"wrong.Name":   (*Shadowing)(nil),
		"wrong.Note":   (*Inside)(nil),
		"wrong.Street": (*Ambiguous)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), []any{model}, nil)
		wantManifestError(t, err, where, "is not a column of the model")
	}
}

func TestABaseModelTakesOnlyItsOwnTag(t *testing.T) {
	type Typo struct {
		bun.BaseModel `bun:"table:wrong" subject:"own"`
		ID            int64 `bun:"id,pk" subject:"id"`
	}
	type Personal struct {
		bun.BaseModel `bun:"table:wrong" pii:"identity"`
		ID            int64 `bun:"id,pk" subject:"id"`
	}
	for says, model := range map[string]any{
		`it takes "owned"`:          (*Typo)(nil),
		"a pii tag on its BaseMode": (*Personal)(nil),
	} {
		_, err := bunmodels.Read(unconnected(), []any{model}, nil)
		wantManifestError(t, err, "wrong", says)
	}
}

// An application may have its own embedded struct with the name BaseModel, which is not bun.BaseModel.
func TestAStructNamedBaseModelIsReadLikeAnyOther(t *testing.T) {
	type BaseModel struct {
		ID   int64  `bun:"id,pk" subject:"id"`
		Note string `bun:"-" pii:"identity"`
	}
	type Account struct {
		BaseModel
		Name string `bun:"name"`
	}
	_, err := bunmodels.Read(unconnected(), []any{(*Account)(nil)}, nil)
	wantManifestError(t, err, "accounts.Note", "is not a column of the model")
}

func TestAnInvalidModelIsRefused(t *testing.T) {
	type NoKey struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64 `bun:"id" subject:"id"`
	}
	type NoSubject struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            int64 `bun:"id,pk"`
	}
	type NoKeyType struct {
		bun.BaseModel `bun:"table:wrong"`
		ID            bool `bun:"id,pk" subject:"id"`
	}
	number := 1
	for _, test := range []struct {
		models []any
		says   string
	}{
		{nil, "no table is marked as the subject's table"},
		{[]any{nil}, "is not a pointer to a struct"},
		{[]any{person{}}, "person: is not a pointer to a struct"},
		{[]any{&number}, "*int: is not a pointer to a struct"},
		{[]any{(*person)(nil), (*person)(nil)}, "people: is declared twice"},
		{[]any{(*person)(nil), (*documentedUser)(nil)}, "users: is marked as the subject's table, but the mark is also on"},
		{[]any{(*person)(nil), (*label)(nil)}, "labels: does not reach the subject's table"},
		{[]any{(*NoKey)(nil)}, "wrong: has no primary key"},
		{[]any{(*NoSubject)(nil)}, "no table is marked as the subject's table"},
		{[]any{(*NoKeyType)(nil)}, "wrong.id: cannot hold a subject id"},
	} {
		_, err := bunmodels.Read(unconnected(), test.models, nil)
		wantManifestError(t, err, test.says)
	}
}

func TestTheRemedyOfATableWithoutAPathNamesTheTag(t *testing.T) {
	_, err := bunmodels.Read(unconnected(), []any{(*person)(nil), (*label)(nil)}, nil)
	if problems := domain.Problems(err); len(problems) != 1 ||
		!strings.Contains(problems[0].Remedy, `subject:"references:table.column"`) {
		t.Errorf("got %+v", problems)
	}
}

// Only a surrogate that a person has declared is a mistake of this person.
func TestASurrogateThatTheTypeChoseIsNoNotice(t *testing.T) {
	type Visit struct {
		bun.BaseModel `bun:"table:visits" subject:"owned"`
		ID            int64      `bun:"id,pk"`
		PersonID      int64      `bun:"person_id"`
		Person        *person    `bun:"rel:belongs-to,join:person_id=id"`
		Pages         []string   `bun:"pages,type:jsonb" pii:"behavioral"`
		From          netip.Addr `bun:"from" pii:"technical"`
		Note          string     `bun:"note" pii:"behavioral,surrogate:gone"`
	}
	m, err := bunmodels.Read(unconnected(), []any{(*person)(nil), (*Visit)(nil)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if notices := m.Notices(); len(notices) != 1 || notices[0].Column != "note" {
		t.Errorf("got %v", notices)
	}
}
