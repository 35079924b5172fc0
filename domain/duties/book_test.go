package duties_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/duties"
	"github.com/habeas-data/habeas/domain/observation"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

// world is a store, and a clock that a test sets. It counts sessions, and refuses them while refused is set.
type world struct {
	ports.SessionFactory
	now      time.Time
	sessions int
	refused  error
	observed []observation.DutyObserved
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if w.sessions++; w.refused != nil {
		return w.refused
	}
	return w.SessionFactory.Do(ctx, fn)
}

func (w *world) Start(ctx context.Context, _ observation.Activity) (context.Context, func(observation.ActivityEnd)) {
	return ctx, nil
}

func (w *world) Observe(_ context.Context, seen observation.Observation) {
	if observed, ok := seen.(observation.DutyObserved); ok {
		w.observed = append(w.observed, observed)
	}
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dataMap := fixture.MustMap(t, fixture.Users())
	store, err := memory.New(dataMap, memory.Options{})
	must(t, err)
	return &world{SessionFactory: store, now: time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)}
}

// process returns the book of a process whose worker has these duties.
func (w *world) process(t *testing.T, pauses map[domain.DutyName]time.Duration) *duties.Book {
	t.Helper()
	book, err := duties.New(duties.Config{Sessions: w, Clock: w, Observer: w, Duties: pauses})
	must(t, err)
	return book
}

func (w *world) begin(t *testing.T, book *duties.Book) {
	t.Helper()
	must(t, w.SessionFactory.Do(t.Context(), book.Begin))
}

// codes returns the codes of the findings that a book reads.
func (w *world) codes(t *testing.T, book *duties.Book) (codes []string) {
	t.Helper()
	var all []domain.Duty
	must(t, w.SessionFactory.Do(t.Context(), func(ctx context.Context, s ports.Session) (err error) {
		all, err = book.Read(ctx, s)
		return err
	}))
	for _, finding := range duties.Findings(all, w.now) {
		codes = append(codes, finding.Code)
	}
	return codes
}

func (w *world) expect(t *testing.T, when string, book *duties.Book, want ...string) {
	t.Helper()
	if got := w.codes(t, book); !slices.Equal(got, want) {
		t.Errorf("%s: the findings are %q, want %q", when, got, want)
	}
}

var must = fixture.Must

var pauses = map[domain.DutyName]time.Duration{domain.DutyJournal: 5 * time.Second, domain.DutyWorker: 30 * time.Second}

func TestAnotherProcessSeesADutyThatFailsAndRecovers(t *testing.T) {
	w := newWorld(t)
	worker, command := w.process(t, pauses), w.process(t, nil)
	w.expect(t, "before the start", command)
	w.begin(t, worker)
	must(t, worker.Ended(t.Context(), domain.DutyWorker, domain.OutcomeOK))
	must(t, worker.Ended(t.Context(), domain.DutyJournal, domain.OutcomeOK))
	w.expect(t, "at the start", command)
	w.now = w.now.Add(5 * time.Second)
	must(t, worker.Ended(t.Context(), domain.DutyJournal, domain.OutcomeTimeout))
	w.expect(t, "after a failure", command, "journal-failing")
	w.now = w.now.Add(5 * time.Second)
	must(t, worker.Ended(t.Context(), domain.DutyJournal, domain.Outcome(domain.ErrBehind)))
	w.expect(t, "while an erasure is held up", command, "journal-behind")
	w.now = w.now.Add(5 * time.Second)
	must(t, worker.Ended(t.Context(), domain.DutyJournal, domain.OutcomeOK))
	w.expect(t, "after a success", command)
	if last := w.observed[len(w.observed)-1]; last.Outcome != domain.OutcomeOK || last.Duty.LastError != "behind" {
		t.Errorf("observed %+v", last)
	}
	w.now = w.now.Add(time.Hour) // the worker is dead
	w.expect(t, "after an hour", command, "worker-late", "journal-late")
}

