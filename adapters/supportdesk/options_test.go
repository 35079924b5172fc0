package supportdesk_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/domain"
)

func TestWhatCannotWorkIsRefusedAtStartUp(t *testing.T) {
	for name, test := range map[string]struct {
		token   string
		options supportdesk.Options
		text    string
	}{
		"no token":               {"", supportdesk.Options{}, "token is empty"},
		"token with a newline":   {token + "\n", supportdesk.Options{}, "token holds"},
		"token with a space":     {"a b", supportdesk.Options{}, "token holds"},
		"token with a NUL":       {"a\x00b", supportdesk.Options{}, "token holds"},
		"token with DEL":         {"a\x7f", supportdesk.Options{}, "token holds"},
		"token beyond ASCII":     {"tökén", supportdesk.Options{}, "token holds"},
		"token that is no text":  {"a\xff", supportdesk.Options{}, "token holds"},
		"no scheme":              {token, supportdesk.Options{BaseURL: "api.intercom.io"}, "begin with https"},
		"another scheme":         {token, supportdesk.Options{BaseURL: "ftp://api.intercom.io"}, "begin with https"},
		"no host":                {token, supportdesk.Options{BaseURL: "https:///contacts"}, "no host"},
		"a port only":            {token, supportdesk.Options{BaseURL: "https://:443"}, "no host"},
		"opaque":                 {token, supportdesk.Options{BaseURL: "https:api.intercom.io"}, "no host"},
		"a user":                 {token, supportdesk.Options{BaseURL: "https://me:pw-secret@desk.example"}, "no user name"},
		"a user without a name":  {token, supportdesk.Options{BaseURL: "https://@desk.example"}, "no user name"},
		"a query":                {token, supportdesk.Options{BaseURL: "https://desk.example?a=b"}, "no query"},
		"an empty query":         {token, supportdesk.Options{BaseURL: "https://desk.example?"}, "no query"},
		"a fragment":             {token, supportdesk.Options{BaseURL: "https://desk.example#a"}, "no query and no fragment"},
		"an empty fragment":      {token, supportdesk.Options{BaseURL: "https://desk.example#"}, "no query and no fragment"},
		"no URL":                 {token, supportdesk.Options{BaseURL: "https://pw-secret\x7f"}, "no URL"},
		"negative timeout":       {token, supportdesk.Options{Timeout: -1}, "Timeout is negative"},
		"version with a newline": {token, supportdesk.Options{APIVersion: "2.16\r\nX: y"}, "APIVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			resolver, err := supportdesk.New(test.token, test.options)
			if !errors.Is(err, domain.ErrConfiguration) || resolver != nil {
				t.Fatalf("New = %v, %v, want ErrConfiguration", resolver, err)
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("the error is %q, want it to say %q", err, test.text)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q quotes what it was given", err)
			}
		})
	}
}

// recorded is a transport that answers nothing and keeps the request.
type recorded struct{ last *http.Request }

func (r *recorded) RoundTrip(request *http.Request) (*http.Response, error) {
	r.last = request
	return nil, errors.New("not sent")
}

func TestTheDefaultsAreThoseOfTheVendor(t *testing.T) {
	var transport recorded
	resolver, err := supportdesk.New(token, supportdesk.Options{Transport: &transport})
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if _, err := resolver.ExportSubject(t.Context(), ref(zoeID)); err == nil {
		t.Fatal("nothing was sent, and the export succeeded")
	}
	if got := transport.last.URL.String(); got != "https://api.intercom.io/contacts/"+zoeID {
		t.Errorf("URL = %s", got)
	}
	if got := transport.last.Header.Get("Intercom-Version"); got != "2.16" {
		t.Errorf("Intercom-Version = %q", got)
	}
	deadline, ok := transport.last.Context().Deadline()
	if timeout := deadline.Sub(before); !ok || timeout < 10*time.Second || timeout > 11*time.Second {
		t.Errorf("the request has a deadline (%v) after %v, want 10 s", ok, timeout)
	}
}

func TestABaseURLMayHaveAPathAndASlash(t *testing.T) {
	for _, base := range []string{"https://desk.example/v1/", "https://desk.example/v1"} {
		var transport recorded
		resolver, err := supportdesk.New(token, supportdesk.Options{BaseURL: base, Transport: &transport})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = resolver.EraseSubject(t.Context(), ref(zoeID), entry)
		if got := transport.last.URL.String(); got != "https://desk.example/v1/contacts/"+zoeID {
			t.Errorf("URL = %s", got)
		}
	}
}

func TestNothingThatPrintsTheResolverFindsTheToken(t *testing.T) {
	resolver := newWorld(t).Resolver
	var text strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%T", "%p"} {
		fmt.Fprintf(&text, verb+" "+verb+" "+verb+"\n", resolver, *resolver, []any{resolver, struct{ R any }{resolver}})
	}
	encoded, err := json.Marshal(map[string]any{"resolver": resolver})
	if err != nil {
		t.Fatal(err)
	}
	text.Write(encoded)
	slog.New(slog.NewTextHandler(&text, nil)).Info("resolver", "by pointer", resolver, "by value", *resolver)
	slog.New(slog.NewJSONHandler(&text, nil)).Info("resolver", "by pointer", resolver)
	text.WriteString(resolver.String())
	for _, form := range []string{token, fmt.Sprintf("%x", token), fmt.Sprintf("%X", token)} {
		if strings.Contains(text.String(), form) {
			t.Errorf("the token is in\n%s", text.String())
		}
	}
	if got := fmt.Sprintf("%+v", resolver); !strings.HasPrefix(got, "supportdesk at http://") {
		t.Errorf("%%+v prints %q", got)
	}
}
