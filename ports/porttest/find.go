package porttest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/internal/tests/promise"
	"github.com/habeas-data/habeas/ports"
)

// TestFinder checks that Store.Finder keeps the promises of ports.Finder on the tables of DataMap. TestStore does not
// run this suite, because a store works without a finder.
func TestFinder(t *testing.T, h StoreHarness) {
	t.Helper()
	promise.Hold(t, findPromises, h, h.Waive)
}

var findPromises = []promise.Promise[StoreHarness]{
	that(findCountsRowsByColumn, "Find counts the rows that contain a value by table and column, annotated or not."),
	that(findSearchesPartsOfTexts, "Find finds a value at any position of a text."),
	that(findIgnoresCase, "Find ignores the case of the letters of every alphabet."),
	that(findMatchesCharactersLiterally, "No character of a value has a special meaning."),
	that(findSearchesJSON, "Find finds strings and names in JSON, regardless of their escapes."),
	that(findReportsValuesByIndex, "Find identifies each value by its index, even for the maximum number of values."),
	that(findSearchesBinaryData, "Find searches binary data."),
	that(findSearchesNumbersAndUUIDs, "Find searches numbers and UUIDs, and lists the values that it has not found."),
	that(findSearchesEncodedCopies,
		"Find finds copies of a value in hexadecimal digits and in base64, regardless of the case of the value."),
	that(findSearchesTheTablesOfHabeas, "Find also searches the texts in the tables of habeas that are not from habeas."),
	that(findRefusesValues,
		"Find returns ErrInvalid with the index of a value that is too short, too long or not valid text."),
	that(findReportsItsProgress, "Find reports progress for each table and at the end."),
	that(findReturnsNoValues, "No result and no error contains a value."),
	that(findEndsWithItsContext, "Find returns when its context ends."),
	that(findReportsAStoreThatCannotBeReached, "Find returns ErrUnavailable if the store cannot be reached."),
}

func finderOf(t testing.TB, store Store) ports.Finder {
	t.Helper()
	must(t, store.Finder != nil, "the harness is incomplete: Finder is required")
	return store.Finder
}

// expectFound searches for the values and checks the occurrences. Each wanted occurrence has the form "table.column
// value rows", where value is the index of the value.
func (s Store) expectFound(t testing.TB, values []string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), s.patience)
	defer cancel()
	found, err := finderOf(t, s).Find(ctx, values, nil)
	must(t, err == nil, "the search failed: %v", err)
	var got []string
	for _, o := range found.Occurrences {
		got = append(got, o.Table+"."+o.Column+" "+strconv.Itoa(o.Value)+" "+strconv.FormatInt(o.Rows, 10))
	}
	assert(t, slices.Equal(got, want), "Find found %q, want %q", got, want)
	assert(t, len(found.Gaps) == 0, "there are gaps: %v", found.Gaps)
}

// withTexts opens a store with one person for each text. The column remark of the person holds the text.
func (h StoreHarness) withTexts(t testing.TB, texts ...string) Store {
	t.Helper()
	store := h.open(t)
	for i, text := range texts {
		store.Insert(t, "people", Row{"tenant": "acme", "number": int64(i), "remark": text})
	}
	return store
}

func findCountsRowsByColumn(t testing.TB, h StoreHarness) {
	store := h.open(t)
	for i := range int64(3) {
		store.Insert(t, "people", Row{"tenant": "acme", "number": i, "email": "zoe@example.org", "remark": "nothing"})
		store.Insert(t, "orders", Row{"id": i, "tenant": "acme", "person": i, "status": "to zoe@example.org"})
	}
	store.Insert(t, "people", Row{"tenant": "zoe@example.org", "number": int64(1), "email": "other@example.org"})
	store.Insert(t, "remarks", Row{"id": int64(1), "target_type": "zoe@example.org", "body": "zoe@example.org"})
	store.expectFound(t, []string{"zoe@example.org"}, "orders.status 0 3", "people.tenant 0 1", "people.email 0 3",
		"remarks.target_type 0 1", "remarks.body 0 1")
	store.expectFound(t, []string{"nobody@example.org"})
}

