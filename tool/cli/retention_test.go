package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/replay"
	"github.com/habeas-data/habeas/domain/search"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// due is an application whose sweep finds expired cells. The sweep may also return an error.
type due struct {
	cli.Application
	failure error
	unclear int64
	swept   *int
}

func (d due) report() domain.SweepReport {
	return domain.SweepReport{
		Erased: 5, Subjects: 2, Unclear: d.unclear, Rows: map[string]int64{"invoices": 3, "bills": 1},
	}
}

func (d due) RehearseSweep(context.Context, func(domain.SweepReport)) (domain.SweepReport, error) {
	return d.report(), nil
}

func (d due) Sweep(ctx context.Context, progress func(domain.SweepReport)) (domain.SweepReport, error) {
	*d.swept++
	if domain.OperatorOf(ctx) != "dpo" {
		return domain.SweepReport{}, errors.New("no operator")
	}
	report := d.report()
	if errors.Is(d.failure, domain.ErrSubject) {
		report.Skipped = 1
	} else if d.failure != nil {
		report.Failed = 1
	}
	progress(report)
	return report, d.failure
}

func TestASweepIsCountedConfirmedAndReported(t *testing.T) {
	const counts = "Expired: retained cells of 2 subjects, in 4 rows.\nTABLE     ROWS\nbills     1\ninvoices  3\n"
	for name, test := range map[string]struct {
		args     []string
		response string
		failure  error
		unclear  int64
		code     int
		swept    int
		says     string
	}{
		"a dry run":    {[]string{"--dry-run"}, "", nil, 0, 0, 0, ""},
		"no operator":  {[]string{"--yes"}, "", nil, 0, 2, 0, "--operator is missing"},
		"without a no": {[]string{by, "--yes"}, "", nil, 0, 0, 1, ""},
		"a yes":        {[]string{by}, "yes\n", nil, 0, 0, 1, "Overwrite retained cells of 2 subjects, in 4 rows. Type"},
		"a no":         {[]string{by}, "no\n", nil, 0, 2, 0, "was not confirmed"},
		"a failure":    {[]string{by, "--yes"}, "", domain.ErrConflict, 0, 2, 1, "1 subject failed"},
		"an odd id":    {[]string{by, "--yes"}, "", &domain.Error{Code: domain.ErrSubject}, 0, 1, 1, "subject"},
		"a new person": {[]string{by, "--yes"}, "", nil, 3, 1, 1, "cells of 3 subjects stay"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HABEAS_OPERATOR", "")
			swept := 0
			out, screen := &bytes.Buffer{}, &terminal{}
			in := typed{strings.NewReader(test.response)}
			application := due{failure: test.failure, unclear: test.unclear, swept: &swept}
			code := run(t.Context(), application, in, out, screen, append([]string{"sweep"}, test.args...)...)
			if code != test.code || swept != test.swept || !strings.Contains(screen.String(), test.says) {
				t.Errorf("ends with %d after %d sweeps: %s", code, swept, screen.String())
			}
			if shown := out.String() == counts; shown != (test.swept > 0 || test.code == 0) {
				t.Errorf("printed\n%s", out.String())
			}
		})
	}
}

func TestASweepOfTheShopFindsNothingDue(t *testing.T) {
	w := newWorld(t)
	w.want(0, "erase", "1", by, "--yes")
	for _, args := range [][]string{{"--dry-run"}, {by, "--yes"}} {
		if report := decoded[domain.SweepReport](w, 0, append([]string{"sweep"}, args...)...); report.Subjects != 0 {
			t.Errorf("%q: got %+v", args, report)
		}
	}
	_, stderr := w.want(2, "sweep", by)
	complains(t, stderr, "--yes is needed")
}

