package bunmodels_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/habeas-data/habeas/adapters/persistence/bunmodels"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// readColumn reads a model with one column, and returns this column. The column is a field of the given type with the
// given tag.
func readColumn(fieldType reflect.Type, tag string, custom bunmodels.Types) (datamap.Column, error) {
	model := reflect.StructOf([]reflect.StructField{
		{Name: "BaseModel", Anonymous: true, Type: reflect.TypeFor[bun.BaseModel](), Tag: `bun:"table:things"`},
		{Name: "ID", Type: reflect.TypeFor[int64](), Tag: `bun:"id,pk" subject:"id"`},
		{Name: "Data", Type: fieldType, Tag: reflect.StructTag(tag)},
		{Name: "IssuedAt", Type: reflect.TypeFor[time.Time](), Tag: `bun:"issued_at"`},
	})
	dataMap, err := bunmodels.Read(unconnected(), []any{reflect.New(model).Interface()}, custom)
	if err != nil {
		return datamap.Column{}, err
	}
	column, _ := dataMap.SubjectTable().Column("data")
	return column, nil
}

// unconnected returns a database without a connection. Read needs no connection.
func unconnected() *bun.DB { return bun.NewDB(nil, pgdialect.New()) }

// wantManifestError fails the test if err is not a domain.ErrManifest, or if its text lacks one of the parts.
func wantManifestError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, domain.ErrManifest) {
		t.Fatalf("got %v, want an error of the code %q", err, domain.ErrManifest)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestAPIITagDefinesTheAnnotationOfAColumn(t *testing.T) {
	text := reflect.TypeFor[string]()
	for tag, want := range map[string]datamap.Annotation{
		`contact`:                {Category: domain.CategoryContact, Strategy: domain.StrategyErase},
		`identity,erasure:erase`: {Category: domain.CategoryIdentity, Strategy: domain.StrategyErase},
		`financial,erasure:anonymize`: {
			Category: domain.CategoryFinancial, Strategy: domain.StrategyAnonymize,
		},
		`behavioral,basis:consent`: {
			Category: domain.CategoryBehavioral, Strategy: domain.StrategyErase, Basis: domain.BasisConsent,
		},
		`technical,basis:contract`: {
			Category: domain.CategoryTechnical, Strategy: domain.StrategyErase, Basis: domain.BasisContract,
		},
		`location,basis:legal_obligation`: {
			Category: domain.CategoryLocation, Strategy: domain.StrategyErase, Basis: domain.BasisLegalObligation,
		},
		`communication,basis:vital_interests`: {
			Category: domain.CategoryCommunication, Strategy: domain.StrategyErase, Basis: domain.BasisVitalInterests,
		},
		`special,basis:public_task`: {
			Category: domain.CategorySpecial, Strategy: domain.StrategyErase, Basis: domain.BasisPublicTask,
		},
		`contact,basis:legitimate_interests`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyErase, Basis: domain.BasisLegitimateInterests,
		},
		` contact , basis: consent , purpose: news `: {
			Category: domain.CategoryContact, Strategy: domain.StrategyErase, Basis: domain.BasisConsent, Purpose: "news",
		},
		`contact,purpose:to answer: quickly`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyErase, Purpose: "to answer: quickly",
		},
		`contact,purpose:'it''s, fine'`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyErase, Purpose: "it's, fine",
		},
		`contact,purpose:''''`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyErase, Purpose: "'",
		},
		`contact,purpose:' kept '`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyErase, Purpose: " kept ",
		},
		`contact,erasure:retain,reason:'§147 AO'`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyRetain, Reason: "§147 AO",
		},
		`contact,since:issued_at,retain:1y6m30d,reason:tax,erasure:retain`: {
			Category: domain.CategoryContact, Strategy: domain.StrategyRetain, Reason: "tax",
			Retain: datamap.Period{Years: 1, Months: 6, Days: 30}, Since: "issued_at",
		},
	} {
		t.Run(tag, func(t *testing.T) {
			column, err := readColumn(text, `bun:"data" pii:"`+tag+`"`, nil)
			must(t, err)
			if *column.Personal != want {
				t.Errorf("got %+v, want %+v", *column.Personal, want)
			}
		})
	}
}

