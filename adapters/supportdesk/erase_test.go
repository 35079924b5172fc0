package supportdesk_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
)

func TestAnErasureDeletesTheContact(t *testing.T) {
	w := newWorld(t)
	for _, wantAbsent := range []bool{false, true, true} {
		absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
		if err != nil || absent != wantAbsent {
			t.Fatalf("EraseSubject = %v, %v, want %v", absent, err, wantAbsent)
		}
		if w.desk.Knows(zoeID) {
			t.Fatal("the desk still has the contact")
		}
	}
	if records := w.export(t); len(records) > 0 {
		t.Errorf("%d records are left", len(records))
	}
}

func TestADeletionMustBeConfirmedForTheContact(t *testing.T) {
	deleted := func(id string) string { return `{"type":"contact","id":` + id + `,"deleted":true}` }
	mine := `"` + zoeID + `"`
	for body, fault := range map[string]desktest.Fault{
		"deleted: false":         desktest.NotDeleted(),
		"deleted: false, mine":   desktest.JSON(`{"type":"contact","id":` + mine + `,"deleted":false}`),
		"deleted is absent":      desktest.JSON(`{"type":"contact","id":` + mine + `}`),
		"deleted: null":          desktest.JSON(`{"id":` + mine + `,"deleted":null}`),
		"deleted as text":        desktest.JSON(`{"id":` + mine + `,"deleted":"true"}`),
		"another field":          desktest.JSON(`{"id":` + mine + `,"Deleted":true}`),
		"no id":                  desktest.JSON(`{"type":"contact","deleted":true}`),
		"an id of null":          desktest.JSON(deleted(`null`)),
		"another id":             desktest.JSON(deleted(`"6762f0d01bb69f9f2193bb7e"`)),
		"an id in upper case":    desktest.JSON(deleted(strings.ToUpper(mine))),
		"an id with a space":     desktest.JSON(deleted(`" ` + zoeID + `"`)),
		"an id in a list":        desktest.JSON(deleted(`[` + mine + `]`)),
		"its id as another's":    desktest.JSON(`{"type":"contact","id":"1","external_id":` + mine + `,"deleted":true}`),
		"two ids":                desktest.JSON(`{"id":"1","id":` + mine + `,"deleted":true}`),
		"deleted and not":        desktest.JSON(`{"id":` + mine + `,"deleted":false,"deleted":true}`),
		"another type":           desktest.JSON(`{"type":"error.list","id":` + mine + `,"deleted":true}`),
		"more than a document":   desktest.JSON(deleted(mine) + `{}`),
		"a list":                 desktest.JSON(`[` + deleted(mine) + `]`),
		"null":                   desktest.JSON(`null`),
		"an empty 200":           desktest.JSON(``),
		"an empty 202":           desktest.Respond(202, "application/json", ""),
		"an empty 205":           desktest.Respond(205, "application/json", ""),
		"HTML":                   desktest.HTML(),
		"JSON as text":           desktest.Body("text/plain", deleted(mine)),
		"JSON without a type":    desktest.Body("", deleted(mine)),
		"half of it":             desktest.TruncateJSON,
		"a connection that ends": desktest.CutBody,
		"invalid UTF-8":          desktest.JSON(`{"x":"` + "\xff" + `","id":` + mine + `,"deleted":true}`),
	} {
		t.Run(body, func(t *testing.T) {
			w := newWorld(t)
			w.desk.Script(fault)
			absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
			mustRetry(t, err, 0, "DELETE ")
			if absent {
				t.Error("alreadyAbsent is true")
			}
			if _, err := w.EraseSubject(t.Context(), ref(zoeID), entry); err != nil {
				t.Errorf("trying again failed: %v", err)
			}
		})
	}
}

func TestADeletionThatIsConfirmedSucceeds(t *testing.T) {
	for name, test := range map[string]struct{ id, body string }{
		"as the vendor has it": {zoeID, `{"id":"` + zoeID + `","external_id":"70","type":"contact","deleted":true}`},
		"without a type":       {zoeID, `{"deleted":true,"id":"` + zoeID + `"}`},
		"with an escape":       {zoeID, `{"id":"\u0036762f0d01bb69f9f2193bb7d","deleted":true}`},
		"as a number":          {"515", `{"id":515,"deleted":true}`},
	} {
		w := newWorld(t)
		w.desk.Script(desktest.JSON(test.body))
		if absent, err := w.EraseSubject(t.Context(), ref(test.id), entry); absent || err != nil {
			t.Errorf("%s: EraseSubject = %v, %v", name, absent, err)
		}
	}
	w := newWorld(t)
	w.desk.Script(func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { w.WriteHeader(http.StatusNoContent) })
	if absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry); absent || err != nil {
		t.Errorf("204: EraseSubject = %v, %v", absent, err)
	}
}

// The desk deletes the contact, but the resolver does not receive the response. The retry must return alreadyAbsent.
func TestARetryAfterALostResponseReturnsAlreadyAbsent(t *testing.T) {
	w := newWorld(t)
	w.desk.Script(desktest.LoseResponse)
	_, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
	mustRetry(t, err, 0, "DELETE got no response")
	if absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry); !absent || err != nil {
		t.Errorf("EraseSubject = %v, %v, want alreadyAbsent", absent, err)
	}
}
