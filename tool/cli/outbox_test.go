package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/tool/cli"
)

// abandoned returns a shop in which each of the given customers has an abandoned outbox entry.
func abandoned(t *testing.T, customers string) *world {
	t.Helper()
	w := newWorld(t, atNoon)
	for _, id := range customers {
		w.want(0, "erase", string(id), by, "--yes", "--ref", "crm=c-"+string(id))
	}
	w.work()
	return w
}

// work processes all due entries once.
func (w *world) work() {
	w.t.Helper()
	_, err := w.gdpr.Stack().Runner.RunOnce(w.t.Context())
	must(w.t, err)
}

func (w *world) ids() (ids []string) {
	for _, entry := range w.store.Entries() {
		ids = append(ids, entry.EntryID)
	}
	return ids
}

func (w *world) statuses() (all []domain.OutboxStatus) {
	for _, entry := range w.store.Entries() {
		all = append(all, entry.Status)
	}
	return all
}

func TestEntriesThatWereGivenUpAreCountedAndListed(t *testing.T) {
	w := abandoned(t, "12")
	stdout, _ := w.want(0, "outbox", "counts")
	want := `SYSTEM  PENDING  IN FLIGHT  FAILED  ABANDONED  SPARED  DUE
crm     0        0          0       2          0       -
Succeeded: 0 (kept until a purge)
`
	if stdout != want {
		t.Errorf("printed\n%s", stdout)
	}
	stdout, _ = w.want(1, "outbox", "list")
	want = w.ids()[0] + "\n  crm erase of subject 1\n  since 2026-03-01 12:00:00Z: 1 attempt, refused\n"
	if !strings.HasPrefix(stdout, want) {
		t.Errorf("printed\n%s", stdout)
	}
	var entry domain.OutboxEntry
	stdout, _ = w.want(1, "outbox", "list", "--limit", "1", "-o", "json")
	must(t, json.Unmarshal([]byte(stdout), &entry))
	if entry.Ref.Value != "c-1" || strings.Count(stdout, "\n") != 1 {
		t.Errorf("printed %s", stdout)
	}
	_, stderr := w.want(2, "outbox", "list", "--limit=-1")
	complains(t, stderr, "must be 0 or more")
	if stdout, _ := newWorld(t).want(0, "outbox", "list"); stdout != "No entry was given up or spared.\n" {
		t.Errorf("printed %q", stdout)
	}
}

// The contact belongs to a new person by the time of the call.
func TestASparedRecordIsReportedUntilAnOperatorDiscardsItsEntry(t *testing.T) {
	w := newWorld(t)
	w.want(0, "erase", "1", by, "--yes", "--ref", "crm=c-later")
	w.work()
	stdout, _ := w.want(1, "status")
	if !strings.Contains(stdout, "outbox-spared") || !slices.Equal(w.statuses(), []domain.OutboxStatus{"spared"}) {
		t.Errorf("the entries are %v, printed\n%s", w.statuses(), stdout)
	}
	if stdout, _ := w.want(1, "outbox", "list"); !strings.Contains(stdout, "1 attempt, spared") {
		t.Errorf("printed\n%s", stdout)
	}
	trail, _ := w.want(0, "trail", "1", "-o", "json")
	if !strings.Contains(trail, `"spared":true`) || strings.Count(trail, `"erasure_completed"`) != 1 {
		t.Errorf("printed\n%s", trail)
	}
	w.want(1, "outbox", "requeue", w.ids()[0], by)
	w.want(0, "outbox", "discard", w.ids()[0], "--reason", "a new contact", by, "--yes")
	if stdout, _ := w.want(1, "status"); strings.Contains(stdout, "spared") {
		t.Errorf("printed\n%s", stdout)
	}
	if trail, _ := w.want(0, "trail", "1", "-o", "json"); strings.Count(trail, `"erasure_completed"`) != 1 {
		t.Errorf("printed\n%s", trail)
	}
}

func TestAListIsReadPageByPage(t *testing.T) {
	w := newWorld(t, func(c *stack.Config) { c.Saga.Batch = 300 })
	for range 250 {
		w.want(0, "erase", "1", by, "--yes", "--ref", "crm=c-1")
	}
	w.work()
	for limit, want := range map[string]int{"0": 250, "200": 200, "150": 150, "1000": 250} {
		stdout, _ := w.want(1, "outbox", "list", "--limit", limit, "-o", "json")
		lines := slices.Collect(strings.Lines(stdout))
		slices.Sort(lines)
		if got := len(slices.Compact(lines)); got != want {
			t.Errorf("limit %s: %d entries", limit, got)
		}
	}
	stdout, _ := w.want(0, "outbox", "requeue", "--all", by)
	if stdout != "Requeued 250 entries.\n" {
		t.Errorf("printed %q", stdout)
	}
}

