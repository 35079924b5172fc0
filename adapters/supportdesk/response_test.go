package supportdesk_test

import (
	"net/http"
	"testing"

	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
)

const notFound = `{"type":"error.list","request_id":"r","errors":[{"code":"not_found","message":"Contact Not Found"}]}`

// notFromDesk returns 404 responses that do not prove that the contact is absent.
func notFromDesk() map[string]desktest.Fault {
	in := func(body string) desktest.Fault { return desktest.Respond(404, "application/json", body) }
	return map[string]desktest.Fault{
		"a page":                   desktest.NotFoundPage(),
		"an ingress":               desktest.Respond(404, "text/plain; charset=utf-8", "default backend - 404"),
		"nothing":                  desktest.Respond(404, "", ""),
		"an empty body":            in(``),
		"an empty object":          in(`{}`),
		"null":                     in(`null`),
		"a list":                   in(`[` + notFound + `]`),
		"other JSON":               in(`{"message":"Not Found","code":"not_found"}`),
		"the error alone":          in(`{"code":"not_found"}`),
		"no type":                  in(`{"errors":[{"code":"not_found"}]}`),
		"another type":             in(`{"type":"error","errors":[{"code":"not_found"}]}`),
		"another case":             in(`{"type":"Error.List","errors":[{"code":"not_found"}]}`),
		"other names":              in(`{"Type":"error.list","Errors":[{"Code":"not_found"}]}`),
		"a contact":                in(`{"type":"contact","id":"` + zoeID + `"}`),
		"no errors":                in(`{"type":"error.list"}`),
		"errors of null":           in(`{"type":"error.list","errors":null}`),
		"an empty list":            in(`{"type":"error.list","errors":[]}`),
		"an error of null":         in(`{"type":"error.list","errors":[null]}`),
		"errors without a list":    in(`{"type":"error.list","errors":{"code":"not_found"}}`),
		"errors as text":           in(`{"type":"error.list","errors":["not_found"]}`),
		"another code":             in(`{"type":"error.list","errors":[{"code":"unauthorized"}]}`),
		"a longer code":            in(`{"type":"error.list","errors":[{"code":"company_not_found"}]}`),
		"a code and another":       in(`{"type":"error.list","errors":[{"code":"not_found"},{"code":"server_error"}]}`),
		"two codes":                in(`{"type":"error.list","errors":[{"code":"server_error","code":"not_found"}]}`),
		"two types":                in(`{"type":"x","type":"error.list","errors":[{"code":"not_found"}]}`),
		"a code as a number":       in(`{"type":"error.list","errors":[{"code":404}]}`),
		"half of it":               in(notFound[:len(notFound)-2]),
		"more than a document":     in(notFound + notFound),
		"a page that says JSON":    in(`<html>not_found</html>`),
		"JSON that says it's HTML": desktest.Respond(404, "text/html", notFound),
		"JSON that says nothing":   desktest.Respond(404, "", notFound),
		"a body that is cut off": func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "10000")
			w.WriteHeader(404)
			_, _ = w.Write([]byte(notFound))
			panic(http.ErrAbortHandler)
		},
		"chunks without the last": func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(404)
			_, _ = w.Write([]byte(notFound))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	}
}

func TestOnlyA404FromTheDeskMakesAContactAbsent(t *testing.T) {
	for name, fault := range notFromDesk() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.desk.Always(fault)
			for method, err := range w.exportAndErase(t.Context(), t) {
				mustRetry(t, err, 0, method+" ")
			}
			w.desk.Always(nil)
			w.desk.Script(desktest.OK, fault) // the search
			records, err := w.ExportSubject(t.Context(), ref(zoeID))
			mustRetry(t, err, 0, "POST ")
			if records != nil {
				t.Errorf("%d records came with the error", len(records))
			}
			w.desk.Script(desktest.Status(404), fault) // the contact, after the deletion
			absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
			mustRetry(t, err, 0, "GET ")
			if absent {
				t.Error("alreadyAbsent is true")
			}
			if absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry); absent || err != nil {
				t.Errorf("trying again: %v, %v", absent, err)
			}
		})
	}
}

func TestA404FromTheDeskMakesAContactAbsent(t *testing.T) {
	for name, fault := range map[string]desktest.Fault{
		"as the vendor has it": desktest.Respond(404, "application/json; charset=utf-8", notFound),
		"with spaces": desktest.Respond(404, "application/json",
			"\n{ \"errors\" : [ {\"code\" : \"not\\u005ffound\"} ], \"type\" : \"error.list\" }\n"),
	} {
		w := newWorld(t)
		w.desk.Always(fault)
		if records, err := w.ExportSubject(t.Context(), ref(zoeID)); len(records) > 0 || err != nil {
			t.Errorf("%s: exported %v, %v", name, records, err)
		}
		if absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry); !absent || err != nil {
			t.Errorf("%s: EraseSubject = %v, %v", name, absent, err)
		}
	}
}