func findSearchesPartsOfTexts(t testing.TB, h StoreHarness) {
	long := strings.Repeat("much else, ", 20_000)
	store := h.withTexts(t, "zoe@example.org", "<zoe@example.org>", "zoe@example.org, and more",
		long+"zoe@example.org"+long, "one\nzoe@example.org\ntwo", "zoe@\nexample.org",
		"zo e@example.org", "oe@example.org", "")
	store.expectFound(t, []string{"zoe@example.org"}, "people.remark 0 5")
}

func findIgnoresCase(t testing.TB, h StoreHarness) {
	store := h.withTexts(t, "ZOË Ångström", "zoë ångström", "Zoë åNGSTRÖM", "zoe angstrom", "ΣΊΣΥΦΟΣ", "σίσυφος")
	store.expectFound(t, []string{"Zoë Ångström", "Σίσυφος"}, "people.remark 0 3", "people.remark 1 2")
}

func findMatchesCharactersLiterally(t testing.TB, h StoreHarness) {
	signs := []string{
		"a%c", "a_c", "a*c", "a?c", "a.c", "[abc]", "[^ab]", "a|b|c", "(abc)", "a+c", "a{1}", "^abc", "abc$", `a\c`, `abc\`,
		"a'c", `a"c`, "a/c", "a-c", "a$1", "a]c", "a}c", "***:abc", "(?i)abc", "a c", "  abc", "a\tc", "a\nc",
	}
	texts := append([]string{"abc", "aXc", "axxc", "abbc"}, signs...)
	var want []string
	for i, sign := range signs {
		rows := 0
		for _, text := range texts {
			if strings.Contains(strings.ToLower(text), sign) {
				rows++
			}
		}
		want = append(want, "people.remark "+strconv.Itoa(i)+" "+strconv.Itoa(rows))
	}
	h.withTexts(t, texts...).expectFound(t, signs, want...)
}

func findSearchesJSON(t testing.TB, h StoreHarness) {
	store := h.open(t)
	for i, document := range []string{
		`{"a": {"b": ["zoë/x \"y\""]}}`, `{"zoë/x \"y\"": 1}`, `["zo\u00eb/x \"y\""]`, `["ZO\u00CB\/x \"y\""]`,
		`["zo\u00eb\u002fx\u0020\u0022y\""]`, `["zoe/x"]`, `"zoë/x 'y'"`,
	} {
		number := int64(i)
		store.Insert(t, "people", Row{"tenant": "acme", "number": number, "settings": domain.JSON(document)})
		store.Insert(t, "orders", Row{"id": number, "tenant": "acme", "person": number, "note": document})
	}
	store.expectFound(t, []string{`Zoë/x "y"`}, "orders.note 0 5", "people.settings 0 5")
	store = h.open(t)
	signs := domain.JSON(`["\ud83d\ude00\ud83d\uDE00!", "\\\\x"]`)
	store.Insert(t, "people", Row{"tenant": "acme", "number": int64(1), "settings": signs})
	store.expectFound(t, []string{"😀😀!", `\\x`}, "people.settings 0 1", "people.settings 1 1")
}

func findReportsValuesByIndex(t testing.TB, h StoreHarness) {
	texts, values := []string{}, []string{}
	for i := range search.MaxSearchValues {
		texts = append(texts, "value-"+strconv.Itoa(1000+i))
		values = append(values, texts[i])
	}
	values[0] = values[search.MaxSearchValues-1]
	var want []string
	for i := range values {
		want = append(want, "people.remark "+strconv.Itoa(i)+" 1")
	}
	h.withTexts(t, texts...).expectFound(t, values, want...)
}

func findSearchesBinaryData(t testing.TB, h StoreHarness) {
	store := h.open(t)
	for i, photo := range []string{
		"zoë@example.org", "\xff<ZOË@example.org>\x01", "a\x00zoë@example.org", "zoe@example.org",
	} {
		store.Insert(t, "people", Row{"tenant": "acme", "number": int64(i), "photo": []byte(photo)})
	}
	store.expectFound(t, []string{"zoë@example.org"}, "people.photo 0 3")
}

