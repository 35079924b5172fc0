package porttest

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/request"
	"github.com/habeas-data/habeas/ports"
)

// maxReference is the maximum length of request.Request.Reference, in characters.
const maxReference = 64

// full returns a closed request of which each field is set. The texts of the subject and of operators are the text.
func full(t testing.TB, n int, id domain.SubjectID, text string) request.Request {
	t.Helper()
	r := request.Request{
		Number: nth(n), SubjectID: id, Kind: request.Objection, Purpose: text, State: request.Refused, StateReason: "erased",
		Channel: request.Agent, Language: text, Reference: text, RefersTo: nth(n + 1), ReceivedAt: after(-1),
		EnteredAt: after(0), DueOn: "2024-03-31", DueAt: after(1), StrictDueOn: "2024-02-29", SuspendedAt: after(2),
		SuspendedDays: 31, LapsesAt: after(3), Asked: []request.Reason{request.Clarification, request.Identity},
		ExtendedAt: after(4), ExtensionReason: request.ManyRequests, ExecuteAfter: after(5), VerifiedBy: request.DocumentSeen,
		DecidedBy: text, RefusalGround: request.CompellingGrounds, DoneByHand: request.ObjectionRespected, Partly: true,
		Attempts: 7, NextAttemptAt: after(6), LastError: string(domain.OutcomeTimeout), ClosedAt: after(7), Version: 1,
	}
	expectFull(t, r)
	return r
}

// expectFull checks that the suite sets each field of a record.
func expectFull(t testing.TB, record any) {
	t.Helper()
	value := reflect.ValueOf(record)
	for i := range value.NumField() {
		must(t, !value.Field(i).IsZero(), "the suite does not set the field %s", value.Type().Field(i).Name)
	}
}

// bare returns a request of which each field that can be empty is empty.
func bare(n int) request.Request {
	return request.Request{
		Number: nth(n), Kind: request.Access, State: request.Received, Channel: request.Operator, ReceivedAt: noon,
		EnteredAt: noon, DueOn: "2024-03-29", StrictDueOn: "2024-03-29", Version: 1,
	}
}

// referenceTexts returns the texts of distinctTexts that can be a reference, and a longest one.
func referenceTexts() []string {
	short := slices.DeleteFunc(distinctTexts(), func(text string) bool { return len([]rune(text)) > maxReference })
	return append(short, strings.Repeat("\u65e5", maxReference-1)+"\U0001F600")
}

func requestComesBackAsStored(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	var want []request.Request
	for i, text := range referenceTexts() {
		want = append(want, full(t, i+1, id, text))
	}
	s.add(t, want...)
	s.add(t, bare(101), bare(102))
	updated := full(t, 101, id, "changed")
	updated.Kind, updated.ReceivedAt, updated.EnteredAt, updated.Version = request.Access, noon, noon, 2
	s.update(t, updated)
	expectWhole(t, "the requests of a subject", nameOfRequest, s.list(t, request.Query{SubjectID: id, Limit: 1000}),
		append(want, updated)...)
	emptied := bare(101)
	emptied.SubjectID, emptied.State, emptied.ClosedAt, emptied.Version = id, request.Withdrawn, noon, 3
	s.update(t, emptied)
	closed := s.list(t, request.Query{Kind: request.Access, Closed: true, Limit: 9})
	expectWhole(t, "the closed requests", nameOfRequest, closed, emptied)
	expectWhole(t, "the open requests", nameOfRequest, s.list(t, request.Query{Limit: 9}), bare(102))
	expectWhole(t, "what a subject sees", nameOfRequest, s.of(t, id)[:2], emptied, want[len(want)-1])
	expectWhole(t, "what is found", nameOfRequest, []request.Request{*s.find(t, 1), *s.find(t, 102)}, want[0], bare(102))
	open := asks(103, id, ofKind(request.Rectification), inState(request.Awaiting, 1))
	standing, _ := s.addOne(t, open)
	again, _ := s.addOne(t, asks(104, id, ofKind(request.Rectification)))
	expectWhole(t, "what stands", nameOfRequest, append(s.standing(t, id).Open, standing, again), open, open, open)
}

func nameOfRequest(r request.Request) string { return short(r.Number) }

// instantsOf returns the instants of a request or a hold, by the names of their fields.
func instantsOf(record any) map[string]*time.Time {
	instants := map[string]*time.Time{}
	value := reflect.ValueOf(record).Elem()
	for i := range value.NumField() {
		if at, is := value.Field(i).Addr().Interface().(*time.Time); is {
			instants[value.Type().Field(i).Name] = at
		}
	}
	return instants
}

func requestInstantsAreInUTCAndMicroseconds(t testing.TB, h StoreHarness) {
	s, n := h.requests(t), 0
	for given, want := range instantsToRound() {
		n++
		r, hold := full(t, n, zoe.id(t), "text"), holdOf(strconv.Itoa(n), zoe.id(t))
		records := []map[string]*time.Time{instantsOf(&r), instantsOf(&hold)}
		for _, instants := range records {
			for _, at := range instants {
				*at = given
			}
		}
		s.add(t, r)
		s.hold(t, hold)
		stored := read(t, s.Store, func(ctx context.Context, session ports.Session) (*request.Hold, error) {
			return session.Register().Holds.Find(ctx, hold.ID)
		})
		for i, instants := range []map[string]*time.Time{instantsOf(s.find(t, n)), instantsOf(stored)} {
			assert(t, len(instants) == len(records[i]), "record %d has %d instants", i, len(instants))
			for field, at := range instants {
				expectInstant(t, field, *at, given, want)
			}
		}
	}
}

