package supportdesk_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

func TestAnExportHasTheContactAndItsConversations(t *testing.T) {
	record := func(field, row string, category domain.Category, value any) domain.ExportRecord {
		return domain.ExportRecord{Field: field, Row: row, Category: category, Value: value}
	}
	want := []domain.ExportRecord{
		record("contact.email", "contact/"+zoeID, domain.CategoryContact, "zoe@example.org"),
		record("contact.name", "contact/"+zoeID, domain.CategoryIdentity, "Zoe"),
		record("contact.phone", "contact/"+zoeID, domain.CategoryContact, "+49301234567"),
		record("conversation.515.created_at", "conversation/515", domain.CategoryBehavioral, created),
		record("conversation.515.updated_at", "conversation/515", domain.CategoryBehavioral, updated),
		record("conversation.515.state", "conversation/515", domain.CategoryBehavioral, "open"),
		record("conversation.516.created_at", "conversation/516", domain.CategoryBehavioral, created),
		record("conversation.516.updated_at", "conversation/516", domain.CategoryBehavioral, updated),
		record("conversation.516.state", "conversation/516", domain.CategoryBehavioral, "open"),
	}
	if got := newWorld(t).export(t); !reflect.DeepEqual(got, want) {
		t.Errorf("exported\n%v\nwant\n%v", got, want)
	}
}

func TestTheSurfaceHasTheFieldsOfTheDesign(t *testing.T) {
	surface := newWorld(t).CoveredSurface()
	want := []domain.CoveredField{
		{Field: "contact.email", Category: domain.CategoryContact},
		{Field: "contact.name", Category: domain.CategoryIdentity},
		{Field: "contact.phone", Category: domain.CategoryContact},
		{Field: "conversation.{id}.created_at", Category: domain.CategoryBehavioral},
		{Field: "conversation.{id}.updated_at", Category: domain.CategoryBehavioral},
		{Field: "conversation.{id}.state", Category: domain.CategoryBehavioral},
	}
	if !slices.Equal(surface.Fields, want) {
		t.Errorf("Fields = %v", surface.Fields)
	}
	for text, list := range map[string][]string{
		"conversation parts": surface.Exclusions, "custom attributes": surface.Exclusions,
		"7 days": surface.Notes, "satisfaction ratings": surface.Notes,
	} {
		if !strings.Contains(strings.Join(list, "\n"), text) {
			t.Errorf("%q is missing in %q", text, list)
		}
	}
}

func TestEachCallReturnsItsOwnSurface(t *testing.T) {
	w := newWorld(t)
	surface := w.CoveredSurface()
	surface.Fields[0].Field, surface.Exclusions[0], surface.Notes[0] = "x", "x", "x"
	if again := w.CoveredSurface(); reflect.DeepEqual(again, surface) || again.Fields[0].Field == "x" {
		t.Error("the surface is shared")
	}
}

func TestAFieldThatIsAbsentOrNullHasNoRecord(t *testing.T) {
	for _, contact := range []string{
		`{"type":"contact","id":"` + zoeID + `"}`,
		`{"id":"\u0036762f0d01bb69f9f2193bb7d"}`,
		`{"type":null,"id":"` + zoeID + `"}`,
		`{"type":"contact","id":"` + zoeID + `","email":null,"name":null,"phone":null}`,
		`{"type":"contact","id":"` + zoeID + `","EMAIL":"of another field","Name":"of another field"}`,
	} {
		w := newWorld(t)
		w.desk.Script(desktest.JSON(contact), desktest.JSON(`{"conversations":[{"id":"9","state":null,"created_at":""}]}`))
		if records := w.export(t); len(records) > 0 {
			t.Errorf("%s was exported as %v", contact, records)
		}
	}
}

func TestScalarsAreExportedWithoutConversion(t *testing.T) {
	w := newWorld(t)
	w.desk.Script(
		desktest.JSON(`{"type":"contact","id":"`+zoeID+`","email":"","name":true,"phone":49301234567890123456789}`),
		desktest.JSON(`{"conversations":[{"id":515,"state":"closed","created_at":null}]}`),
	)
	want := map[string]any{
		"contact.email": "", "contact.name": true, "contact.phone": domain.Number("49301234567890123456789"),
		"conversation.515.state": "closed",
	}
	if got := values(w.export(t)); !reflect.DeepEqual(got, want) {
		t.Errorf("exported %v, want %v", got, want)
	}
}