func TestARestoredDatabaseIsReplayedFromTheJournal(t *testing.T) {
	lost := newWorld(t)
	lost.reading("1\n3\n").want(0, "erase", "-", by, "--yes")
	name := filepath.Join(t.TempDir(), "erased.jsonl")
	stdout, _ := lost.want(0, "journal", "--file", name)
	lines, err := os.ReadFile(name)
	must(t, err)
	if all, _ := lost.want(0, "journal"); stdout != "" || all != string(lines) || strings.Count(all, "\n") != 2 {
		t.Errorf("printed %q, and wrote %q", all, lines)
	}
	if none, _ := lost.want(0, "journal", "--since", "2999-01-01T00:00:00Z"); none != "" {
		t.Errorf("since the future: %q", none)
	}
	_, stderr := lost.want(2, "journal", "--file", name)
	complains(t, stderr, "the file exists")
	if rest, _ := lost.want(0, "journal", "--after", "1"); !strings.HasSuffix(string(lines), "\n"+rest) || rest == "" {
		t.Errorf("after the first line: %q", rest)
	}
	_, stderr = lost.want(2, "journal", "--since", "yesterday")
	complains(t, stderr, "must be a time such as")
	_, stderr = lost.want(2, "journal", "--after", "-1")
	complains(t, stderr, "--after must be 0 or more")

	restored := newWorld(t)
	_, stderr = restored.want(2, "replay", name, by, "--yes")
	complains(t, stderr, "nothing was changed: the journal has lines of the installation "+lost.installation())
	if len(restored.emails()) != 3 {
		t.Errorf("another database has only %q", restored.emails())
	}
	lines = bytes.ReplaceAll(lines, []byte(lost.installation()), []byte(restored.installation()))
	must(t, os.WriteFile(name, lines, 0o600))
	_, stderr = restored.want(2, "replay", name, by)
	complains(t, stderr, "--yes is needed")
	_, stderr = restored.want(2, "replay", name, "--yes")
	complains(t, stderr, "--operator is missing")
	stdout, _ = restored.want(0, "replay", name, by, "--yes", "--expect", "2")
	first, last, _ := strings.Cut(stdout, "\n")
	if first != "Erased 2 subjects again, skipped 0 subjects, read 2 lines." || len(restored.emails()) != 1 ||
		!strings.HasPrefix(last, "Last line: number 2, erased at 20") {
		t.Errorf("left are %q, printed %q", restored.emails(), stdout)
	}
	restored = restored.reading(string(lines))
	report := decoded[domain.ReplayReport](restored, 0, "replay", "-", by, "--yes", "--workers", "1")
	if report.Current != 2 || report.Erased != 0 {
		t.Errorf("got %+v", report)
	}
	for _, event := range restored.trail("3") {
		if event.Payload[domain.PayloadOperator] != "dpo" {
			t.Errorf("%s names the operator %v", event.EventType, event.Payload[domain.PayloadOperator])
		}
	}
}

// installation returns the id of the installation of the database.
func (w *world) installation() (id string) {
	w.t.Helper()
	must(w.t, w.store.Do(w.t.Context(), func(ctx context.Context, s ports.Session) error {
		found, err := s.Installation().Read(ctx)
		id = found.ID
		return err
	}))
	return id
}

// The command carries out the erasures that it knows, names the findings, and ends with 1.
func TestFindingsOfAReplayAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		lines  string // with # for the id of the installation
		args   []string
		says   string
		erased int
	}{
		"a broken line": {"{}\n" + line("1", 0, 1), nil, "broken lines: 1; the first one is line 1", 1},
		"a cut line":    {line("1", 0, 1) + line("2", 1, 2)[:30], nil, "broken lines: 1; the first one is line 2", 1},
		"missing lines": {line("1", 0, 1) + line("2", 4, 5), nil, "the numbers 2 to 4", 2},
		"an old line":   {strings.Replace(line("1", 0, 1), "2", "1", 1), nil, "a line has the version 1, but", 0},
		"a missing end": {line("1", 0, 1), []string{"--expect", "3"}, "number 1, but the number 3 was expected", 1},
	} {
		w := newWorld(t)
		w = w.reading(strings.ReplaceAll(c.lines, "#", w.installation()))
		stdout, stderr := w.want(1, append([]string{"replay", "-", by, "--yes"}, c.args...)...)
		complains(t, stderr, c.says)
		if !strings.HasPrefix(stdout, "Erased "+strconv.Itoa(c.erased)+" ") || len(w.emails()) != 3-c.erased {
			t.Errorf("%s: left are %q, printed %q", name, w.emails(), stdout)
		}
	}
}

// line returns the line of an erasure in the installation #.
func line(id string, after, number int) string {
	return fmt.Sprintf(`{"v":2,"installation":"#","number":%d,"after":%d,"subject":[%q],`+
		`"erased_at":"2026-03-01T12:00:00Z"}`,
		number, after, id) + "\n"
}

// restoredTables is an application whose replay has erased 1 subject, left 2 new people alone, and has findings.
type restoredTables struct {
	cli.Application
	options *replay.Options
}

func (r restoredTables) Replay(
	_ context.Context, _ io.Reader, options replay.Options,
) (domain.ReplayReport, error) {
	*r.options = options
	return domain.ReplayReport{Lines: 10, Subjects: 10, Erased: 1, New: 2, OtherRow: 3, Unclear: 4}, &domain.Error{
		Code: domain.ErrInvalid, Op: "replay", Message: "replay again with --restored-to", Err: replay.ErrIncomplete,
	}
}

func TestRowsThatMayBeRestoredOnesAreFindings(t *testing.T) {
	var options replay.Options
	for flag, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "--restored-to=2026-03-01T13:00:00.5+01:00": "2026-03-01T12:00:00.5Z",
	} {
		args := []string{"replay", "-", by, "--yes"}
		if flag != "" {
			args = append(args, flag)
		}
		var out, complaint bytes.Buffer
		code := run(t.Context(), restoredTables{nil, &options}, strings.NewReader(""), &out, &complaint, args...)
		if got := options.RestoredTo.UTC().Format(time.RFC3339Nano); got != want {
			t.Errorf("%q: the tables were restored to %s", flag, got)
		}
		text := "Erased 1 subject again, skipped 0 subjects, read 10 lines.\nNot erased: 2 subjects registered after the " +
			"erasure, 3 subjects with another creation time, 4 subjects with unclear evidence.\n"
		if code != 1 || out.String() != text {
			t.Errorf("ends with %d: %s", code, out.String())
		}
		complains(t, complaint.String(), "--restored-to")
		out.Reset()
		code = run(t.Context(), restoredTables{nil, &options}, strings.NewReader(""), &out, &complaint,
			append(args, "--output=json")...)
		for _, member := range []string{`"new":2`, `"other_row":3`, `"unclear":4`} {
			if !strings.Contains(out.String(), member) {
				t.Errorf("ends with %d: %s", code, out.String())
			}
		}
	}
}

