package httpapi_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/domain"
)

// faults formats field errors as "field code".
func faults(problem httpapi.Problem) string {
	var all []string
	for _, fault := range problem.Errors {
		if fault.Message == "" {
			return "a field error without a message"
		}
		all = append(all, fault.Field+" "+fault.Code)
	}
	return strings.Join(all, ", ")
}

// refuses checks that the API refuses a request without opening a session. The response must have the given status and
// the given field errors.
func refuses(t *testing.T, operation string, r httpapi.Request, status int, want string) {
	t.Helper()
	f := newFixture(t)
	response := f.call(t, operation, r)
	problem := problemOf(t, response)
	if problem.Status != status || faults(problem) != want {
		t.Errorf("got status %d with [%s], want %d with [%s]", problem.Status, faults(problem), status, want)
	}
	if f.sessions.Opened > 0 {
		t.Error("opened a session")
	}
}

func TestTheBodyMustBeSentAsJSON(t *testing.T) {
	for contentType, ok := range map[string]bool{
		"application/json":                  true,
		"Application/JSON; charset=utf-8":   true,
		"application/json;profile=\"a;b\"":  true,
		"":                                  false,
		"text/plain":                        false,
		"application/json, text/plain":      false,
		"application/jsonp":                 false,
		"application/problem+json":          false,
		"application/x-www-form-urlencoded": false,
		"application/json; charset":         false,
	} {
		r := jsonBody(valid)
		r.ContentType = contentType
		if ok {
			accepts(t, "recordConsent", r)
		} else {
			refuses(t, "recordConsent", r, 415, "")
		}
	}
}

func accepts(t *testing.T, operation string, r httpapi.Request) *sessions {
	t.Helper()
	f := newFixture(t)
	if response := f.call(t, operation, r); response.Status != 200 {
		t.Fatalf("got status %d %s", response.Status, response.Body)
	}
	return f.sessions
}

func TestTheBodyMustNotBeCompressed(t *testing.T) {
	for coding, ok := range map[string]bool{
		"identity": true, "Identity, identity": true, " ": true,
		"gzip": false, "identity, br": false, "unheard-of": false,
	} {
		r := jsonBody(valid)
		r.ContentEncoding = coding
		if ok {
			accepts(t, "recordConsent", r)
		} else {
			refuses(t, "recordConsent", r, 415, "")
		}
	}
}

func TestTheBodyHasALimit(t *testing.T) {
	padding := strings.Repeat(" ", httpapi.MaxBodySize-len(valid))
	accepts(t, "recordConsent", jsonBody(padding+valid))
	refuses(t, "recordConsent", jsonBody(" "+padding+valid), 413, "")

	r := jsonBody("")
	huge := &counted{Reader: strings.NewReader(strings.Repeat(" ", 10*httpapi.MaxBodySize))}
	r.Body = huge
	refuses(t, "recordConsent", r, 413, "")
	if huge.n > httpapi.MaxBodySize+1 {
		t.Errorf("read %d bytes of a body that is too large", huge.n)
	}
}

type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func TestABodyThatIsNotJSONIsABadRequest(t *testing.T) {
	for _, body := range []string{
		"", " ", "{", `{"granted":true}}`, valid + valid, valid + "x", "granted=true", `{'granted':true}`,
		`{"granted":true,}`, "\ufeff" + valid, "{\"purpose\":\"\xff\"}", "{\"\xc3\":1}", `{"purpose":"\x"}`,
		`{"purpose":"\ud800"}`, `{"purpose":"\udc00\ud800"}`, `{"purpose":"\ud83d\\ude00"}`, `{"\uDEAD":1}`,
		"{\"purpose\":\"a\tb\"}", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "nul",
	} {
		refuses(t, "recordConsent", jsonBody(body), 400, "")
	}
	withoutBody := jsonBody("")
	withoutBody.Body = nil
	refuses(t, "recordConsent", withoutBody, 400, "")
	broken := jsonBody("")
	broken.Body = iotest.ErrReader(errors.New("connection reset"))
	refuses(t, "recordConsent", broken, 400, "")
}