func TestAPIITagNamesASurrogate(t *testing.T) {
	column, err := readColumn(reflect.TypeFor[string](), `bun:"data" pii:"contact,surrogate:'it''s, gone?'"`, nil)
	must(t, err)
	if column.Surrogate != "it's, gone?" || column.Type != datamap.TypeText {
		t.Errorf("got %+v", column)
	}
}

func TestAColumnWithoutAPIITagIsNotPersonal(t *testing.T) {
	column, err := readColumn(reflect.TypeFor[string](), `bun:"data" json:"subject: pii" validate:"\"pii:\""`, nil)
	must(t, err)
	if column.Personal != nil {
		t.Errorf("got %+v", column.Personal)
	}
}

func TestAPIITagMarksAColumnAsNotPersonal(t *testing.T) {
	for _, tag := range []string{"none", " none "} {
		column, err := readColumn(reflect.TypeFor[[4]int](), `bun:"data" pii:"`+tag+`"`, nil)
		must(t, err)
		if column.Personal != nil || !column.NotPersonal {
			t.Errorf("got %+v", column)
		}
	}
}

func TestAWrongTagIsRefusedWithTheNameOfTheColumn(t *testing.T) {
	for tag, says := range map[string]string{
		`pii:""`:                                                  "no known category",
		`pii:"erasure:delete"`:                                    "no known category",
		`pii:"name"`:                                              "no known category",
		`pii:"'contact'"`:                                         "no known category",
		`pii:"none,erasure:null"`:                                 "is none (no personal data), but has options",
		`pii:"none,"`:                                             "is none (no personal data), but has options",
		`pii:"contact,"`:                                          "a category and then options",
		`pii:"contact,erase"`:                                     "a category and then options",
		`pii:"contact,erasure:"`:                                  "an empty erasure",
		`pii:"contact,purpose:''"`:                                "an empty purpose",
		`pii:"contact,erasure:hide"`:                              "no known erasure strategy",
		`pii:"contact,basis:because"`:                             "no known legal basis",
		`pii:"contact,owner:me"`:                                  "an unknown option: owner",
		`pii:"contact,basis :consent"`:                            "an unknown option",
		`pii:"contact,purpose:a,purpose:b"`:                       "each once",
		`pii:"contact,purpose:'a"`:                                "a quote that is not closed",
		`pii:"contact,purpose:it's"`:                              "a quote that is not closed",
		`pii:"contact,purpose:a 'b' c"`:                           "a quote inside a value that is not quoted",
		`pii:"contact,purpose:'a' b"`:                             "text after a quoted value",
		`pii:"contact,purpose:'a'b'c'"`:                           "text after a quoted value",
		`pii:"contact,erasure:retain"`:                            "retained without a reason",
		`pii:"contact,reason:tax"`:                                "but is not retained",
		`pii:"contact,retain:10y,since:issued_at"`:                "but is not retained",
		`pii:"contact,erasure:retain,reason:tax,retain:10y"`:      "only one of retain and since",
		`pii:"contact,erasure:retain,reason:tax,since:issued_at"`: "only one of retain and since",
		`pii:"contact,erasure:retain,reason:tax,retain:10,since:issued_at"`: `a retain that is not like "10y"`,
		`pii:"contact,erasure:retain,reason:tax,retain:10y,since:paid_at"`:  "a column that the table does not have",
		`pii:"contact,erasure:retain,reason:tax,retain:10y,since:id"`:       "a column that is not a time column",
		`subject:"owned"`:           `a column takes "id"`,
		`subject:"path"`:            `a column takes "id"`,
		`subject:"ID"`:              `a column takes "id"`,
		`pii:contact`:               "a malformed struct tag",
		`pii: "contact"`:            "a malformed struct tag",
		`json:"data, pii:"contact"`: "a malformed struct tag",
		`json:"data",pii:"contact"`: "a malformed struct tag",
		`json:"data" subject:id`:    "a malformed struct tag",
	} {
		t.Run(tag, func(t *testing.T) {
			_, err := readColumn(reflect.TypeFor[string](), `bun:"data" `+tag, nil)
			where := "things.data"
			if strings.Contains(says, "malformed") {
				where = "things.Data"
			}
			wantManifestError(t, err, where, says)
		})
	}
}
