package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/domain/journal"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/internal/tests/fixture"
	"github.com/habeas-data/habeas/ports"
)

var noon = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

var errBroken = errors.New("broken")

// book is a journal in memory. It can fail before or after it has written the lines.
type book struct {
	text          []byte
	before, after error
}

func (b *book) Name() string { return "book" }

func (b *book) Append(_ context.Context, lines []byte) error {
	if b.before != nil {
		return b.before
	}
	b.text = append(b.text, lines...)
	return b.after
}

func (b *book) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b.text)), nil
}

// subjects returns the subjects of the lines.
func (b *book) subjects(t *testing.T) (ids []string) {
	t.Helper()
	for line := range bytes.Lines(b.text) {
		entry, _, err := domain.ParseJournalLine(line)
		must(t, err)
		ids = append(ids, entry.SubjectID.String())
	}
	return ids
}

// A writer with a key signs each line, and Write does, too.
func TestLinesAreSignedWithTheKey(t *testing.T) {
	store, sign := newStore(t), system.Signer([]byte("secret"))
	erase(t, store, 1)
	signed, written := &book{}, &bytes.Buffer{}
	writer, err := journal.NewWriter(journal.Config{Sessions: store, Journal: signed, Sign: sign})
	must(t, err)
	_, _, err = writer.RunOnce(t.Context())
	must(t, err)
	_, err = journal.Write(t.Context(), store, written, journal.From{Sign: sign})
	must(t, err)
	for _, line := range [][]byte{signed.text, written.Bytes()} {
		if entry, _, err := domain.ParseSignedLine(line, sign); err != nil || entry.SubjectID.String() != "1" {
			t.Errorf("%s: %v", line, err)
		}
		if _, _, err := domain.ParseSignedLine(line, system.Signer([]byte("other"))); !errors.Is(err, domain.ErrInvalid) {
			t.Errorf("another key: %v", err)
		}
	}
}

func newStore(t *testing.T) *memory.Store {
	t.Helper()
	store, err := memory.New(fixture.MustMap(t, fixture.Users()), memory.Options{})
	must(t, err)
	return store
}

// erase records erasures of the subjects in the database.
func erase(t *testing.T, sessions ports.SessionFactory, ids ...int) {
	t.Helper()
	for _, id := range ids {
		subject := fixture.MustID(t, strconv.Itoa(id))
		must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
			_, err := s.Subjects().Lock(ctx, subject, noon.Add(time.Duration(id)*time.Second))
			return err
		}))
	}
}

func newWriter(t *testing.T, sessions ports.SessionFactory, sink ports.Journal) *journal.Writer {
	t.Helper()
	writer, err := journal.NewWriter(journal.Config{Sessions: sessions, Journal: sink, Batch: 3})
	must(t, err)
	return writer
}

// drain calls RunOnce until there is no more work. It returns the number of lines of each call.
func drain(t *testing.T, writer *journal.Writer) (written []int) {
	t.Helper()
	for {
		n, more, err := writer.RunOnce(t.Context())
		must(t, err)
		written = append(written, n)
		if !more {
			return written
		}
	}
}

func is(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: the lines are of %v, want %v", what, got, want)
	}
}

func TestErasuresAreWrittenInTheOrderOfRecording(t *testing.T) {
	store, sink := newStore(t), &book{}
	erase(t, store, 5, 1, 4, 2)
	if written := drain(t, newWriter(t, store, sink)); !slices.Equal(written, []int{3, 1}) {
		t.Errorf("%v lines were written", written)
	}
	is(t, "at first", sink.subjects(t), "5", "1", "4", "2")
	if written := drain(t, newWriter(t, store, sink)); !slices.Equal(written, []int{0}) {
		t.Errorf("%v lines were written without an erasure", written)
	}
	erase(t, store, 3, 5)
	drain(t, newWriter(t, store, sink)) // in another process
	is(t, "then", sink.subjects(t), "5", "1", "4", "2", "3", "5")
}

