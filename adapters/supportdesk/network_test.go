package supportdesk_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

func TestPlainHTTPIsOnlyForThisMachine(t *testing.T) {
	for _, host := range []string{
		"localhost", "localhost:8080", "LOCALHOST", "LocalHost:1", "localhost.", "127.0.0.1", "127.0.0.1:80",
		"127.255.255.254",
		"127.8.9.1:9", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]:1", "[::FFFF:7f00:1]",
	} {
		for _, scheme := range []string{"http", "HTTP"} {
			if _, err := supportdesk.New(token, supportdesk.Options{BaseURL: scheme + "://" + host + "/v1"}); err != nil {
				t.Errorf("%s://%s: %v", scheme, host, err)
			}
		}
	}
	for _, host := range []string{
		"api.intercom.io", "desk.example", "desk.example:80", "10.0.0.1", "192.168.0.1", "169.254.169.254", "0.0.0.0", "[::]",
		"128.0.0.1",
		"127.0.0.1.evil.example", "localhost.evil.example", "evil.example.localhost.evil", "evillocalhost", "localhost..",
		".localhost",
		"127.0.0.1@evil.example", "localhost:pw@evil.example", "localhost:80@evil.example", "127.1", "2130706433",
		"0x7f000001",
		"0177.0.0.1",
		"127.0.0.1.", "127.0.0.1%2eevil.example", "[::ffff:10.0.0.1]", "[fe80::1]", "[::2]", "[64:ff9b::7f00:1]",
		"localho\u017ft",
		"evil.example#localhost",
		"evil.example/localhost", "evil.example?localhost", `evil.example\@localhost`,
		"localhost\x00.evil.example", "", ":80",
	} {
		resolver, err := supportdesk.New(token, supportdesk.Options{BaseURL: "http://" + host, Transport: &recorded{}})
		if !errors.Is(err, domain.ErrConfiguration) || resolver != nil {
			t.Errorf("http://%s: %v, %v", host, resolver, err)
		} else if strings.Contains(err.Error(), "evil") {
			t.Errorf("http://%s: the error quotes it: %v", host, err)
		}
	}
}

// With plain http, the resolver must not use a proxy, because the proxy may be on another machine. This applies even if
// the environment configures a proxy for all hosts.
func TestPlainHTTPGoesThroughNoProxy(t *testing.T) {
	dialled, err := supportdesk.DialPlain(t.Context(), "192.0.2.1:80")
	if err == nil || dialled != nil || !strings.Contains(err.Error(), "another machine") {
		t.Errorf("another machine is dialled: %v", err)
	}
	if supportdesk.PlainHasProxy() {
		t.Error("plain http has a proxy")
	}
}

// elsewhere starts a server with another host name. The server counts its requests. Its responses would be valid
// responses of a desk.
func elsewhere(t *testing.T) (url string, reached *atomic.Int64) {
	t.Helper()
	reached = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"contact","id":"`+zoeID+`","deleted":true,"conversations":[]}`)
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1), reached
}

func TestARedirectDoesNotSendTheTokenElsewhere(t *testing.T) {
	url, reached := elsewhere(t)
	for _, own := range []http.RoundTripper{nil, &http.Transport{DisableKeepAlives: true}} {
		for _, status := range []int{300, 301, 302, 303, 307, 308} {
			for _, to := range []string{
				url + "/contacts/" + zoeID, strings.TrimPrefix(url, "http:") + "/", "/contacts/elsewhere", "",
			} {
				w := newWorld(t, func(o *supportdesk.Options) { o.Transport = own })
				redirect := desktest.Redirect(status, to)
				w.desk.Always(redirect)
				for method, err := range w.exportAndErase(t.Context(), t) {
					mustRetry(t, err, 0, fmt.Sprintf("%s got status %d", method, status))
				}
				w.desk.Always(nil)
				w.desk.Script(desktest.OK, redirect)
				records, err := w.ExportSubject(t.Context(), ref(zoeID))
				mustRetry(t, err, 0, fmt.Sprintf("POST got status %d", status))
				w.desk.Script(desktest.Status(404), redirect)
				absent, err := w.EraseSubject(t.Context(), ref(zoeID), entry)
				mustRetry(t, err, 0, fmt.Sprintf("GET got status %d", status))
				if records != nil || absent || len(w.desk.Requests()) != 6 || !w.desk.Knows(zoeID) {
					t.Errorf("%d: %d records, absent %v, %d requests", status, len(records), absent, len(w.desk.Requests()))
				}
			}
		}
	}
	if n := reached.Load(); n > 0 {
		t.Errorf("%d requests reached another host", n)
	}
}

func TestTheBoundAppliesToADecompressedBody(t *testing.T) {
	var mebibyte bytes.Buffer
	packed := gzip.NewWriter(&mebibyte)
	if _, err := packed.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := strings.Repeat(mebibyte.String(), supportdesk.MaxBody>>20+1)
	for _, status := range []int{200, 404} {
		w := newWorld(t)
		w.desk.Always(desktest.Respond(status, "application/json", bomb).With("Content-Encoding", "gzip"))
		for method, err := range w.exportAndErase(t.Context(), t) {
			mustRetry(t, err, 0, method+" got a response that cannot be used: the body is too large")
		}
	}
}

func TestABodyWithAWrongContentEncodingIsRetried(t *testing.T) {
	w := newWorld(t)
	for _, encoding := range []string{"gzip", "br", "gzip, gzip"} {
		w.desk.Always(desktest.Respond(404, "application/json", "\x1f\x8b"+notFound).With("Content-Encoding", encoding))
		for method, err := range w.exportAndErase(t.Context(), t) {
			mustRetry(t, err, 0, method+" ")
		}
	}
}