func TestAnIncorrectReplayErasesNothing(t *testing.T) {
	w := newWorld(t).reading("{}\n")
	name := filepath.Join(t.TempDir(), "c1@example.org")
	for says, args := range map[string][]string{
		"needs the file":        {by, "--yes"},
		"file of the journal":   {name, by, "--yes"},
		"--workers":             {"-", by, "--yes", "--workers", "0"},
		"--expect":              {"-", by, "--yes", "--expect", "-1"},
		"--restored-to must":    {"-", by, "--yes", "--restored-to", "yesterday"},
		"must be a time such":   {"-", by, "--yes", "--restored-to", "0001-01-01T00:00:00Z"},
		"the standard input":    {"-", by},
		"--operator is missing": {"-", "--yes"},
	} {
		_, stderr := w.want(2, append([]string{"replay"}, args...)...)
		complains(t, stderr, says)
		if strings.Contains(stderr, "example") {
			t.Errorf("the error repeats the file: %s", stderr)
		}
	}
	if len(w.emails()) != 3 {
		t.Errorf("left are %q", w.emails())
	}
}

func TestAPersonConfirmsAReplayWithItsNumberOfLines(t *testing.T) {
	w := newWorld(t)
	name := filepath.Join(t.TempDir(), "erased.jsonl")
	for response, left := range map[string]int{"no\n": 3, "yes\n": 1} {
		other := newWorld(t)
		lines := strings.ReplaceAll(line("1", 0, 1)+line("2", 1, 2), "#", other.installation())
		must(t, os.WriteFile(name, []byte(lines), 0o600))
		other.in = typed{strings.NewReader(response)}
		screen := &terminal{}
		other.into(&bytes.Buffer{}, screen, "replay", name, by, "--restored-to", "2026-02-01T12:00:00Z")
		const prompt = "Erase the restored subjects of 2 lines again. Also erase the subjects who were erased after " +
			"2026-02-01T12:00:00Z and have a row. Type"
		if !strings.HasPrefix(screen.String(), prompt) || len(other.emails()) != left {
			t.Errorf("%q: left are %q: %s", response, other.emails(), screen.String())
		}
	}
	if len(w.emails()) != 3 {
		t.Errorf("left are %q", w.emails())
	}
}

func TestValuesAreFoundAndNeverRepeated(t *testing.T) {
	w := newWorld(t)
	must(t, w.store.Insert("parcels", memory.Row{"id": 100, "customer_id": "1", "address": "care of C1@example.org"}))
	stdout, stderr := w.reading("\nnobody\nc1@example.org\n").want(1, "find", "-")
	want := `Searched for 2 values: found 1 of them, in 2 places.
LINE  PLACE            ROWS
3     customers.email  1
3     parcels.address  1
Not found: line 2.
`
	if stdout != want || stderr != "" {
		t.Errorf("printed\n%s%s", stdout, stderr)
	}
	found := decoded[search.Result](w.reading("c1@example.org\nc1@example.org\n"), 1, "find", "-")
	if len(found.Occurrences) != 2 || found.Occurrences[0].Value != 0 {
		t.Errorf("got %+v", found)
	}
	stdout, _ = w.reading("nobody\nsomebody\n").want(0, "find", "-")
	if stdout != "Searched for 2 values: found none.\n" {
		t.Errorf("printed %s", stdout)
	}
	for lines, says := range map[string]string{"": "values", "c1@example.org\nxy\n": "line 2: "} {
		_, stderr := w.reading(lines).want(2, "find", "-")
		complains(t, stderr, says)
	}
	_, stderr = w.want(2, "find", "c1@example.org")
	complains(t, stderr, "on the standard input")
	if strings.Contains(stderr, "c1@") {
		t.Errorf("the error repeats the value: %s", stderr)
	}
}

// gap is an application that cannot search one of its tables.
type gap struct{ cli.Application }

func (gap) Find(context.Context, []string, func(search.Progress)) (search.Result, error) {
	return search.Result{
		Occurrences: []search.Occurrence{}, Gaps: []search.Gap{{Table: "logs", Reason: search.GapPrivilege}},
	}, nil
}

func TestATableThatCannotBeSearchedIsAFinding(t *testing.T) {
	var out, complaint bytes.Buffer
	code := run(t.Context(), gap{}, strings.NewReader("nobody\n"), &out, &complaint, "find", "-")
	want := "Searched for 1 value: found none.\nNOT SEARCHED  REASON\nlogs          privilege\n"
	if code != 1 || out.String() != want {
		t.Errorf("ends with %d: %s%s", code, out.String(), complaint.String())
	}
}
