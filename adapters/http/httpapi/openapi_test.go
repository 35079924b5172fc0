package httpapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// description holds the parts of an OpenAPI document that the tests check.
type description struct {
	OpenAPI    string
	Tags       []struct{ Name string }
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	AdditionalProperties any
	Required             []string
	Properties           map[string]struct {
		Enum  []any
		Const any
	}
}

func describe(t *testing.T, api *httpapi.API, prefix string) description {
	t.Helper()
	document, err := api.OpenAPI(prefix)
	require(t, err)
	var d description
	require(t, json.Unmarshal(document, &d))
	return d
}

// operations returns the operations of the document as "operationId method path tags".
func (d description) operations(t *testing.T) []string {
	t.Helper()
	var all []string
	for path, item := range d.Paths {
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			var operation struct {
				OperationID string
				Tags        []string
			}
			require(t, json.Unmarshal(raw, &operation))
			all = append(all, strings.Join([]string{
				operation.OperationID, strings.ToUpper(method), path, strings.Join(operation.Tags, "+"),
			}, " "))
		}
	}
	slices.Sort(all)
	return all
}

func TestTheDocumentHasItsShape(t *testing.T) {
	api := newFixture(t).With(httpapi.WithTags("gdpr", "me", "gdpr"))
	document, err := api.OpenAPI("/me")
	require(t, err)
	goldenFile(t, "openapi.json", document)
	again, err := api.OpenAPI("/me/")
	require(t, err)
	if !bytes.Equal(document, again) {
		t.Error("a second call returns another document")
	}
}

func TestTheDocumentDescribesExactlyTheEndpoints(t *testing.T) {
	f := newFixture(t)
	plain, err := httpapi.New(f.config)
	require(t, err)
	all := newFixture(t, withPurposes(t))
	for _, api := range []*httpapi.API{plain, plain.With(httpapi.WithTags("gdpr", "me")), f.API, all.API} {
		var names []string
		for _, tag := range describe(t, api, "").Tags {
			names = append(names, tag.Name)
		}
		tags := strings.Join(names, "+")
		for prefix, want := range map[string]string{"": "", "/": "", "/me": "/me", "me/": "/me", "/a/b/": "/a/b"} {
			var endpoints []string
			for _, endpoint := range api.Endpoints() {
				path := want + endpoint.Path
				if want != "" && endpoint.Path == "/" {
					path = want
				}
				endpoints = append(endpoints, strings.Join([]string{endpoint.OperationID, endpoint.Method, path, tags}, " "))
			}
			slices.Sort(endpoints)
			if got := describe(t, api, prefix).operations(t); !slices.Equal(got, endpoints) {
				t.Errorf("under %q, %q describes %q", prefix, endpoints, got)
			}
		}
	}
	if _, there := describe(t, plain, "").Components.Schemas["RestrictionStatus"]; there {
		t.Error("describes restrictions, which the API does not have")
	}
}

func TestEveryOperationHasADefaultTag(t *testing.T) {
	f := newFixture(t)
	for want, options := range map[string][]httpapi.Option{
		"gdpr": nil, " gdpr": {httpapi.WithTags()}, "privacy": {httpapi.WithTags("privacy")},
		"a+b": {httpapi.WithTags("privacy"), httpapi.WithTags("a", "b", "a")},
	} {
		for _, operation := range describe(t, f.With(options...), "/me").operations(t) {
			if !strings.HasSuffix(operation, " "+strings.TrimSpace(want)) {
				t.Errorf("want the tags %q: %s", want, operation)
			}
		}
	}
}

func TestParametersOfThePrefixAreDescribed(t *testing.T) {
	d := describe(t, newFixture(t).API, "/{tenant}/users/{user}")
	for path, item := range d.Paths {
		const want = `[{"name":"tenant","in":"path","required":true,"schema":{"type":"string"}},` +
			`{"name":"user","in":"path","required":true,"schema":{"type":"string"}}]`
		var got bytes.Buffer
		require(t, json.Compact(&got, item["parameters"]))
		if got.String() != want {
			t.Errorf("%s: %s", path, &got)
		}
	}
	for _, prefix := range []string{
		"/{", "/}", "/{}", "/{a", "/a}", "/}{a}", "/{a{b}}", "/{a}/{a}", "/{purpose}", "/{a/b}",
	} {
		if _, err := newFixture(t).OpenAPI(prefix); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: %v", prefix, err)
		}
	}
}

func TestTheSchemasAreThoseOfTheModels(t *testing.T) {
	schemas := describe(t, newFixture(t).API, "").Components.Schemas
	models := map[string]any{
		"ConsentRecord":     domain.ConsentRecord{},
		"ConsentStatus":     domain.ConsentStatus{},
		"RestrictionRecord": domain.RestrictionRecord{},
		"RestrictionStatus": domain.RestrictionStatus{},
		"ExportBundle":      domain.ExportBundle{},
		"ExportRecord":      domain.ExportRecord{},
		"ErasureResult":     domain.ErasureResult{},
		"RetainedField":     domain.RetainedField{},
		"Remedies":          domain.Remedies{},
		"Problem":           httpapi.Problem{},
		"FieldError":        domain.FieldError{},
	}
	for name, model := range models {
		var always, all []string
		for _, field := range reflect.VisibleFields(reflect.TypeOf(model)) {
			tag, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			all = append(all, tag)
			if option != "omitempty" && option != "omitzero" {
				always = append(always, tag)
			}
		}
		slices.Sort(all)
		if got := slices.Sorted(maps.Keys(schemas[name].Properties)); !slices.Equal(got, all) {
			t.Errorf("%s has %v, its schema %v", name, all, got)
		}
		if got := schemas[name].Required; !slices.Equal(got, always) {
			t.Errorf("%s always has %v, its schema requires %v", name, always, got)
		}
	}
	for _, name := range []string{"ConsentDecision", "RestrictionDecision"} {
		if schemas[name].AdditionalProperties != false {
			t.Errorf("%s allows unknown fields", name)
		}
	}
	if got := schemas["ExportBundle"].Properties["schema_version"].Const; got != float64(domain.ExportSchemaVersion) {
		t.Errorf("the export's version is %v", got)
	}
	categories := schemas["ExportRecord"].Properties["category"].Enum
	bases := schemas["ExportRecord"].Properties["legal_basis"].Enum
	if len(categories) != 8 || len(bases) != 6+1 { // six legal bases and null
		t.Errorf("%d categories, %d legal bases", len(categories), len(bases))
	}
	for _, category := range categories {
		if text, _ := category.(string); !domain.Category(text).Valid() {
			t.Errorf("there is no category %v", category)
		}
	}
	for _, basis := range bases {
		if text, ok := basis.(string); ok && !domain.LegalBasis(text).Valid() {
			t.Errorf("there is no legal basis %v", basis)
		}
	}
}