func TestADutyThatNeverSucceedsIsLateThoughItsProcessStartsAgain(t *testing.T) {
	w := newWorld(t)
	command := w.process(t, nil)
	for range 5 {
		w.begin(t, w.process(t, pauses))
		w.now = w.now.Add(15 * time.Second)
	}
	w.expect(t, "after five starts", command, "journal-late")
	w.now = w.now.Add(time.Minute)
	w.expect(t, "a minute later", command, "worker-late", "journal-late")
}

// A process that was never started has no worker, but its settings promise a journal.
func TestAWorkerThatNeverBeganIsLate(t *testing.T) {
	w := newWorld(t)
	process := w.process(t, pauses)
	w.expect(t, "immediately", process)
	w.now = w.now.Add(66 * time.Second)
	w.expect(t, "after its first interval", process, "journal-late")
}

func TestADutyThatTheApplicationHasEndedIsNotReported(t *testing.T) {
	w := newWorld(t)
	w.begin(t, w.process(t, pauses))
	w.begin(t, w.process(t, map[domain.DutyName]time.Duration{domain.DutyWorker: 30 * time.Second}))
	w.now = w.now.Add(time.Hour)
	w.expect(t, "after an hour", w.process(t, nil), "worker-late")
}

func TestTheSameNewsAreStoredRarely(t *testing.T) {
	w := newWorld(t)
	book := w.process(t, pauses)
	for range 60 {
		must(t, book.Ended(t.Context(), domain.DutyJournal, domain.OutcomeOK))
		w.now = w.now.Add(5 * time.Second)
	}
	if w.sessions != 10 {
		t.Errorf("%d sessions in 5 minutes, want 10", w.sessions)
	}
	book.Hurry(domain.DutyJournal)
	must(t, book.Ended(t.Context(), domain.DutyJournal, domain.OutcomeOK))
	must(t, book.Ended(t.Context(), domain.DutyJournal, domain.OutcomePanic))
	if w.sessions != 12 || len(w.observed) != 62 {
		t.Errorf("%d sessions and %d observations, want 12 and 62", w.sessions, len(w.observed))
	}
}

// If the disk of the database is full, the memory of the process knows it, and the other processes see no success.
func TestADatabaseThatTakesNoWritesShows(t *testing.T) {
	w := newWorld(t)
	book := w.process(t, pauses)
	w.begin(t, book)
	must(t, book.Ended(t.Context(), domain.DutyWorker, domain.OutcomeOK))
	w.now, w.refused = w.now.Add(30*time.Second), domain.ErrUnavailable
	for _, name := range []domain.DutyName{domain.DutyWorker, domain.DutyJournal} {
		if err := book.Ended(t.Context(), name, domain.OutcomeOK); !errors.Is(err, domain.ErrUnavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	w.expect(t, "in the process", book, "worker-failing")
	last := w.observed[len(w.observed)-2]
	if last.Outcome != "unavailable" || last.Duty.State(w.now) != domain.DutyFailing {
		t.Errorf("observed %+v", last)
	}
	w.now = w.now.Add(61 * time.Second)
	w.expect(t, "in another process", w.process(t, nil), "worker-late", "journal-late")
}

func TestAWorkerThatStopsWhileItStoresARunHasNotFailed(t *testing.T) {
	w := newWorld(t)
	book := w.process(t, pauses)
	w.begin(t, book)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	w.refused = context.Canceled
	if err := book.Ended(ctx, domain.DutyWorker, domain.OutcomeOK); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if last := w.observed[len(w.observed)-1]; last.Outcome != domain.OutcomeOK || last.Duty.LastFailure != nil {
		t.Errorf("observed %+v", last)
	}
}

func TestABookNeedsItsDependencies(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]duties.Config{
		"no sessions":      {Clock: w},
		"no clock":         {Sessions: w},
		"a negative pause": {Sessions: w, Clock: w, Duties: map[domain.DutyName]time.Duration{domain.DutySweep: -1}},
		"an unknown duty":  {Sessions: w, Clock: w, Duties: map[domain.DutyName]time.Duration{"": 1}},
	} {
		if _, err := duties.New(c); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