func TestABodyThatIsNotAnObjectIsRefused(t *testing.T) {
	for _, body := range []string{"[]", `[` + valid + `]`, "null", "true", "1", `"{}"`} {
		refuses(t, "recordConsent", jsonBody(body), 422, "")
		refuses(t, "recordRestriction", jsonBody(body), 422, "")
	}
}

func TestAllFaultsOfABodyAreReportedInAFixedOrder(t *testing.T) {
	long := strings.Repeat("ä", domain.MaxTextLength+1)
	for body, want := range map[string]string{
		// The errors of the fields in the schema come first, in the order of the schema. The errors of unknown fields follow,
		// in the order of the JSON text.
		`{}`: "granted required, policy_version required, purpose required",
		`{"z":1,"purpose":7,"a":2,"policy_version":null}`: "granted required, policy_version required, purpose type," +
			" z unknown, a unknown",

		`{"granted":null,"policy_version":"v","purpose":"p"}`:            "granted required",
		`{"granted":"true","policy_version":"v","purpose":"p"}`:          "granted type",
		`{"granted":1,"policy_version":{},"purpose":[]}`:                 "granted type, policy_version type, purpose type",
		`{"granted":true,"policy_version":"","purpose":""}`:              "policy_version required, purpose required",
		`{"granted":true,"policy_version":"v","purpose":"` + long + `"}`: "purpose too_long",
		`{"granted":true,"policy_version":"a\u0000b","purpose":"p"}`:     "policy_version character",

		// exact names only
		`{"Granted":true,"policy_version":"v","purpose":"p"}`:               "granted required, Granted unknown",
		`{"granted":true,"policy_version":"v","purpose":"p","PURPOSE":"q"}`: "PURPOSE unknown",
		// folds to purpose
		`{"granted":true,"policy_version":"v","purpoſe":"p"}`: "purpose required, (unknown) unknown",

		// fields that only the server sets
		valid[:len(valid)-1] + `,"subject_id":"7"}`:                   "subject_id unknown",
		valid[:len(valid)-1] + `,"source":"me","recorded_at":"2020"}`: "source unknown, recorded_at unknown",

		// A field that occurs twice is refused, even if both values are equal or one name is escaped.
		valid[:len(valid)-1] + `,"granted":true}`:                      "granted duplicate",
		valid[:len(valid)-1] + `,"gr\u0061nted":false,"granted":null}`: "granted duplicate",
		valid[:len(valid)-1] + `,"x":1,"x":2}`:                         "x unknown",
	} {
		t.Run(body[:min(len(body), 80)], func(t *testing.T) {
			refuses(t, "recordConsent", jsonBody(body), 422, want)
		})
	}
	for body, want := range map[string]string{
		`{}`: "restricted required",
		`{"restricted":null,"purpose":"","reason":7,"reason ":1}`: "restricted required, purpose required," +
			" reason type, (unknown) unknown",
		`{"restricted":true,"reason":"` + long + `","subject_id":null}`: "reason too_long, subject_id unknown",
		`{"restricted":true,"reason":null,"reason":null}`:               "reason duplicate",
		`{"restricted":true,"purpose":false}`:                           "purpose type",
	} {
		refuses(t, "recordRestriction", jsonBody(body), 422, want)
	}
}

func TestLengthsCountCharactersNotBytes(t *testing.T) {
	longest := strings.Repeat("😀", domain.MaxTextLength)
	sessions := accepts(t, "recordConsent",
		jsonBody(fmt.Sprintf(`{"purpose":%q,"policy_version":%q,"granted":true}`, longest, longest)))
	if sessions.Consents[0].Purpose != longest {
		t.Error("the purpose is not what was sent")
	}
}

