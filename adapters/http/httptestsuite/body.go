package httptestsuite

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
)

func onlyApplicationJSONIsRead(t testing.TB, harness Harness) {
	w := harness.open(t)
	r := post("/consent", decision)
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON"} {
		w.expect(t, 200, r.withHeader("Content-Type", contentType))
	}
	recorded := len(w.consented(t, "42", "newsletter"))
	for _, contentType := range []string{
		"text/plain", "application/x-www-form-urlencoded", "application/problem+json", "application/jsonp",
	} {
		w.expect(t, 415, r.withHeader("Content-Type", contentType))
	}
	w.expect(t, 415, r.withHeader("Content-Type"))
	for _, several := range [][]string{
		{"application/json, application/json"},
		{"application/json; charset=utf-8, text/plain"},
		{"application/json", "application/json"},
		{"application/json", "text/plain"},
		{"text/plain", "application/json"},
		{"application/json", ""},
		{"", "application/json"},
		{`application/json; a="b`, `c"`},
	} {
		got := w.send(t, r.withHeader("Content-Type", several...))
		assert(t, got.status == 415, "%d values %q: got status %d, want 415", len(several), several, got.status)
	}
	// Some servers parse forms themselves.
	form := "--x\r\nContent-Disposition: form-data; name=\"granted\"\r\n\r\ntrue\r\n--x--\r\n"
	w.expect(t, 415, post("/consent", form).withHeader("Content-Type", "multipart/form-data; boundary=x"))
	now := len(w.consented(t, "42", "newsletter"))
	assert(t, recorded == 3 && now == recorded, "the store has %d records, and %d after refused requests", recorded, now)
}

func contentCodingsAreRefused(t testing.TB, harness Harness) {
	w := harness.open(t)
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write([]byte(decision))
	require(t, err)
	require(t, writer.Close())

	r := post("/consent", packed.String())
	w.expect(t, 400, r)
	for _, codings := range [][]string{
		{"gzip"}, {"GZIP"}, {"identity, gzip"}, {"identity", "gzip"}, {"gzip", "identity"},
	} {
		w.expect(t, 415, r.withHeader("Content-Encoding", codings...))
	}
	for _, coding := range []string{"deflate", "br", "zstd", "unheard-of"} {
		w.expect(t, 415, post("/consent", decision).withHeader("Content-Encoding", coding))
	}
	records := w.consented(t, "42", "newsletter")
	assert(t, len(records) == 0, "a body with a content coding has been recorded")
	for _, coding := range []string{"identity", "identity, identity"} {
		w.expect(t, 200, post("/consent", decision).withHeader("Content-Encoding", coding))
	}
}

func bodiesHaveALimit(t testing.TB, harness Harness) {
	w := harness.open(t)
	padding := strings.Repeat(" ", httpapi.MaxBodySize-len(decision))
	for _, chunked := range []bool{false, true} {
		for body, status := range map[string]int{
			decision: 200, padding + decision: 200, padding + " " + decision: 413, decision + padding + " ": 413,
			strings.Repeat(" ", 4*httpapi.MaxBodySize) + decision: 413,
		} {
			r := post("/consent", body)
			r.chunked = chunked
			got := w.send(t, r)
			assert(t, got.status == status,
				"%d bytes, chunked %v: got status %d, want %d", len(body), chunked, got.status, status)
		}
	}
	recorded := len(w.consented(t, "42", "newsletter"))
	assert(t, recorded == 4, "the store has %d records", recorded)
}

func invalidJSONIsRefused(t testing.TB, harness Harness) {
	w := harness.open(t)
	w.expect(t, 400, post("/consent", "").withHeader("Content-Type", "application/json"))
	for _, body := range []string{
		" ", "{", "granted=true", `{'granted':true}`, `{"granted":true,}`, "nul",
		decision + decision, decision + "x", decision + "\x00", "\ufeff" + decision, // data before or after the value
		strings.Replace(decision, "ä", "\xff", 1), strings.Replace(decision, "ä", "\xc3", 1), // invalid UTF-8
		strings.Replace(decision, "ä", `\ud800`, 1), strings.Replace(decision, "ä", `\udc00\ud800`, 1), // unpaired surrogates
		strings.Replace(decision, "ä", `\x`, 1), strings.Replace(decision, "ä", "\t", 1),
	} {
		got := w.send(t, post("/consent", body))
		assert(t, got.status == 400, "%q: got status %d %s", body, got.status, got.body)
	}
	for _, body := range []string{"[]", "[" + decision + "]", "null", "true", "1", `"{}"`} {
		w.expect(t, 422, post("/consent", body))
		w.expect(t, 422, post("/restriction", body))
	}
	whole := `{"granted":true,"policy_version":"\ud83d\ude00\u00e4","purpose":"a\/b"}`
	got := w.expect(t, 200, post("/consent", whole))
	assert(t, got.text("policy_version") == "😀ä" && got.text("purpose") == "a/b",
		"%s returned %s", whole, got.body)
}

func fieldsAreTakenOnceAndByExactName(t testing.TB, harness Harness) {
	w := harness.open(t)
	more := func(field string) string { return strings.TrimSuffix(decision, "}") + "," + field + "}" }
	long := fmt.Sprintf(`{"granted":true,"policy_version":"v","purpose":%q}`, strings.Repeat("😀", 256))
	for body, want := range map[string]string{
		more(`"granted":false`):      `{"field":"granted","code":"duplicate"`,
		more(`"gr\u0061nted":false`): `{"field":"granted","code":"duplicate"`,
		more(`"Purpose":"ads"`):      `{"field":"Purpose","code":"unknown"`,
		more(`"PURPOSE":"ads"`):      `{"field":"PURPOSE","code":"unknown"`,
		more(`"subject_id":"43"`):    `{"field":"subject_id","code":"unknown"`,
		more(`"source":"me"`):        `{"field":"source","code":"unknown"`,
		more(`"recorded_at":"2020"`): `{"field":"recorded_at","code":"unknown"`,
		long:                         `{"field":"purpose","code":"too_long"`,
	} {
		got := w.expect(t, 422, post("/consent", body))
		assert(t, strings.Contains(got.body, `"errors":[`+want), "%s returned %s", body, got.body)
	}
	longest := strings.Repeat("😀", 255)
	w.expect(t, 200, post("/consent", fmt.Sprintf(`{"granted":true,"policy_version":"v","purpose":%q}`, longest)))
	n := len(w.consented(t, "42", longest))
	assert(t, n == 1, "the longest purpose has been recorded %d times", n)
	assert(t, len(w.consented(t, "42", "newsletter")) == 0, "a refused request has been recorded")
}