func findSearchesNumbersAndUUIDs(t testing.TB, h StoreHarness) {
	store := h.open(t)
	store.Insert(t, "people", Row{
		"tenant": "acme", "number": int64(4917), "score": 4917.5, "token": "6ba7b810-9dad-11d1-80b4-000000000001",
	})
	values := []string{"4917", "nobody", "6BA7B810-9dad-11d1-80b4-000000000001"}
	store.expectFound(t, values, "people.number 0 1", "people.score 0 1", "people.token 2 1")
	found, err := finderOf(t, store).Find(t.Context(), values, nil)
	must(t, err == nil && slices.Equal(found.NotFound, []int{1}), "not found are %v, want value 1: %v", found.NotFound,
		err)
}

func findSearchesEncodedCopies(t testing.TB, h StoreHarness) {
	const sought = "zoë@example.org"
	var copies []string
	for i, text := range []string{sought, "<" + sought + ">", "to ZOË@EXAMPLE.org, Zoë"} {
		bytes := []byte(strings.Repeat(" ", i) + text)
		copies = append(copies, hex.EncodeToString(bytes), "0x"+strings.ToUpper(hex.EncodeToString(bytes)),
			base64.StdEncoding.EncodeToString(bytes), base64.RawURLEncoding.EncodeToString(bytes))
	}
	others := []string{
		hex.EncodeToString([]byte("zoe@example.org")), base64.StdEncoding.EncodeToString([]byte("zoë@example.com")),
	}
	store := h.withTexts(t, append(others, copies...)...)
	store.expectFound(t, []string{sought, "zoë"}, "people.remark 0 "+strconv.Itoa(len(copies)))
}

func findSearchesTheTablesOfHabeas(t testing.TB, h StoreHarness) {
	b := h.box(t)
	id := subject(t, "<zoe@example.org>", 1)
	restriction := restrict(id, pointer("letters to zoe@"), 0)
	restriction.Reason = pointer("wrote from <zoe@example.org>")
	consent := grant(id, "mails for zoe@", 0)
	consent.PolicyVersion = "made by zoe@"
	entry := toRectify(t, "e1", id, 0)
	entry.Corrections = domain.Corrections{domain.CategoryContact: "<zoe@example.org>"}
	asked, hold := asks(1, id), holdOf("h1", id)
	asked.Purpose, asked.Reference, hold.Reference = "mails for zoe@", "<zoe@example.org>", "zoe@"
	noted := event("v1", id)
	noted.Payload = domain.Payload{"purpose": "mails for zoe@"}
	do(t, b.Store, func(ctx context.Context, s ports.Session) error {
		return errors.Join(s.Restrictions().Append(ctx, restriction), s.Restrictions().Append(ctx, restrict(id, nil, 1)),
			s.Consents().Append(ctx, consent), s.Audit().Append(ctx, noted),
			s.Outbox().Enqueue(ctx, entry, toErase(t, "e2", id, 0)), addAll(ctx, s.Register(), asked),
			s.Register().Holds.Add(ctx, hold))
	})
	do(t, b.Store, func(ctx context.Context, s ports.Session) error {
		return errOf(s.Subjects().Lock(ctx, id, noon))
	})
	b.expectFound(t, []string{"<zoe@example.org>", "contact of e2", "zoe@"},
		"habeas_consent_records.subject_id 0 1", "habeas_consent_records.subject_id 2 1",
		"habeas_consent_records.purpose 2 1", "habeas_consent_records.policy_version 2 1",
		"habeas_restriction_records.subject_id 0 2", "habeas_restriction_records.subject_id 2 2",
		"habeas_restriction_records.purpose 2 1", "habeas_restriction_records.reason 0 1",
		"habeas_restriction_records.reason 2 1", "habeas_audit_events.subject_ref 0 1",
		"habeas_audit_events.subject_ref 2 1", "habeas_audit_events.payload 2 1",
		"habeas_outbox.subject_id 0 2", "habeas_outbox.subject_id 2 2", "habeas_outbox.ref 1 1",
		"habeas_outbox.corrections 0 1", "habeas_outbox.corrections 2 1",
		"habeas_subject_erasures.subject_id 0 1", "habeas_subject_erasures.subject_id 2 1",
		"habeas_requests.subject_id 0 1", "habeas_requests.subject_id 2 1", "habeas_requests.purpose 2 1",
		"habeas_requests.reference 0 1", "habeas_requests.reference 2 1", "habeas_holds.subject_id 0 1",
		"habeas_holds.subject_id 2 1", "habeas_holds.reference 2 1")
}

