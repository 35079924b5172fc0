package export_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// nilError is an error type. Its method Error panics if the pointer is nil.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

func TestABadRecordMakesOnlyItsSystemIncomplete(t *testing.T) {
	basis, text := domain.LegalBasis("whim"), "\xff"
	for name, record := range map[string]domain.ExportRecord{
		"broken JSON":          {Field: "f", Value: domain.JSON(`{"a":`)},
		"no JSON":              {Field: "f", Value: domain.JSON(``)},
		"more than a document": {Field: "f", Value: domain.JSON(`{}]`)},
		"JSON without end":     {Field: "f", Value: domain.JSON(strings.Repeat(`{"a":`, 20_000))},
		"JSON that is no text": {Field: "f", Value: domain.JSON("\"\xff\"")},
		"an odd number":        {Field: "f", Value: domain.Number("1\n2")},
		"no text":              {Field: "f", Value: "\xff"},
		"no field":             {Value: "x"},
		"a field that is odd":  {Field: "\xff", Value: "x"},
		"a row that is odd":    {Field: "f", Row: "\xff", Value: "x"},
		"a category":           {Field: "f", Category: "nonsense", Value: "x"},
		"a basis":              {Field: "f", LegalBasis: &basis, Value: "x"},
		"a purpose":            {Field: "f", Purpose: &text, Value: "x"},
		"a reason":             {Field: "f", RetentionReason: &text, Value: "x"},
		"a zone":               {Field: "f", Value: noon.In(time.FixedZone("", 25*3600))},
	} {
		t.Run(name, func(t *testing.T) {
			odd := func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
				return append(records("good"), record), nil
			}
			w := newWorld(t, 0, resolver(t, "desk", odd), resolver(t, "mail", has("address")))
			w.expectExport(domain.ExportRecord{Source: "users", Field: "email"})
			bundle, err := w.Export(t.Context(), w.Session, w.Subject)
			if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) {
				t.Fatalf("got %v, %v", bundle.IncompleteSources, err)
			}
			if got := printed(bundle.Records); !slices.Equal(got, []string{"users.email", "mail.address"}) {
				t.Errorf("got %v", got)
			}
			if encoded, err := json.Marshal(bundle); err != nil || !json.Valid(encoded) {
				t.Errorf("the bundle is encoded as %s, %v", encoded, err)
			}
		})
	}
}

func TestAnErrorThatIsANilPointerIsAnError(t *testing.T) {
	for name, err := range map[string]error{
		"its own": (*nilError)(nil), "refused": (*domain.ResolverError)(nil), "later": (*domain.RetryLaterError)(nil),
	} {
		failing := func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
			return records("partial"), err
		}
		w := newWorld(t, 0, resolver(t, "desk", failing))
		w.expectExport()
		bundle, err := w.Export(t.Context(), w.Session, w.Subject)
		if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) || len(bundle.Records) > 0 {
			t.Errorf("%s: got %v, %v", name, bundle.IncompleteSources, err)
		}
	}
}

func TestTheRecordsOfASystemAreCopied(t *testing.T) {
	basis, purpose, reason, until, bytes := domain.BasisContract, "support", "dispute", noon, []byte("abc")
	own := []domain.ExportRecord{{
		Field: "f", Row: "1", Category: domain.CategoryContact, Value: bytes,
		LegalBasis: &basis, Purpose: &purpose, RetentionReason: &reason, ExpiresAt: &until,
	}}
	w := newWorld(t, 0, resolver(t, "desk", func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
		return own, nil
	}))
	w.expectExport()
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if own[0].Source != "" || own[0].Purpose != &purpose {
		t.Error("the system's own record was changed")
	}
	basis, purpose, reason, until, bytes[0] = "\xff", "other", "other", noon.AddDate(20000, 0, 0), 'x'
	own[0] = domain.ExportRecord{Field: "other"}
	after, err := json.Marshal(bundle)
	if err != nil || string(after) != string(before) {
		t.Errorf("got %s, %v, and had %s", after, err, before)
	}
}

func TestAZoneWithSecondsDoesNotMoveAnInstant(t *testing.T) {
	instant := noon.In(time.FixedZone("LMT", 3217))
	w := newWorld(t, 0, resolver(t, "desk", func(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
		return []domain.ExportRecord{{Field: "f", Value: instant, ExpiresAt: &instant}}, nil
	}))
	w.expectExport()
	bundle, err := w.Export(t.Context(), w.Session, w.Subject)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(bundle.Records[0])
	if err != nil || strings.Count(string(encoded), `"2024-03-01T12:00:00Z"`) != 2 {
		t.Errorf("got %s, %v", encoded, err)
	}
}

// reused simulates the context of a request in fasthttp, which uses the same object for a later request. Its fields
// have no lock, so that the race detector finds a use after the end of the first request.
type reused struct {
	done    chan struct{}
	err     error
	value   string
	over    atomic.Bool
	misused atomic.Bool
}

func (r *reused) touch() {
	if r.over.Load() {
		r.misused.Store(true)
	}
}
func (r *reused) Deadline() (time.Time, bool) { r.touch(); return time.Time{}, false }
func (r *reused) Done() <-chan struct{}       { r.touch(); return r.done }
func (r *reused) Err() error                  { r.touch(); return r.err }
func (r *reused) Value(any) any               { r.touch(); return r.value }

type requestKey struct{}

func TestACallThatOutlivesTheRequestUsesNoPartOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := &reused{done: make(chan struct{}), value: "mine"}
		late, seen := make(chan struct{}), make(chan any, 3)
		ignores := func(ctx context.Context, _ domain.SubjectRef) ([]domain.ExportRecord, error) {
			if got := ctx.Value(requestKey{}); got != "mine" {
				t.Errorf("during the request, its value is %v", got)
			}
			<-late
			seen <- ctx.Value(requestKey{})
			child, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Hour)
			defer cancel()
			seen <- child.Value(requestKey{})
			seen <- context.Cause(ctx)
			_, _ = ctx.Deadline()
			return nil, ctx.Err()
		}
		w := newWorld(t, time.Minute, resolver(t, "desk", ignores))
		w.expectExport()
		bundle, err := w.Export(request, w.Session, w.Subject)
		request.over.Store(true)
		request.value, request.err, request.done = "of another", errBoom, make(chan struct{})
		close(late)
		synctest.Wait()
		if err != nil || !slices.Equal(bundle.IncompleteSources, []string{"desk"}) {
			t.Fatalf("got %v, %v", bundle.IncompleteSources, err)
		}
		if got, inChild, cause := <-seen, <-seen, <-seen; got != nil || inChild != nil ||
			!errors.Is(cause.(error), context.DeadlineExceeded) {
			t.Errorf("after the request, its value is %v and %v, the cause %v", got, inChild, cause)
		}
		if request.misused.Load() {
			t.Error("the context of the request was used after its end")
		}
	})
}