func TestSpaceAndEscapesInJSONDoNotMatter(t *testing.T) {
	sessions := accepts(t, "recordConsent",
		jsonBody(
			" \r\n{ \"granted\" :\tfalse , \"polic\\u0079_version\":\"\\ud83d\\ude00\\\\ud800\", \"purpose\":\"a\\/b\" } ",
		))
	got := sessions.Consents[0]
	if got.Granted || got.PolicyVersion != `😀\ud800` || got.Purpose != "a/b" {
		t.Errorf("recorded %+v", got)
	}
}

func TestARestrictionMayBeForAllProcessingAndWithoutReason(t *testing.T) {
	for _, body := range []string{`{"restricted":true}`, `{"restricted":true,"purpose":null,"reason":null}`} {
		got := accepts(t, "recordRestriction", jsonBody(body)).Restrictions[0]
		if got.Purpose != nil || got.Reason != nil {
			t.Errorf("recorded %+v", got)
		}
	}
	got := accepts(t, "recordRestriction", jsonBody(`{"restricted":true,"reason":""}`)).Restrictions[0]
	if got.Reason == nil || *got.Reason != "" {
		t.Errorf("recorded %+v", got)
	}
}

func TestTheServerSetsSubjectSourceAndTime(t *testing.T) {
	got := accepts(t, "recordConsent", jsonBody(valid)).Consents[0]
	if got.Source != "api" || got.SubjectID.String() != "42" || !got.RecordedAt.Equal(domain.Instant(clock{}.Now())) {
		t.Errorf("recorded %+v", got)
	}
	restricted := accepts(t, "recordRestriction", jsonBody(`{"restricted":true}`)).Restrictions[0]
	if restricted.Source != "api" || restricted.SubjectID.String() != "42" {
		t.Errorf("recorded %+v", restricted)
	}
}

func TestFewUnknownFieldsAreRepeated(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"zoe@example.org", "\u0000\u202e", strings.Repeat("n", 33), "0171 234567"} {
		problem := problemOf(t, f.call(t, "recordConsent", jsonBody(`{"`+escaped(name)+`":"secret"}`)))
		if got := problem.Errors[len(problem.Errors)-1].Field; got != "(unknown)" {
			t.Errorf("repeated %q", got)
		}
	}

	var flood strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&flood, `"%d":0,`, i)
	}
	response := f.call(t, "recordConsent", jsonBody("{"+flood.String()+valid[1:]))
	problem := problemOf(t, response)
	if len(problem.Errors) != 100 {
		t.Errorf("repeated %d unknown fields", len(problem.Errors))
	}
}

// escaped returns a JSON string for s in which every UTF-16 code unit is written as a \u escape.
func escaped(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}

func TestUnpairedSurrogatesAreRefused(t *testing.T) {
	f := newFixture(t)
	unit := rapid.SampledFrom([]uint16{'a', '\\', 0xfffd, 0xd83d, 0xde00, 0xd800, 0xdfff})
	rapid.Check(t, func(r *rapid.T) {
		units := rapid.SliceOfN(unit, 1, 6).Draw(r, "units")
		var text strings.Builder
		for _, unit := range units {
			if unit == 'a' || unit == '\\' && rapid.Bool().Draw(r, "short") {
				text.WriteString(strings.ReplaceAll(string(rune(unit)), `\`, `\\`))
			} else {
				fmt.Fprintf(&text, `\u%04X`, unit)
			}
		}
		whole := string(utf16.Decode(units))
		wellFormed := slices.Equal(utf16.Encode([]rune(whole)), units)

		response := f.call(t, "recordConsent",
			jsonBody(`{"granted":true,"policy_version":"v","purpose":"`+text.String()+`"}`))
		switch {
		case !wellFormed && response.Status != 400:
			r.Fatalf("accepted %s: %s", text.String(), response.Body)
		case wellFormed && response.Status != 200:
			r.Fatalf("refused %s: %s", text.String(), response.Body)
		case wellFormed && f.sessions.Consents[len(f.sessions.Consents)-1].Purpose != whole:
			r.Fatalf("%s became %s", text.String(), response.Body)
		}
	})
}