// If the journal fails, the lines are written again, whether the journal has already written them or not.
func TestAFailureLeavesNoGap(t *testing.T) {
	for name, broken := range map[string]book{"before": {before: errBroken}, "after": {after: errBroken}} {
		store, sink := newStore(t), &book{}
		erase(t, store, 1, 2)
		drain(t, newWriter(t, store, sink))
		erase(t, store, 3, 4)
		sink.before, sink.after = broken.before, broken.after
		if n, more, err := newWriter(t, store, sink).RunOnce(t.Context()); !errors.Is(err, errBroken) || n != 0 || more {
			t.Errorf("%s: %d lines were written: %v", name, n, err)
		}
		sink.before, sink.after = nil, nil
		drain(t, newWriter(t, store, sink))
		want := []string{"1", "2", "3", "4"}
		if name == "after" {
			want = []string{"1", "2", "3", "4", "3", "4"}
		}
		is(t, name, sink.subjects(t), want...)
	}
}

// A process dies after it has appended lines and before it has stored its position (the last erasure in the journal).
// The next process appends the same lines again.
func TestAPositionThatIsLostLeavesNoGap(t *testing.T) {
	store, sink := newStore(t), &book{}
	erase(t, store, 1, 2)
	dies := &dying{SessionFactory: store}
	if _, _, err := newWriter(t, dies, sink).RunOnce(t.Context()); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	erase(t, store, 3)
	drain(t, newWriter(t, store, sink))
	is(t, "after all", sink.subjects(t), "1", "2", "1", "2", "3")
}

// dying is a store whose second session fails.
type dying struct {
	ports.SessionFactory
	sessions int
}

func (d *dying) Do(ctx context.Context, fn func(context.Context, ports.Session) error) error {
	if d.sessions++; d.sessions == 2 {
		return errBroken
	}
	return d.SessionFactory.Do(ctx, fn)
}

// Two processes have the same position (the last erasure in the journal). Both append the same lines, and one of them
// stores the new position.
func TestConcurrentProcessesOmitNoLine(t *testing.T) {
	store, sink := newStore(t), &book{}
	erase(t, store, 1, 2)
	other := newWriter(t, store, sink)
	first := newWriter(t, store, &between{book: sink, then: func() {
		erase(t, store, 3)
		drain(t, other)
	}})
	if n, more, err := first.RunOnce(t.Context()); err != nil || n != 2 || !more {
		t.Errorf("%d lines were written, and there is more: %v, %v", n, more, err)
	}
	drain(t, first)
	is(t, "of two processes", sink.subjects(t), "1", "2", "1", "2", "3")
}

// between is a journal that calls a function after its first append.
type between struct {
	*book
	then func()
}

func (b *between) Append(ctx context.Context, lines []byte) error {
	err := b.book.Append(ctx, lines)
	if then := b.then; then != nil {
		b.then = nil
		then()
	}
	return err
}

func TestALaterJournalBeginsAtTheFirstErasure(t *testing.T) {
	store, first, second := newStore(t), &book{}, &named{book: &book{}}
	erase(t, store, 1, 2)
	drain(t, newWriter(t, store, first))
	drain(t, newWriter(t, store, second))
	is(t, "under another name", second.subjects(t), "1", "2")
}

type named struct{ *book }

func (named) Name() string { return "another" }

// entries returns the entries of the lines.
func entries(t *testing.T, text []byte) (found []domain.JournalEntry) {
	t.Helper()
	for line := range bytes.Lines(text) {
		entry, _, err := domain.ParseJournalLine(line)
		must(t, err)
		found = append(found, entry)
	}
	return found
}

