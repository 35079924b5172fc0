package supportdesk_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/supportdesk"
	"github.com/habeas-data/habeas/adapters/supportdesk/desktest"
	"github.com/habeas-data/habeas/domain"
)

func TestARefusalIsFinalAndAFailureIsNot(t *testing.T) {
	final := []int{
		400, 401, 402, 403, 405, 406, 407, 409, 410, 411, 413, 414, 415, 418, 422, 423, 424, 426, 428, 431, 451, 499,
	}
	later := []int{408, 425, 429, 500, 501, 502, 503, 504, 507, 511, 520, 529, 599}
	for _, status := range append(final, later...) {
		w := newWorld(t)
		w.desk.Always(desktest.Status(status))
		for method, err := range w.exportAndErase(t.Context(), t) {
			text := fmt.Sprintf("habeas: resolver supportdesk: %s got status %d", method, status)
			if status < 500 && status != 408 && status != 425 && status != 429 {
				mustBeFinal(t, err, text)
			} else {
				mustRetry(t, err, 0, text)
			}
		}
	}
}

func TestTheDeskCanRequestADelay(t *testing.T) {
	now := time.Date(2024, 12, 18, 16, 0, 0, 500_000_000, time.UTC)
	unix := func(after time.Duration) string { return fmt.Sprint(now.Add(after).Unix()) }
	date := func(after time.Duration) string { return now.Add(after).UTC().Format(http.TimeFormat) }
	const retry, reset = "Retry-After", "X-RateLimit-Reset"
	for name, test := range map[string]struct {
		status int
		header map[string]string
		want   time.Duration
	}{
		"no delay":                    {429, nil, 0},
		"seconds":                     {429, map[string]string{retry: "30"}, 30 * time.Second},
		"seconds of a 503":            {503, map[string]string{retry: "120"}, 2 * time.Minute},
		"seconds of a 500":            {500, map[string]string{retry: "1"}, time.Second},
		"a date":                      {429, map[string]string{retry: date(90 * time.Second)}, 90 * time.Second},
		"a date in the past":          {429, map[string]string{retry: date(-time.Hour)}, 0},
		"a reset":                     {429, map[string]string{reset: unix(10 * time.Second)}, 10 * time.Second},
		"a reset in the past":         {429, map[string]string{reset: unix(-10 * time.Second)}, 0},
		"both":                        {429, map[string]string{retry: "5", reset: unix(time.Minute)}, 5 * time.Second},
		"garbled seconds and a reset": {429, map[string]string{retry: "soon", reset: unix(time.Minute)}, time.Minute},
		"a reset of a 500 is ignored": {500, map[string]string{reset: unix(time.Minute)}, 0},
		"zero":                        {429, map[string]string{retry: "0"}, 0},
		"negative":                    {429, map[string]string{retry: "-5"}, 0},
		"beyond a day":                {429, map[string]string{retry: "86401"}, 24 * time.Hour},
		"beyond a Duration":           {429, map[string]string{retry: "9223372036854775807"}, 24 * time.Hour},
		"beyond an int64":             {429, map[string]string{retry: "9223372036854775808"}, 0},
		"a date beyond a day":         {429, map[string]string{retry: "Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour},
		"a reset in milliseconds":     {429, map[string]string{reset: "1734537600000"}, 24 * time.Hour},
		"the least reset":             {429, map[string]string{reset: "-9223372036854775808"}, 0},
		"garbled":                     {429, map[string]string{retry: "soon", reset: "later"}, 0},
		"a fraction":                  {429, map[string]string{retry: "1.5"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Resolver = w.WithClock(func() time.Time { return now })
			fault := desktest.Status(test.status)
			for name, value := range test.header {
				fault = fault.With(name, value)
			}
			w.desk.Always(fault)
			for _, err := range w.exportAndErase(t.Context(), t) {
				mustRetry(t, err, test.want, fmt.Sprintf("got status %d", test.status))
			}
		})
	}
}

func TestAFinalRefusalRequestsNoDelay(t *testing.T) {
	w := newWorld(t)
	w.desk.Always(desktest.Status(403).With("Retry-After", "30"))
	for _, err := range w.exportAndErase(t.Context(), t) {
		mustBeFinal(t, err, "got status 403")
	}
}

func TestADeskThatIsDownIsTriedAgain(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(o *supportdesk.Options) { o.BaseURL = "http://" + address })
	for method, err := range w.exportAndErase(t.Context(), t) {
		mustRetry(t, err, 0, method+" got no response")
		if strings.Contains(err.Error(), address) {
			t.Errorf("the error is %q", err)
		}
	}
}

func TestAnUntrustedCertificateIsNamed(t *testing.T) {
	server := httptest.NewUnstartedServer(desktest.New(token))
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	w := newWorld(t, func(o *supportdesk.Options) { o.BaseURL = server.URL })
	for method, err := range w.exportAndErase(t.Context(), t) {
		mustRetry(t, err, 0, method+" got no response: the certificate of the host was not accepted")
	}
}

// failing is an HTTP transport that returns the given error for every request.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestErrorsOfTheTransportAreNotExposed(t *testing.T) {
	for name, cause := range map[string]error{
		"an error":          errors.New("dial " + zoeID + " with " + token),
		"a name":            &net.DNSError{Err: "no such host", Name: "desk-" + token, IsNotFound: true},
		"an ended context":  fmt.Errorf("%s: %w", token, context.Canceled),
		"a passed deadline": fmt.Errorf("%s: %w", token, context.DeadlineExceeded),
	} {
		w := newWorld(t, func(o *supportdesk.Options) { o.Transport = failing{cause} })
		for method, err := range w.exportAndErase(t.Context(), t) {
			mustRetry(t, err, 0, method+" got no response")
			for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
				if errors.Is(err, ended) != errors.Is(cause, ended) {
					t.Errorf("%s: errors.Is %v is %v", name, ended, errors.Is(err, ended))
				}
			}
			for ; err != nil; err = errors.Unwrap(err) {
				if text := err.Error(); strings.Contains(text, token) || strings.Contains(text, zoeID) {
					t.Errorf("%s: the error, or one that it wraps, is %q", name, text)
				}
			}
		}
	}
}

