package bunmodels_test

import (
	"database/sql/driver"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// strict is a type whose Scan method accepts only texts.
type strict struct{ text string }

func (s strict) Value() (driver.Value, error) { return s.text, nil }

func (s *strict) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return errors.New("no text")
	}
	s.text = text
	return nil
}

func TestAPIITagDefinesTheEffectOfAnErasureOnTheCell(t *testing.T) {
	text := reflect.TypeFor[string]()
	for tag, want := range map[string]datamap.Column{
		`contact,erasure:null`: {
			Type: datamap.TypeText, Personal: &datamap.Annotation{Strategy: domain.StrategyNull},
		},
		`contact,surrogate:''`: {
			Type: datamap.TypeText, Surrogate: datamap.EmptySurrogate,
			Personal: &datamap.Annotation{Strategy: domain.StrategyErase},
		},
		`contact,surrogate: '' `: {
			Type: datamap.TypeText, Surrogate: datamap.EmptySurrogate,
			Personal: &datamap.Annotation{Strategy: domain.StrategyErase},
		},
		`contact,surrogate:'{}@erased.invalid'`: {
			Type: datamap.TypeText, Surrogate: "{}@erased.invalid",
			Personal: &datamap.Annotation{Strategy: domain.StrategyErase},
		},
		`contact,export:no`: {
			Type: datamap.TypeText, Personal: &datamap.Annotation{Strategy: domain.StrategyErase, Export: datamap.ExportNo},
		},
		`contact,export:yes,erasure:anonymize`: {
			Type: datamap.TypeText, Personal: &datamap.Annotation{Strategy: domain.StrategyAnonymize, Export: datamap.ExportYes},
		},
	} {
		t.Run(tag, func(t *testing.T) {
			column, err := readColumn(text, `bun:"data" pii:"`+tag+`"`, nil)
			must(t, err)
			want.Name, want.Personal.Category = "data", domain.CategoryContact
			if !reflect.DeepEqual(column, want) {
				t.Errorf("got  %s\nwant %s", asJSON(t, column), asJSON(t, want))
			}
		})
	}
}

func TestATypeWithoutASurrogateCanBeSetToNull(t *testing.T) {
	for _, value := range []any{strict{}, enveloped("")} {
		column, err := readColumn(reflect.PointerTo(reflect.TypeOf(value)), `bun:"data" pii:"identity,erasure:null"`, nil)
		if err != nil || column.Type != datamap.TypeText || column.Surrogate != "" {
			t.Errorf("%T: got %+v, %v", value, column, err)
		}
	}
}

func TestAnUnusableNullIsRefused(t *testing.T) {
	text := reflect.TypeFor[string]()
	for tag, c := range map[string]struct {
		goType reflect.Type
		says   string // empty if the tag is accepted
	}{
		`bun:"data,notnull" pii:"contact,erasure:null"`:                   {text, "its bun tag says that it is never NULL"},
		`bun:"data,pk" subject:"id" pii:"contact,erasure:null"`:           {text, "its bun tag says that it is never NULL"},
		`bun:"data" pii:"contact,erasure:null,surrogate:gone"`:            {text, "has erasure:null and a surrogate"},
		`bun:"data" pii:"contact,erasure:null"`:                           {reflect.TypeFor[strict](), "cannot read NULL"},
		`bun:"data,nullzero" pii:"contact,erasure:null"`:                  {reflect.TypeFor[*strict](), ""},
		`bun:"data,unique" pii:"contact,erasure:null"`:                    {text, ""},
		`bun:"data,type:inet" pii:"contact,erasure:null"`:                 {text, ""},
		`bun:"data,type:jsonb" pii:"contact,erasure:null"`:                {reflect.TypeFor[map[string]any](), ""},
		`bun:"data,type:jsonb" pii:"contact,erasure:null,surrogate:'[]'"`: {reflect.TypeFor[[]any](), "and a surrogate"},
	} {
		_, err := readColumn(c.goType, tag, nil)
		if c.says == "" {
			must(t, err)
		} else {
			wantManifestError(t, err, "things.", c.says)
		}
	}
}