func requestIsACopy(t testing.TB, h StoreHarness) {
	s, id := h.requests(t), zoe.id(t)
	var before []request.Reason
	check := func(r request.Request) {
		t.Helper()
		assert(t, slices.Equal(r.Asked, []request.Reason{request.Identity}), "the questions of a request are %v", r.Asked)
		before, r.Asked[0] = append(before, r.Asked...), "changed"
	}
	s.use(t, func(ctx context.Context, r ports.Register) error {
		added := asks(1, id, inState(request.Awaiting, 0))
		appended := asks(2, id, inState(request.Awaiting, 0), inState(request.Refused, 0))
		standing, _, err := r.Requests.Add(ctx, added)
		if err != nil {
			return err
		}
		check(standing)
		err = r.Requests.Append(ctx, appended)
		added.Asked[0], appended.Asked[0] = "changed", "changed"
		if err != nil {
			return err
		}
		updated := nextVersion(asks(1, id, inState(request.Awaiting, 0)))
		err = r.Requests.Update(ctx, updated)
		updated.Asked[0] = "changed"
		return err
	})
	for range 2 { // the second round runs after the returned values were changed
		check(*s.find(t, 1))
		check(*s.find(t, 2))
		for _, r := range slices.Concat(s.of(t, id), s.standing(t, id).Open,
			s.list(t, request.Query{SubjectID: id, Limit: 2})) {
			check(r)
		}
		standing, _ := s.addOne(t, asks(3, id))
		check(standing)
	}
	assert(t, !slices.Contains(before, "changed"), "a question changed with one that was given or returned")
}

func requestReferencesAndSubjectsAreKeptApart(t testing.TB, h StoreHarness) {
	s, ids, references := h.requests(t), distinctSubjects(t), referenceTexts()
	var requests []request.Request
	for i, id := range ids {
		requests = append(requests, asks(i+1, id))
	}
	for i, text := range references {
		r := asks(1000+i, domain.SubjectID{})
		r.Reference = text
		requests = append(requests, r)
	}
	s.add(t, requests...)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		r := session.Register().Requests
		for i, id := range ids {
			want := strconv.Itoa(i + 1)
			own, err := r.Of(ctx, id)
			if err != nil {
				return err
			}
			standing, err := r.Standing(ctx, id, noon)
			if err != nil {
				return err
			}
			listed, err := r.List(ctx, request.Query{SubjectID: id, Limit: 9})
			if err != nil {
				return err
			}
			for what, got := range map[string][]request.Request{"Of": own, "Standing": standing.Open, "List": listed} {
				expectNumbers(t, what+" of "+strconv.QuoteToASCII(id.String()), got, want)
			}
		}
		for i, text := range references {
			listed, err := r.List(ctx, request.Query{Reference: text, Limit: 9})
			if err != nil {
				return err
			}
			expectNumbers(t, "the reference "+strconv.QuoteToASCII(text), listed, strconv.Itoa(1000+i))
		}
		return nil
	})
}

func requestIsFoundByItsNumber(t testing.TB, h StoreHarness) {
	s := h.requests(t)
	nobody, hers := asks(1, domain.SubjectID{}), asks(2, zoe.id(t))
	hers.Number = "ABCDEFGHJKMNPQRSTVWX"
	s.add(t, nobody, hers)
	do(t, s.Store, func(ctx context.Context, session ports.Session) error {
		for _, n := range []request.Number{
			nobody.Number, hers.Number, nth(3), "abcdefghjkmnpqrstvwx", hers.Number + " ", hers.Number[1:], "", "%", "1",
		} {
			found, err := session.Register().Requests.Find(ctx, n)
			if err != nil {
				return err
			}
			exists := n == nobody.Number || n == hers.Number
			assert(t, (found != nil) == exists && (found == nil || found.Number == n),
				"the number %q exists: %v, and %+v is found", n, exists, found)
		}
		return nil
	})
}

func requestIsFoundWithTheSameStatements(t testing.TB, h StoreHarness) {
	s := h.requests(t)
	requireHook(t, s.Statements != nil, "Statements")
	s.add(t, asks(1, domain.SubjectID{}), asks(2, zoe.id(t)), asks(3, others[0].id(t), inState(request.Refused, 1)))
	s.find(t, 9) // the first session of a store may send further statements
	sent := map[int]int{}
	for n := range 5 {
		before := s.Statements()
		s.find(t, n)
		sent[n] = s.Statements() - before
	}
	for n, statements := range sent {
		assert(t, statements == sent[0], "finding request %d takes %d statements, and request 0, which does not exist, %d",
			n, statements, sent[0])
	}
}
