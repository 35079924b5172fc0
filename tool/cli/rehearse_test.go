package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

func TestARehearsalShowsTheCountsAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	stdout, stderr := w.want(0, "rehearse", "1", "--ref", "crm=c-1")
	shown, hash, _ := strings.Cut(stdout, "Plan: ")
	want := `The erasure of 1 would change:
TABLE      PATH                     STEP       ROWS  COLUMNS
invoices   customer_id > customers  retain     1     address
parcels    customer_id > customers  delete     2
customers  the subject's own row    anonymize  1     email
crm would be called with 1 outbox entry.
`
	if shown != want || len(hash) != datamap.FingerprintLength+1 || stderr != "" {
		t.Errorf("printed\n%s%s", stdout, stderr)
	}
	if len(w.emails()) != 3 || len(w.trail("1")) > 0 || len(w.store.Entries()) > 0 {
		t.Error("the rehearsal has changed the database")
	}
	rehearsal := decoded[datamap.Rehearsal](w, 0, "rehearse", "1", "--ref", "crm=c-1")
	if rehearsal.Fingerprint+"\n" != hash {
		t.Errorf("the plan is %s, and %s in JSON", hash, rehearsal.Fingerprint)
	}
	_, stderr = w.want(2, "rehearse", "4711")
	complains(t, stderr, "no subject with this id")
}

func TestAnErasureMustMatchItsRehearsal(t *testing.T) {
	w := newWorld(t)
	plan := decoded[datamap.Rehearsal](w, 0, "rehearse", "1").Fingerprint
	must(t, w.store.Insert("parcels", memory.Row{"id": 100, "customer_id": "1", "address": "2 Main Street"}))
	_, stderr := w.want(2, "erase", "1", by, "--yes", "--plan", plan)
	complains(t, stderr, "rehearse it again")
	if len(w.emails()) != 3 {
		t.Errorf("left are %q", w.emails())
	}
	plan = decoded[datamap.Rehearsal](w, 0, "rehearse", "3").Fingerprint
	_, stderr = w.want(2, "erase", "2", by, "--yes", "--plan", plan) // with as many rows as customer 3
	complains(t, stderr, "for another subject")
	_, stderr = w.want(2, "erase", "3", by, "--yes", "--plan", "")
	complains(t, stderr, "--plan must be the 32")
	if len(w.emails()) != 3 {
		t.Errorf("left are %q", w.emails())
	}
	plan = decoded[datamap.Rehearsal](w, 0, "rehearse", "1").Fingerprint
	w.want(0, "erase", "1", by, "--yes", "--plan", plan)
	if len(w.emails()) != 2 {
		t.Errorf("left are %q", w.emails())
	}
}

// retaining is an application with a retained column whose duty may be over.
type retaining struct{ cli.Application }

func (retaining) Rehearse(_ context.Context, subject domain.Subject) (datamap.Rehearsal, error) {
	step := func(strategy domain.Strategy, rows int64, columns ...string) datamap.RehearsedStep {
		return datamap.RehearsedStep{Rows: rows, Step: datamap.Step{
			Target: "invoices", Strategy: strategy, Columns: columns, Expired: []string{"vat"},
		}}
	}
	return datamap.Rehearsal{SubjectID: subject.ID, Steps: []datamap.RehearsedStep{
		step(domain.StrategyAnonymize, 2, "note"), step(domain.StrategyRetain, 1, "address", "vat"),
	}}, nil
}

func TestARehearsalSaysThatARetainedColumnIsOverwrittenAfterItsDuty(t *testing.T) {
	var out, complaint bytes.Buffer
	code := run(t.Context(), retaining{newWorld(t).gdpr.Operator()}, nil, &out, &complaint, "rehearse", "1")
	const want = `TABLE     PATH                     STEP       ROWS  COLUMNS
invoices  customer_id > customers  anonymize  2     note, vat (where its duty is over)
invoices  customer_id > customers  retain     1     address, vat
`
	if code != 0 || !strings.Contains(out.String(), want) {
		t.Errorf("ends with %d:\n%s%s", code, out.String(), complaint.String())
	}
}

// moving is a terminal. While the person at the terminal reads the prompt, the rows of customer 1 change.
type moving struct {
	terminal
	move func()
}

func (m *moving) Write(text []byte) (int, error) {
	if move := m.move; move != nil {
		m.move = nil
		move()
	}
	return m.terminal.Write(text)
}

func TestAConfirmationIsForTheCountsThatItShows(t *testing.T) {
	w := newWorld(t)
	w.in = typed{strings.NewReader("yes\n")}
	screen := &moving{move: func() {
		must(t, w.store.Insert("parcels", memory.Row{"id": 100, "customer_id": "1", "address": "2 Main Street"}))
	}}
	code := w.into(&bytes.Buffer{}, screen, "erase", "1", by)
	if code != 2 || len(w.emails()) != 3 || !strings.Contains(screen.String(), "rehearse it again") {
		t.Errorf("ends with %d: %s", code, screen.String())
	}
}