func TestEqualSurrogatesInAUniqueColumnAreRefused(t *testing.T) {
	text, number := reflect.TypeFor[string](), reflect.TypeFor[int64]()
	for tag, c := range map[string]struct {
		goType reflect.Type
		says   string // empty if the tag is accepted
	}{
		`bun:"data,unique" pii:"contact"`:                               {text, ""},
		`bun:"data,unique,type:varchar(8)" pii:"contact"`:               {text, ""},
		`bun:"data,unique,type:varchar(7)" pii:"contact"`:               {text, "a placeholder"},
		`bun:"data,unique" pii:"contact,surrogate:gone"`:                {text, "a placeholder"},
		`bun:"data,unique" pii:"contact,surrogate:''"`:                  {text, "a placeholder"},
		`bun:"data,unique" pii:"contact,surrogate:'{}@erased.invalid'"`: {text, ""},
		`bun:"data,unique" pii:"contact,erasure:null"`:                  {text, ""},
		`bun:"data,unique" pii:"contact,erasure:retain,reason:r"`:       {number, ""},
		`bun:"data,unique"`:                                                                 {number, ""},
		`bun:"data,unique" pii:"contact" `:                                                  {number, "use erasure:null"},
		`bun:"data,unique" pii:"contact,erasure:anonymize"`:                                 {reflect.TypeFor[bool](), "use erasure:null"},
		`bun:"data,unique:pair" pii:"contact"`:                                              {reflect.TypeFor[[]byte](), "use erasure:null"},
		`bun:"data,unique,type:jsonb" pii:"contact"`:                                        {reflect.TypeFor[map[string]any](), "erasure:null"},
		`bun:"data,unique,array" pii:"contact"`:                                             {reflect.TypeFor[[]string](), "erasure:null"},
		`bun:"data,unique" pii:"contact,erasure:retain,reason:r,retain:1y,since:issued_at"`: {number, "use erasure:null"},
	} {
		_, err := readColumn(c.goType, tag, nil)
		if c.says == "" {
			must(t, err)
		} else {
			wantManifestError(t, err, "things.data", "is unique in the database", c.says)
		}
	}
}

func TestADistinctColumnIsEnoughForAUniqueGroup(t *testing.T) {
	type Distinct struct {
		bun.BaseModel `bun:"table:accounts"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Provider      int64  `bun:"provider,unique:login" pii:"contact"`
		Name          string `bun:"name,unique:login" pii:"contact"`
	}
	type Null struct {
		bun.BaseModel `bun:"table:accounts"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Provider      int64  `bun:"provider,unique:login" pii:"contact"`
		Name          *int64 `bun:"name,unique:login" pii:"contact,erasure:null"`
	}
	type Equal struct {
		bun.BaseModel `bun:"table:accounts"`
		ID            int64  `bun:"id,pk" subject:"id"`
		Provider      int64  `bun:"provider,unique:login" pii:"contact"`
		Name          string `bun:"name,unique:login" pii:"contact,surrogate:gone"`
		Theme         string `bun:"theme"`
	}
	type Kept struct { // two rows may have the same name and different providers
		bun.BaseModel `bun:"table:accounts"`
		ID            int64     `bun:"id,pk" subject:"id"`
		Provider      int64     `bun:"provider,unique:login" pii:"contact"`
		Name          string    `bun:"name,unique:login" pii:"contact,erasure:retain,reason:r,retain:1y,since:at"`
		At            time.Time `bun:"at"`
	}
	type Gone struct {
		bun.BaseModel `bun:"table:accounts" subject:"owned"`
		ID            int64 `bun:"id,pk" subject:"id"`
		Provider      int64 `bun:"provider,unique" pii:"contact"`
	}
	for _, model := range []any{(*Distinct)(nil), (*Null)(nil), (*Gone)(nil)} {
		_, err := bunmodels.Read(unconnected(), []any{model}, nil)
		must(t, err)
	}
	_, err := bunmodels.Read(unconnected(), []any{(*Kept)(nil)}, nil)
	wantManifestError(t, err, "accounts.provider", "is unique in the database")
	_, err = bunmodels.Read(unconnected(), []any{(*Equal)(nil)}, nil)
	problems := domain.Problems(err)
	if len(problems) != 2 || problems[0].Column != "provider" || problems[1].Column != "name" ||
		!strings.Contains(problems[0].Message, "with provider, name") {
		t.Errorf("got %v", err)
	}
}