// The line of an erasure names its database, its number there and the number before it, whether the latter is written
// to the journal or not.
func TestALineNamesItsPlaceInItsDatabase(t *testing.T) {
	users, out := fixture.Users(), &bytes.Buffer{}
	users.Columns = append(users.Columns, fixture.Column("created_at", datamap.TypeTime))
	store, err := memory.New(fixture.MustMap(t, users), memory.Options{})
	must(t, err)
	added := noon.AddDate(-1, 0, 0)
	must(t, store.Insert("users", memory.Row{"id": int64(4), "email": "mail@example.org", "created_at": added}))
	erase(t, store, 1, 4, 2, 1, 3)
	want := []string{"4 0-2 added", "2 2-3", "1 3-4", "3 4-5"}
	check := func(name string, text []byte, want ...string) {
		t.Helper()
		var got []string
		for _, entry := range entries(t, text) {
			line := fmt.Sprintf("%v %d-%d", entry.SubjectID, entry.After, entry.Number)
			if entry.AddedAt.Equal(added) {
				line += " added"
			}
			got = append(got, line)
			if entry.Installation != installationOf(t, store) {
				t.Errorf("%s: a line is of the installation %q", name, entry.Installation)
			}
		}
		is(t, name, got, want...)
	}
	sink := &book{}
	drain(t, newWriter(t, store, sink))
	check("of a writer", sink.text, want...)
	_, err = journal.Write(t.Context(), store, out, journal.From{})
	must(t, err)
	check("of all", out.Bytes(), want...)
	out.Reset()
	_, err = journal.Write(t.Context(), store, out, journal.From{After: 3})
	must(t, err)
	check("after a number", out.Bytes(), want[2:]...)
}

// installationOf returns the id of the installation of the database.
func installationOf(t *testing.T, sessions ports.SessionFactory) (id string) {
	t.Helper()
	must(t, sessions.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		found, err := s.Installation().Read(ctx)
		id = found.ID
		return err
	}))
	return id
}

// Erasures 1 to 4 were made at 1 to 4 seconds after noon. The bound is a day before the given time.
func TestErasuresSinceADayBeforeATimeAreWritten(t *testing.T) {
	store, out := newStore(t), &bytes.Buffer{}
	erase(t, store, 1, 4, 2, 3)
	n, err := journal.Write(t.Context(), store, out, journal.From{Since: noon.Add(2*time.Second + 24*time.Hour)})
	sink := &book{text: out.Bytes()}
	if err != nil || n != 3 {
		t.Errorf("%d lines were written: %v", n, err)
	}
	is(t, "since an instant", sink.subjects(t), "4", "2", "3")
	var after []int64
	for _, entry := range entries(t, out.Bytes()) {
		after = append(after, entry.After)
	}
	if !slices.Equal(after, []int64{1, 2, 3}) { // also the erasure that is not written has a number
		t.Errorf("the numbers before are %v", after)
	}
	if _, err := journal.Write(t.Context(), store, failing{}, journal.From{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
	_, err = journal.Write(t.Context(), store, out, journal.From{After: -1})
	if !errors.Is(err, domain.ErrConfiguration) {
		t.Errorf("got %v", err)
	}
}

// The id of an erasure no longer fits the key of the subject's table. It has a line, as the others.
func TestAnIDThatNoLongerFitsTheKeyHasALine(t *testing.T) {
	store, sink := newStore(t), &book{}
	erase(t, store, 1, 2, 3)
	drain(t, newWriter(t, fixture.Misfit{SessionFactory: store, Changed: map[string]string{"2": "anna"}}, sink))
	is(t, "of two types", sink.subjects(t), "1", "anna", "3")
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errBroken }

func TestAWriterWithAnInvalidConfigurationIsRefused(t *testing.T) {
	store := newStore(t)
	for name, c := range map[string]journal.Config{
		"no sessions":             {Journal: &book{}},
		"no journal":              {Sessions: store},
		"a negative batch":        {Sessions: store, Journal: &book{}, Batch: -1},
		"a name that is too long": {Sessions: store, Journal: &called{name: strings.Repeat("x", 201)}},
		"no name":                 {Sessions: store, Journal: &called{}},
	} {
		if _, err := journal.NewWriter(c); !errors.Is(err, domain.ErrConfiguration) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

type called struct {
	book
	name string
}

func (c *called) Name() string { return c.name }

var must = fixture.Must