// refused is an application whose database refuses all erasures.
type refused struct{ cli.Application }

func (r refused) Rehearse(_ context.Context, subject domain.Subject) (datamap.Rehearsal, error) {
	return datamap.Rehearsal{SubjectID: subject.ID, RehearsedAt: noon{}.Now(), Refused: &datamap.Refusal{
		Class: "conflict", Target: "parcels", Strategy: domain.StrategyDelete,
		Message: "habeas: erase: the database refused a statement by a constraint (table labels, constraint labels_parcel)",
	}}, nil
}

func TestARefusalIsAFindingAndEndsAnErasure(t *testing.T) {
	w := newWorld(t)
	const reason = "Step delete of parcels: erase: the database refused a statement by a constraint " +
		"(table labels, constraint labels_parcel)"
	var out, complaint bytes.Buffer
	code := run(t.Context(), refused{w.gdpr.Operator()}, nil, &out, &complaint, "rehearse", "1")
	if code != 1 || out.String() != "The database would refuse to erase 1.\n"+reason+"\n" {
		t.Errorf("ends with %d: %s%s", code, out.String(), complaint.String())
	}
	screen := &terminal{}
	code = run(t.Context(), refused{w.gdpr.Operator()}, typed{strings.NewReader("yes\n")}, &out, screen, "erase", "1", by)
	if code != 2 || len(w.emails()) != 3 || !strings.Contains(strings.Join(strings.Fields(screen.String()), " "),
		reason+"; nothing was changed") {
		t.Errorf("ends with %d: %s", code, screen.String())
	}
}

// unrehearsed is an application whose store cannot rehearse.
type unrehearsed struct{ cli.Application }

func (unrehearsed) Rehearse(context.Context, domain.Subject) (datamap.Rehearsal, error) {
	return datamap.Rehearsal{}, domain.Misconfigured("rehearse", "the store cannot")
}

func TestAStoreThatCannotRehearseErasesAfterAConfirmation(t *testing.T) {
	w := newWorld(t)
	screen, out := &terminal{}, bytes.Buffer{}
	in := typed{strings.NewReader("yes\n")}
	code := run(t.Context(), unrehearsed{w.gdpr.Operator()}, in, &out, screen, "erase", "1", by)
	const prompt = "The effect is not known, because the store cannot rehearse.\n"
	if code != 0 || len(w.emails()) != 2 || !strings.HasPrefix(screen.String(), prompt) {
		t.Errorf("ends with %d: %s", code, screen.String())
	}
}

func TestRowsLeftOverByAnErasureAreFound(t *testing.T) {
	w := newWorld(t)
	_, stderr := w.want(2, "verify", "1", by)
	complains(t, stderr, "never erased")
	_, stderr = w.want(2, "verify", "1")
	complains(t, stderr, "--operator is missing")
	w.want(0, "erase", "1", by, "--yes")
	if stdout, _ := w.want(0, "verify", "1", by); !strings.HasSuffix(stdout, ": 0 findings.\n") {
		t.Errorf("printed %s", stdout)
	}
	must(t, w.store.Insert("parcels", memory.Row{"id": 100, "customer_id": "1", "address": "2 Main Street"}))
	stdout, _ := w.want(1, "verify", "1", by)
	const want = "PLACE    LEFT OVER  ROWS\nparcels  rows       1\n"
	if _, table, _ := strings.Cut(stdout, ": 1 finding.\n"); table != want {
		t.Errorf("printed\n%s", stdout)
	}
	if result := decoded[domain.Verification](w, 1, "verify", "1", by); len(result.LeftOver) != 1 {
		t.Errorf("got %+v", result)
	}
	last := w.trail("1")[len(w.trail("1"))-1]
	if last.EventType != "erasure_left_over" || last.Payload[domain.PayloadOperator] != "dpo" {
		t.Errorf("the last event is %+v", last)
	}
}

func TestRowsLeftOverOfALifeBeforeAreCleared(t *testing.T) {
	w := newWorld(t)
	w.want(0, "erase", "1", by, "--yes")
	must(t, w.store.Insert("parcels", memory.Row{"id": 100, "customer_id": "1", "address": "2 Main Street"}))
	w.want(1, "verify", "1", by)
	must(t, w.gdpr.Sessions().Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		return w.gdpr.Registered(ctx, s, fixture.MustSubject(t, "1"))
	}))
	const table = "PLACE    LEFT OVER  ROWS\nparcels  rows       1\n"
	if stdout, _ := w.want(1, "verify", "1", by); !strings.Contains(stdout, "not checked") ||
		!strings.HasSuffix(stdout, "with --clear:\n"+table) {
		t.Errorf("printed\n%s", stdout)
	}
	if stdout, _ := w.want(0, "verify", "1", by, "--clear"); !strings.HasSuffix(stdout,
		"Cleared, as recorded before:\n"+table) {
		t.Errorf("printed\n%s", stdout)
	}
	if stdout, _ := w.want(0, "verify", "1", by); strings.Contains(stdout, "parcels") {
		t.Errorf("after that, it printed\n%s", stdout)
	}
}
