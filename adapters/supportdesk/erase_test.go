package supportdesk_test

import (
	"net/http"
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
			t.Fatal("the desk still knows the contact")
		}
	}
	if records := w.export(t); len(records) > 0 {
		t.Errorf("%d records are left", len(records))
	}
}

func TestADeletionWithABodyMustSaySo(t *testing.T) {
	for body, fault := range map[string]desktest.Fault{
		"deleted: false":         desktest.NotDeleted(),
		"nothing about it":       desktest.JSON(`{"type":"contact","id":"1"}`),
		"deleted: null":          desktest.JSON(`{"deleted":null}`),
		"deleted as text":        desktest.JSON(`{"deleted":"true"}`),
		"another field":          desktest.JSON(`{"Deleted":true}`),
		"a list":                 desktest.JSON(`[{"deleted":true}]`),
		"HTML":                   desktest.HTML(),
		"JSON as text":           desktest.Body("text/plain", `{"deleted":true}`),
		"half of it":             desktest.TruncateJSON,
		"a connection that ends": desktest.CutBody,
	} {
		t.Run(body, func(t *testing.T) {
			w := newWorld(t)
			w.desk.Script(fault)
			_, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
			mustRetry(t, err, 0, "DELETE ")
			if _, err := w.EraseSubject(t.Context(), ref(zoeID), entry); err != nil {
				t.Errorf("trying again failed: %v", err)
			}
		})
	}
}

func TestADeletionWithoutABodyIsBelieved(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent} {
		w := newWorld(t)
		w.desk.Script(func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { w.WriteHeader(status) })
		if absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry); absent || err != nil {
			t.Errorf("%d: EraseSubject = %v, %v", status, absent, err)
		}
	}
}

// The desk has deleted, and nobody heard of it.
func TestAnErasureWhoseAnswerWasLostIsFoundDone(t *testing.T) {
	w := newWorld(t)
	w.desk.Script(desktest.LoseAnswer)
	_, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
	mustRetry(t, err, 0, "DELETE got no answer")
	if absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry); !absent || err != nil {
		t.Errorf("EraseSubject = %v, %v, want alreadyAbsent", absent, err)
	}
}