func TestEntriesAreRequeuedByIDOrByFlags(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want domain.OutboxStatus
		code int
	}{
		"by id":          {[]string{"ID"}, domain.OutboxPending, 0},
		"by a line":      {[]string{"-"}, domain.OutboxPending, 0},
		"by an other id": {[]string{"0197b2c0"}, domain.OutboxAbandoned, 1},
		"all":            {[]string{"--all"}, domain.OutboxPending, 0},
		"of a system":    {[]string{"--system", "crm"}, domain.OutboxPending, 0},
		"of another":     {[]string{"--system", "erp"}, domain.OutboxAbandoned, 0},
		"older":          {[]string{"--older-than", "1d"}, domain.OutboxPending, 0}, // the clock of the shop stands still
		"newer":          {[]string{"--newer-than", "1h30m"}, domain.OutboxAbandoned, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := abandoned(t, "1")
			for i, arg := range test.args {
				if arg == "ID" {
					test.args[i] = w.ids()[0]
				}
			}
			w = w.reading(w.ids()[0] + "\n")
			_, stderr := w.want(2, append([]string{"outbox", "requeue"}, test.args...)...)
			complains(t, stderr, "--operator is missing")
			w.want(test.code, append([]string{"outbox", "requeue", "--operator", "support"}, test.args...)...)
			if got := w.statuses(); got[0] != test.want {
				t.Errorf("the entry is %s", got[0])
			}
			last := w.trail("1")[len(w.trail("1"))-1]
			if test.want == domain.OutboxPending &&
				(last.EventType != domain.EventErasureRequeued || last.Payload[domain.PayloadOperator] != "support") {
				t.Errorf("the last event is %+v", last)
			}
		})
	}
}

// circular is an application in which a requeued entry is abandoned again immediately.
type circular struct {
	cli.Application
	given []int
}

func (c *circular) Status(context.Context) (saga.Status, error) {
	status := saga.NewStatus(noon{}.Now())
	status.Counts[domain.OutboxAbandoned] = 150
	return status, nil
}

func (c *circular) RequeueMatching(_ context.Context, _ domain.OutboxFilter, limit int) ([]domain.OutboxEntry, error) {
	if c.given = append(c.given, limit); len(c.given) > 10 {
		return nil, errors.New("endless")
	}
	return make([]domain.OutboxEntry, limit), nil
}

func TestARequeueEndsWithTheEntriesOfItsStart(t *testing.T) {
	application := &circular{}
	var out, complaint bytes.Buffer
	code := run(t.Context(), application, nil, &out, &complaint, "outbox", "requeue", "--all", by)
	if code != 0 || !slices.Equal(application.given, []int{100, 50}) || out.String() != "Requeued 150 entries.\n" {
		t.Errorf("ends with %d, limits %v: %s%s", code, application.given, out.String(), complaint.String())
	}
}

func TestASelectionOfEntriesMustBeUnambiguous(t *testing.T) {
	w := abandoned(t, "1")
	for says, args := range map[string][]string{
		"needs ids":                 {},
		"ids or flags":              {"0197", "--all"},
		"--all or flags":            {"--all", "--system", "crm"},
		"--older-than is not":       {"--older-than", "soon"},
		"--newer-than is not":       {"--newer-than", "-1h"},
		"--newer-than is not ":      {"--newer-than", "0d"},
		"--older-than is not valid": {"--older-than", "70000d"},
		"has no entry id":           {"-"},
	} {
		_, stderr := w.want(2, append([]string{"outbox", "requeue", by}, args...)...)
		complains(t, stderr, says)
	}
}

