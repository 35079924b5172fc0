package attack

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/domain"
)

// What stands between us and the desk must never be believed.
func TestTheDeskAloneIsBelieved(t *testing.T) {
	const gone = `{"type":"error.list","errors":[{"code":"not_found","message":"x"}]}`
	const contact = `{"type":"contact","id":"c1","email":"a@b"}`
	for i, c := range []struct {
		name, method string
		status       int
		media, body  string
		get          string // the body of GET with 200, "" for the desk's 404
		absent, fine bool
	}{
		{"empty 404", "DELETE", 404, "", "", "", false, false},
		{"html 404", "DELETE", 404, "text/html", gone, "", false, false},
		{"json 404", "DELETE", 404, "application/json", `{"message":"no Route matched"}`, "", false, false},
		{"mixed codes", "DELETE", 404, "application/json", `{"type":"error.list","errors":[{"code":"not_found"},{"code":"token_unauthorized"}]}`, "", false, false},
		{"no errors", "DELETE", 404, "application/json", `{"type":"error.list","errors":[]}`, "", false, false},
		{"twice", "DELETE", 404, "application/json", `{"type":"error.list","type":"error.list","errors":[{"code":"not_found"}]}`, "", false, false},
		{"case", "DELETE", 404, "application/json", `{"Type":"error.list","Errors":[{"Code":"not_found"}]}`, "", false, false},
		{"trailing", "DELETE", 404, "application/json", gone + "<html>", "", false, false},
		{"real 404", "DELETE", 404, "application/json", gone, "", true, true},
		{"merged", "DELETE", 404, "application/json", gone, contact, false, false},
		{"200 empty", "DELETE", 200, "application/json", "", "", false, false},
		{"200 other id", "DELETE", 200, "application/json", `{"type":"contact","id":"c2","deleted":true}`, "", false, false},
		{"200 not deleted", "DELETE", 200, "application/json", `{"type":"contact","id":"c1","deleted":false}`, "", false, false},
		{"200 deleted text", "DELETE", 200, "application/json", `{"type":"contact","id":"c1","deleted":"true"}`, "", false, false},
		{"200 case", "DELETE", 200, "application/json", `{"type":"contact","ID":"c1","deleted":true}`, "", false, false},
		{"200 two ids", "DELETE", 200, "application/json", `{"type":"contact","id":"c2","id":"c1","deleted":true}`, "", false, false},
		{"202 accepted", "DELETE", 202, "application/json", `{}`, "", false, false},
		{"202 empty", "DELETE", 202, "", "", "", false, false},
		{"205", "DELETE", 205, "", "", "", false, false},
		{"204", "DELETE", 204, "", "", "", false, true},
		{"200 html", "DELETE", 200, "text/html", "<html>login</html>", "", false, false},
		{"real", "DELETE", 200, "application/json; charset=utf-8", `{"type":"contact","id":"c1","deleted":true}`, "", false, true},
		{"301", "DELETE", 301, "", "", "", false, false},
	} {
		t.Run(fmt.Sprint(i, " ", c.name), func(t *testing.T) {
			elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Error("redirect followed") }))
			defer elsewhere.Close()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.Header().Set("Content-Type", "application/json")
					if c.get == "" {
						w.WriteHeader(404)
						_, _ = w.Write([]byte(gone))
						return
					}
					_, _ = w.Write([]byte(c.get))
					return
				}
				w.Header().Set("Location", elsewhere.URL)
				if c.media != "" {
					w.Header().Set("Content-Type", c.media)
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			desk, err := supportdesk.New("t", supportdesk.Options{BaseURL: server.URL})
			must(t, err)
			absent, err := desk.EraseSubject(t.Context(), domain.SubjectRef{Kind: "supportdesk", Value: "c1"}, "e")
			if absent != c.absent || (err == nil) != c.fine {
				t.Errorf("absent %v, err %v", absent, err)
			}
		})
	}
	for name, reply := range map[string][2]string{ // contact, search
		"search {}":    {contact, `{}`},
		"search null":  {contact, `{"conversations":null}`},
		"search other": {contact, `{"type":"list","data":[]}`},
		"other":        {`{"type":"contact","id":"c2"}`, `{"type":"conversation.list","conversations":[]}`},
		"html":         {`<html>`, ``},
		"error in 200": {`{"type":"error.list","errors":[{"code":"not_found"}]}`, ``},
		"empty object": {`{}`, `{"conversations":[]}`},
	} {
		t.Run("export "+name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(reply[map[bool]int{true: 0, false: 1}[r.Method == "GET"]]))
			}))
			defer server.Close()
			desk, err := supportdesk.New("t", supportdesk.Options{BaseURL: server.URL})
			must(t, err)
			records, err := desk.ExportSubject(t.Context(), domain.SubjectRef{Kind: "supportdesk", Value: "c1"})
			if err == nil {
				t.Errorf("is believed: %v", records)
			}
		})
	}
	for _, base := range []string{"http://desk.example", "http://127.0.0.1.example", "http://10.0.0.1", "HTTP://x", "http://0.0.0.0:1", "http://localhost.example", "ftp://localhost"} {
		if _, err := supportdesk.New("t", supportdesk.Options{BaseURL: base}); err == nil {
			t.Errorf("%s is taken", base)
		}
	}
}
