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

func TestInvalidSettingsAreRefusedAtStartUp(t *testing.T) {
	for name, test := range map[string]struct {
		token   string
		options supportdesk.Options
		text    string
	}{
		"no token":               {"", supportdesk.Options{}, "token is empty"},
		"token with a newline":   {token + "\n", supportdesk.Options{}, "visible ASCII"},
		"token with a space":     {"a b", supportdesk.Options{}, "visible ASCII"},
		"token with a NUL":       {"a\x00b", supportdesk.Options{}, "visible ASCII"},
		"token with DEL":         {"a\x7f", supportdesk.Options{}, "visible ASCII"},
		"token beyond ASCII":     {"tökén", supportdesk.Options{}, "visible ASCII"},
		"token that is no text":  {"a\xff", supportdesk.Options{}, "visible ASCII"},
		"no scheme":              {token, supportdesk.Options{BaseURL: "api.intercom.io"}, "begin with https"},
		"another scheme":         {token, supportdesk.Options{BaseURL: "ftp://api.intercom.io"}, "begin with https"},
		"no host":                {token, supportdesk.Options{BaseURL: "https:///contacts"}, "must contain a host"},
		"a port only":            {token, supportdesk.Options{BaseURL: "https://:443"}, "must contain a host"},
		"opaque":                 {token, supportdesk.Options{BaseURL: "https:api.intercom.io"}, "must contain a host"},
		"a user":                 {token, supportdesk.Options{BaseURL: "https://me:pw-secret@desk.example"}, "a user name"},
		"a user without a name":  {token, supportdesk.Options{BaseURL: "https://@desk.example"}, "a user name"},
		"a query":                {token, supportdesk.Options{BaseURL: "https://desk.example?a=b"}, "a query"},
		"an empty query":         {token, supportdesk.Options{BaseURL: "https://desk.example?"}, "a query"},
		"a fragment":             {token, supportdesk.Options{BaseURL: "https://desk.example#a"}, "a query or a fragment"},
		"an empty fragment":      {token, supportdesk.Options{BaseURL: "https://desk.example#"}, "a query or a fragment"},
		"no URL":                 {token, supportdesk.Options{BaseURL: "https://pw-secret\x7f"}, "not a valid URL"},
		"negative timeout":       {token, supportdesk.Options{Timeout: -1}, "Timeout is negative"},
		"version with a newline": {token, supportdesk.Options{APIVersion: "2.16\r\nX: y"}, "APIVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			resolver, err := supportdesk.New(test.token, test.options)
			if !errors.Is(err, domain.ErrConfiguration) || resolver != nil {
				t.Fatalf("New = %v, %v, want ErrConfiguration", resolver, err)
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("the error is %q, want it to contain %q", err, test.text)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q quotes a secret", err)
			}
		})
	}
}

// recorded is an HTTP transport for tests. It stores the last request, but does not send it, and returns an error.
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
		t.Fatal("the export succeeded although the transport failed")
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

func TestPrintingTheResolverDoesNotRevealTheToken(t *testing.T) {
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