// The vendor documents the response to a GET of a merged contact (404 or 410), but not the response to a DELETE. A 404
// for a DELETE may thus concern a merged contact, so the resolver must send a GET.
func TestAfterA404ForADeletionTheContactIsRequestedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		get   desktest.Fault
		check func(t *testing.T, absent bool, err error)
	}{
		"it is there": {desktest.OK, func(t *testing.T, _ bool, err error) {
			t.Helper()
			mustRetry(t, err, 0, "DELETE got status 404, but GET returned the contact")
		}},
		"it is another": {
			desktest.JSON(`{"type":"contact","id":"6762f0d01bb69f9f2193bb7e"}`),
			func(t *testing.T, _ bool, err error) {
				t.Helper()
				mustBeFinal(t, err, "the contact was merged")
			},
		},
		"it was merged": {desktest.Status(410), func(t *testing.T, _ bool, err error) {
			t.Helper()
			mustBeFinal(t, err, "GET got status 410")
		}},
		"it is not there": {desktest.Status(404), func(t *testing.T, absent bool, err error) {
			t.Helper()
			if !absent || err != nil {
				t.Errorf("EraseSubject = %v, %v", absent, err)
			}
		}},
		"it has no id": {desktest.JSON(`{"type":"contact"}`), func(t *testing.T, _ bool, err error) {
			t.Helper()
			mustRetry(t, err, 0, "GET got a response that cannot be used")
		}},
		"the desk is busy": {desktest.Status(503), func(t *testing.T, _ bool, err error) {
			t.Helper()
			mustRetry(t, err, 0, "GET got status 503")
		}},
		"nothing at all": {desktest.Respond(204, "", ""), func(t *testing.T, _ bool, err error) {
			t.Helper()
			mustRetry(t, err, 0, "GET got a response that cannot be used")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.desk.Script(desktest.Status(404), test.get)
			absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
			test.check(t, absent, err)
			if err != nil && absent {
				t.Error("alreadyAbsent is true with an error")
			}
			got := w.desk.Requests()
			if len(got) != 2 || got[0].Method != "DELETE" || got[1].Method != "GET" || got[0].Path != got[1].Path {
				t.Errorf("the requests are %v", got)
			}
		})
	}
}

func TestAnExportChecksTheIDOfTheContact(t *testing.T) {
	for name, fault := range map[string]desktest.Fault{
		"another id":      desktest.JSON(`{"type":"contact","id":"other","email":"a@example.org"}`),
		"upper case":      desktest.JSON(`{"type":"contact","id":"6762F0D01BB69F9F2193BB7D"}`),
		"no id":           desktest.JSON(`{"type":"contact","email":"a@example.org"}`),
		"a number":        desktest.JSON(`{"type":"contact","id":6762}`),
		"two ids":         desktest.JSON(`{"type":"contact","id":"other","id":"` + zoeID + `"}`),
		"its external id": desktest.JSON(`{"type":"contact","id":"other","external_id":"` + zoeID + `"}`),
		"another type":    desktest.JSON(`{"type":"company","id":"` + zoeID + `"}`),
		"a deleted 204":   desktest.Respond(204, "", ""),
	} {
		w := newWorld(t)
		w.desk.Script(fault)
		records, err := w.ExportSubject(t.Context(), ref(zoeID))
		mustRetry(t, err, 0, "GET got a response that cannot be used")
		if records != nil || len(w.desk.Requests()) != 1 {
			t.Errorf("%s: %d records, %d requests", name, len(records), len(w.desk.Requests()))
		}
	}
}

func TestAPageIsAListOfConversations(t *testing.T) {
	for _, page := range []string{
		`{"type":"list","conversations":[]}`, `{"type":"error.list","conversations":[]}`, `{"type":7,"conversations":[]}`,
		`{"type":"conversation.list","data":[]}`, `{"type":"conversation.list"}`, `{"Conversations":[]}`,
		`{"type":"conversation.list","conversations":[{"type":"contact","id":"1"}]}`,
		`{"type":"conversation.list","conversations":[],"conversations":[]}`,
		`{"type":"conversation.list","conversations":[{"id":"1","state":"open","state":"closed"}]}`,
		`{"type":"conversation.list","conversations":[],"pages":{"next":{"starting_after":"a","starting_after":""}}}`,
		`{"type":"conversation.list","conversations":[],"pages":{"next":{"starting_after":"a"},"next":null}}`,
		`{"type":"conversation.list","conversations":[],"pages":{"next":"a"}}`,
		`{"type":"conversation.list","conversations":[]`,
	} {
		w := newWorld(t)
		w.desk.Script(desktest.OK, desktest.JSON(page))
		records, err := w.ExportSubject(t.Context(), ref(zoeID))
		mustRetry(t, err, 0, "POST got a response that cannot be used")
		if records != nil {
			t.Errorf("%s: exported %v", page, records)
		}
	}
}