// For all possible sequences of responses, each error is a *domain.ResolverError or a *domain.RetryLaterError. No error
// contains text of a response.
func TestNoErrorRepeatsAResponse(t *testing.T) {
	w := newWorld(t)
	secrets := []string{token, zoeID, desktest.VendorText, strings.TrimPrefix(w.url, "http://"), "zoe@example.org"}
	fault := rapid.OneOf(
		rapid.Map(rapid.IntRange(200, 999), desktest.Status),
		rapid.Map(rapid.IntRange(300, 399), func(status int) desktest.Fault {
			return desktest.Redirect(status, "https://"+desktest.VendorText+"/"+zoeID)
		}),
		rapid.SampledFrom([]desktest.Fault{
			desktest.OK, desktest.HangUp, desktest.CutBody, desktest.TruncateJSON, desktest.WrongContentType,
			desktest.HTML(), desktest.NotDeleted(), desktest.RepeatCursor,
		}),
		rapid.Map(rapid.String(), func(text string) desktest.Fault { return desktest.JSON(`{"id":"` + zoeID + `",` + text) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		w.desk.Script(rapid.SliceOfN(fault, 5, 5).Draw(t, "script")...)
		_, exported := w.ExportSubject(context.Background(), ref(zoeID))
		_, erased := w.EraseSubject(context.Background(), ref(zoeID), entry)
		w.desk.Add(zoe())
		for _, err := range []error{exported, erased} {
			if err == nil {
				continue
			}
			var final *domain.ResolverError
			var later *domain.RetryLaterError
			if !errors.As(err, &final) && !errors.As(err, &later) {
				t.Fatalf("the error is %T", err)
			}
			text := fmt.Sprintf("%v %+v %q", err, err, err)
			for _, secret := range secrets {
				if strings.Contains(text, secret) {
					t.Fatalf("the error is %q", err)
				}
			}
		}
	})
}