func TestTimesAreUnixSecondsInAnyForm(t *testing.T) {
	whole := time.Unix(1734537546, 0).UTC()
	for sent, want := range map[string]any{
		`1734537546`:                  whole,
		`1734537546.0`:                whole,
		`1.734537546e9`:               whole,
		`"1734537546"`:                whole,
		`"1734537546.000"`:            whole,
		`1734537546.1`:                whole.Add(100 * time.Millisecond),
		`1734537546.123456`:           whole.Add(123456 * time.Microsecond),
		`"1734537546.25"`:             whole.Add(250 * time.Millisecond),
		`0`:                           time.Unix(0, 0).UTC(),
		`-1.5`:                        time.Unix(-2, 5e8).UTC(),
		`253402300799`:                time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		`"2024-12-18T15:59:06Z"`:      whole,
		`"2024-12-18T16:59:06+01:00"`: whole,
		`null`:                        nil,
		`""`:                          nil,
	} {
		w := newWorld(t)
		w.desk.Script(desktest.OK, desktest.JSON(`{"conversations":[{"id":"9","created_at":`+sent+`}]}`))
		got, present := values(w.export(t))["conversation.9.created_at"]
		if got != want || present != (want != nil) {
			t.Errorf("%s was exported as %v, want %v", sent, got, want)
		}
	}
}

// If a field has a value of an unexpected type, the export must fail. An export without the value would look complete,
// and the value could contain data that must not be exported.
func TestAResponseOfAnUnexpectedShapeFailsTheExport(t *testing.T) {
	contact := func(fields string) []desktest.Fault {
		return []desktest.Fault{desktest.JSON(`{"type":"contact","id":"` + zoeID + `",` + fields + `}`)}
	}
	page := func(body string) []desktest.Fault { return []desktest.Fault{desktest.OK, desktest.JSON(body)} }
	one := func(fields string) []desktest.Fault { return page(`{"conversations":[{` + fields + `}]}`) }
	for name, script := range map[string][]desktest.Fault{
		"no object":                  {desktest.JSON(`[]`)},
		"null":                       {desktest.JSON(`null`)},
		"text":                       {desktest.JSON(`"contact"`)},
		"nothing":                    {desktest.JSON(``)},
		"more than one document":     {desktest.JSON(`{"type":"contact","id":"1"}{}`)},
		"an error":                   {desktest.JSON(`{"type":"error.list","id":"1","errors":[]}`)},
		"an empty object":            {desktest.JSON(`{}`)},
		"JSON that says it is HTML":  {desktest.Body("text/html", `{"type":"contact","id":"1"}`)},
		"JSON that says nothing":     {desktest.Body("", `{"type":"contact","id":"1"}`)},
		"an object for an email":     contact(`"email":{"custom":"attribute"}`),
		"a list for a name":          contact(`"name":["Zoe"]`),
		"no list":                    page(`{}`),
		"an object for a list":       page(`{"conversations":{}}`),
		"a conversation that is 7":   page(`{"conversations":[7]}`),
		"a conversation that is nil": page(`{"conversations":[null]}`),
		"no id":                      one(`"state":"open"`),
		"an empty id":                one(`"id":""`),
		"a list for an id":           one(`"id":["1"]`),
		"an object for a state":      one(`"id":"1","state":{"body":"text"}`),
		"a time that is true":        one(`"id":"1","created_at":true`),
		"a time that is text":        one(`"id":"1","created_at":"yesterday"`),
		"a time that is an object":   one(`"id":"1","created_at":{}`),
		"a time in milliseconds":     one(`"id":"1","created_at":1734537546000`),
		"a time that is not finite":  one(`"id":"1","created_at":"NaN"`),
		"a time beyond everything":   one(`"id":"1","updated_at":1e300`),
		"pages that are a list":      page(`{"conversations":[],"pages":[]}`),
		"a next page that is a URL":  page(`{"conversations":[],"pages":{"next":"https://desk.example/p2"}}`),
		"a cursor that is a number":  page(`{"conversations":[],"pages":{"next":{"starting_after":7}}}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.desk.Script(script...)
			records, err := w.ExportSubject(t.Context(), ref(zoeID))
			mustRetry(t, err, 0, "got a response that cannot be used")
			if records != nil {
				t.Errorf("%d records came with the error", len(records))
			}
		})
	}
}

func TestContentTypesMayHaveParametersAndSuffixes(t *testing.T) {
	for _, media := range []string{
		"application/json", "application/json; charset=utf-8", "Application/JSON", "application/vnd.desk+json",
	} {
		w := newWorld(t)
		w.desk.Script(desktest.Body(media, `{"type":"contact","id":"`+zoeID+`","email":"a@example.org"}`))
		if got := values(w.export(t))["contact.email"]; got != "a@example.org" {
			t.Errorf("%s: exported %v", media, got)
		}
	}
}

func TestAContactThatIsMergedIsNotAbsent(t *testing.T) {
	w := newWorld(t)
	w.desk.Merge(zoeID, "other")
	for _, err := range w.exportAndErase(t.Context(), t) {
		mustBeFinal(t, err, "got status 410")
	}
}

func TestEveryExportedValueIsJSON(t *testing.T) {
	encoded, err := json.Marshal(newWorld(t).export(t))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(encoded), `"value":"2024-12-18T16:39:06Z"`) {
		t.Errorf("no time in %s", encoded)
	}
}

func TestASearchThatIsNotFoundFailsTheExport(t *testing.T) {
	w := newWorld(t)
	w.desk.Script(desktest.OK, desktest.Status(404))
	_, err := w.ExportSubject(t.Context(), ref(zoeID))
	mustBeFinal(t, err, "POST got status 404")
}