func findRefusesValues(t testing.TB, h StoreHarness) {
	finder := finderOf(t, h.open(t))
	good := "zoe@example.org"
	for what, c := range map[string]struct {
		values []string
		field  string
	}{
		"no values":           {nil, "values"},
		"too many values":     {slices.Repeat([]string{good}, search.MaxSearchValues+1), "values"},
		"a short value":       {[]string{good, "zö"}, "values[1]"},
		"spaces":              {[]string{"  z "}, "values[0]"},
		"an empty value":      {[]string{good, good, ""}, "values[2]"},
		"a value that is cut": {[]string{"zoe@\xff"}, "values[0]"},
		"NUL":                 {[]string{"zoe\x00"}, "values[0]"},
		"a long value":        {[]string{strings.Repeat("z", domain.MaxTextLength+1)}, "values[0]"},
	} {
		_, err := finder.Find(t.Context(), c.values, nil)
		var invalid *domain.Error
		must(t, errors.Is(err, domain.ErrInvalid) && errors.As(err, &invalid), "%s: Find returned %v", what, err)
		assert(t, len(invalid.Fields) == 1 && invalid.Fields[0].Field == c.field, "%s: the fields are %v, want %s", what,
			invalid.Fields, c.field)
	}
	_, err := finder.Find(t.Context(), []string{"zoë", strings.Repeat("ë", domain.MaxTextLength)}, nil)
	assert(t, err == nil, "values of the minimum and the maximum length are refused: %v", err)
}

func findReportsItsProgress(t testing.TB, h StoreHarness) {
	var reports []search.Progress
	_, err := finderOf(t, h.open(t)).Find(t.Context(), []string{"zoe"}, func(p search.Progress) {
		reports = append(reports, p)
	})
	must(t, err == nil, "the search failed: %v", err)
	tables := len(reports) - 1
	assert(t, tables >= len(DataMap().Tables()), "progress was reported %d times", len(reports))
	for i, p := range reports {
		assert(t, p.Done == i && p.Tables == tables && (p.Table == "") == (i == tables), "progress report %d of %d is %+v",
			i, tables, p)
	}
	for _, table := range DataMap().Tables() {
		assert(t, slices.ContainsFunc(reports, func(p search.Progress) bool { return p.Table == table.Name }),
			"no progress was reported for %s", table.Name)
	}
}

func findReturnsNoValues(t testing.TB, h StoreHarness) {
	const secret = "zoe@example.org"
	store := h.withTexts(t, secret)
	finder := finderOf(t, store)
	found, err := finder.Find(t.Context(), []string{secret}, nil)
	must(t, err == nil, "the search failed: %v", err)
	text, err := json.Marshal(found)
	must(t, err == nil && !strings.Contains(string(text), "zoe"), "the result contains a value: %v", err)
	_, err = finder.Find(t.Context(), []string{secret + "\x00", secret + strings.Repeat("x", domain.MaxTextLength)}, nil)
	must(t, err != nil && !strings.Contains(err.Error(), "zoe"), "the error is nil or contains a value")
}

func findEndsWithItsContext(t testing.TB, h StoreHarness) {
	finder := finderOf(t, h.open(t))
	for _, after := range []int{0, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		reports := 0
		if after == 0 {
			cancel()
		}
		_, err := finder.Find(ctx, []string{"zoe"}, func(search.Progress) {
			if reports++; reports == after {
				cancel()
			}
		})
		cancel()
		assert(t, errors.Is(err, context.Canceled), "after %d tables Find returned %v", after, err)
		assert(t, reports <= after+1, "Find continued after %d tables", after)
	}
}

// A store without a database is always reachable, so Store.Unreachable may be nil. The case then checks nothing.
func findReportsAStoreThatCannotBeReached(t testing.TB, h StoreHarness) {
	store := h.open(t)
	if store.Unreachable == nil {
		return
	}
	_, err := finderOf(t, store.Unreachable(t)).Find(t.Context(), []string{"zoe"}, nil)
	assert(t, errors.Is(err, domain.ErrUnavailable), "with an unreachable store, Find returned %v", err)
}