func TestADiscardNeedsAReasonAndAConfirmation(t *testing.T) {
	w := abandoned(t, "12")
	id := w.ids()[0]
	for says, args := range map[string][]string{
		"--reason is missing":   {id, "--yes"},
		"the reason must be":    {id, "--yes", "--reason", "c1@example.org"},
		"--yes is needed":       {id, "--reason", "by hand"},
		"needs the ids":         {"--reason", "by hand", "--yes"},
		"--operator is missing": nil,
	} {
		if args != nil {
			args = append(args, by)
		} else {
			args = []string{id}
		}
		_, stderr := w.want(2, append([]string{"outbox", "discard"}, args...)...)
		complains(t, stderr, says)
		if strings.Contains(stderr, "example") {
			t.Errorf("the error repeats the reason: %s", stderr)
		}
	}
	_, stderr := w.reading("nobody\n"+id+"x\n").want(1, "outbox", "discard", "-", "--reason", "by hand", by, "--yes")
	complains(t, stderr, "2 entries skipped (lines 1, 2): neither abandoned")
	stdout, stderr := w.want(1, "outbox", "discard", id, "0197", "--reason", "by hand", by, "--yes")
	complains(t, stderr, "1 entry skipped")
	if !strings.HasSuffix(strings.TrimSpace(stderr), "skipped: neither abandoned nor spared") {
		t.Errorf("the reason is wrong: %s", stderr)
	}
	want := []domain.OutboxStatus{domain.OutboxSucceeded, domain.OutboxAbandoned}
	if got := w.statuses(); stdout != "Discarded 1 entry.\n" || !slices.Equal(got, want) {
		t.Errorf("the entries are %s, printed %q", got, stdout)
	}
	entry := decoded[domain.OutboxEntry](w, 0, "outbox", "discard", w.ids()[1], "--reason", "by hand", by, "--yes")
	if entry.Status != domain.OutboxSucceeded {
		t.Errorf("got %+v", entry)
	}
}

func TestOldEntriesArePurged(t *testing.T) {
	w := abandoned(t, "1")
	w.want(0, "outbox", "discard", w.ids()[0], "--reason", "by hand", by, "--yes")
	_, stderr := w.want(2, "outbox", "purge")
	complains(t, stderr, "--yes is needed")
	if got := decoded[map[string]int](w, 0, "outbox", "purge", "--yes"); got["removed"] != 0 {
		t.Errorf("removed %v", got)
	}
	later := newWorld(t, func(c *stack.Config) { c.Sessions, c.Clock = w.store, someday{} })
	if stdout, _ := later.want(0, "outbox", "purge", "--yes"); stdout != "Removed 1 entry.\n" || len(w.ids()) > 0 {
		t.Errorf("printed %q, left are %q", stdout, w.ids())
	}
}

// someday is a clock one year later than noon, the time of the other tests.
type someday struct{}

func (someday) Now() time.Time { return noon{}.Now().AddDate(1, 0, 0) }

func TestTheStatusEndsWithItsFindings(t *testing.T) {
	alone := newWorld(t, atNoon, func(c *stack.Config) { c.Resolvers = nil }) // needs no worker
	if stdout, _ := alone.want(0, "status"); stdout != `At 2026-03-01 12:00:00Z: 0 findings.

Succeeded: 0 (kept until a purge)
` {
		t.Errorf("printed\n%s", stdout)
	}
	w := abandoned(t, "1")
	w.want(0, "erase", "2", by, "--yes", "--ref", "crm=c-2")
	late := newWorld(t, func(c *stack.Config) { c.Sessions, c.Clock = w.store, someday{} })
	stdout, _ := late.want(1, "status")
	want := `At 2027-03-01 12:00:00Z: 4 findings.

error outbox-abandoned
  System crm: 1 entry was abandoned. The system did not
  erase or correct the data. Fix the cause. Then requeue or
  discard the erasures. A rectification cannot be requeued:
  make the correction again and discard the entry.
warning outbox-late
  System crm: an entry has been open since
  2026-03-01T12:00:00Z. Find out why its calls fail. The
  time limit is one month (Art. 12(3) GDPR).
error outbox-stalled
  System crm: an entry has been due since
  2026-03-01T12:00:00Z, and no worker takes it. Check that a
  worker with this resolver runs, and that the system
  responds.
error worker-late
  The worker has never run in any process. External systems
  are not called, and no other duty runs. Start a worker
  with Lifespan of the application that listens, or with
  Run. If one runs, its log names the error.

SYSTEM  PENDING  IN FLIGHT  FAILED  ABANDONED  SPARED  DUE
crm     1        0          0       1          0       365d0h
Succeeded: 0 (kept until a purge)

DUTY    STATE  LAST SUCCESS  LAST FAILURE  ERROR  LEFT OVER
worker  never  -             -             -      0
`
	if stdout != want {
		t.Errorf("printed\n%s", stdout)
	}
	if status := decoded[saga.Status](late, 1, "status"); len(status.Findings) != 4 || len(status.Backlog) != 1 {
		t.Errorf("got %+v", status)
	}
}
