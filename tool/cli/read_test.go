package cli_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/saga"
	"github.com/habeas-data/habeas/internal/tests/databases"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

// noon is a clock that stands still.
type noon struct{}

func (noon) Now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func atNoon(c *stack.Config) { c.Clock = noon{} }

func (w *world) consent(id, purpose string, granted bool) {
	w.t.Helper()
	subject, err := domain.NewSubjectID(id)
	must(w.t, err)
	must(w.t, w.store.Do(w.t.Context(), func(ctx context.Context, s ports.Session) error {
		_, err := w.gdpr.Stack().Consent.Record(ctx, s, subject, domain.ConsentDecision{
			Purpose: purpose, PolicyVersion: "2026-01", Granted: granted, Source: "api",
		})
		return err
	}))
}

func TestATrailFitsTheOutput(t *testing.T) {
	w := newWorld(t, atNoon)
	w.want(0, "erase", "1", by, "--yes")
	stdout, _ := w.want(0, "trail", "1")
	want := `Trail of 1: 6 events.
2026-03-01 12:00:00Z erasure_requested
  external_steps=0 local_steps=3 operator=dpo refs=0
`
	if !strings.HasPrefix(stdout, want) {
		t.Errorf("printed\n%s", stdout)
	}
	for line := range strings.Lines(stdout) {
		if len([]rune(line)) > 61 {
			t.Errorf("a line is too wide: %s", line)
		}
	}
	if events := decoded[[]domain.AuditEvent](w, 0, "trail", "1"); len(events) != 6 {
		t.Errorf("got %v", events)
	}
}

func TestASubjectWithoutEventsDiffersFromAnUnknownSubject(t *testing.T) {
	w := newWorld(t)
	for _, verb := range []string{"trail", "consents"} {
		stdout, _ := w.want(0, verb, "1")
		if !strings.Contains(stdout, ": 0 ") {
			t.Errorf("%s prints %q", verb, stdout)
		}
		_, stderr := w.want(2, verb, "4711")
		complains(t, stderr, "no subject with this id")
		_, stderr = w.reading("1\n4711\n").want(2, verb, "-")
		complains(t, stderr, "line 2: ", "1 of 2")
		if strings.Contains(stderr, "4711") {
			t.Errorf("the error repeats the id: %s", stderr)
		}
	}
	if events := decoded[[]domain.AuditEvent](w, 0, "trail", "1"); len(events) != 0 || events == nil {
		t.Errorf("got %v", events)
	}
}

func TestConsentsAreCurrentOrAHistoryOrOfAGivenTime(t *testing.T) {
	w := newWorld(t, atNoon)
	w.consent("1", "newsletter", true)
	w.consent("1", "newsletter", false)
	w.consent("1", "profiling", true)
	stdout, _ := w.want(0, "consents", "1")
	want := `Consents of 1: 2 lines.
PURPOSE     GRANTED  POLICY   SINCE                 SOURCE
newsletter  no       2026-01  2026-03-01 12:00:00Z  api
profiling   yes      2026-01  2026-03-01 12:00:00Z  api
`
	if stdout != want {
		t.Errorf("printed\n%s", stdout)
	}
	all := decoded[domain.ConsentStatuses](w, 0, "consents", "1")
	history := decoded[[]domain.ConsentRecord](w, 0, "consents", "1", "--purpose", "newsletter")
	if len(all.Consents) != 2 || len(history) != 2 || !history[0].Granted {
		t.Errorf("got %v, history %v", all, history)
	}
	for at, want := range map[string]bool{"2026-03-01T12:59:59+01:00": false, "2026-03-01T12:00:00Z": true} {
		got := decoded[domain.ConsentStatus](w, 0, "consents", "1", "--purpose", "profiling", "--as-of", at)
		if got.Granted != want {
			t.Errorf("as of %s: %+v", at, got)
		}
	}
	_, stderr := w.want(2, "consents", "1", "--purpose", "profiling", "--as-of", "yesterday")
	complains(t, stderr, "must be a time such as")
	_, stderr = w.want(2, "consents", "1", "--as-of", "2026-03-01T12:00:00Z")
	complains(t, stderr, "needs --purpose")
}

func TestTheTablesOfHabeasAreCreatedAndListed(t *testing.T) {
	gdpr, err := app.New(app.Config{DB: databases.SQLite(t), DataMap: dataMap(t)})
	must(t, err)
	w := &world{t: t, gdpr: gdpr}
	stdout, _ := w.want(1, "status")
	if !strings.Contains(stdout, "migration-pending") {
		t.Errorf("printed %s", stdout)
	}
	if states := decoded[[]domain.Migration](w, 1, "migrate", "status"); states[0].State != domain.MigrationPending {
		t.Errorf("got %v", states)
	}
	_, stderr := w.want(2, "trail", "1")
	complains(t, stderr, `were the migrations run? Run "habeas migrate up"`)
	stdout, _ = w.want(0, "migrate", "up")
	if want := "MIGRATION        STATE\n0001_habeas.sql  applied\n"; stdout != want {
		t.Errorf("printed %s", stdout)
	}
	_, stderr = w.want(2, "rehearse", "1")
	complains(t, stderr, "customers", "were the migrations run?")
	if strings.Contains(stderr, "migrate up") {
		t.Errorf("migrate up does not create a table of the application: %s", stderr)
	}
	w.want(0, "migrate", "status")
	w.want(0, "status")
	stdout, _ = w.want(0, "migrate", "sql")
	if !strings.Contains(stdout, "CREATE TABLE habeas_outbox") {
		t.Errorf("printed %s", stdout)
	}
}

func TestAPrewiredStackIsNotMigrated(t *testing.T) {
	w := newWorld(t)
	for _, verb := range []string{"up", "status", "sql"} {
		_, stderr := w.want(2, "migrate", verb)
		complains(t, stderr, "Config.Stack is set")
	}
}

func TestACommandThatNeedsNoApplicationDoesNotOpenIt(t *testing.T) {
	opened := 0
	root := cli.Open(func(context.Context) (cli.Application, error) {
		opened++
		return nil, domain.ErrUnavailable
	})
	for _, args := range [][]string{{"version"}, {"completion", "bash"}, {"help", "erase"}, {"outbox"}, {"erase", "1"}} {
		var out strings.Builder
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetArgs(args)
		cli.Execute(t.Context(), root)
		if out.Len() == 0 {
			t.Errorf("%q prints nothing", args)
		}
	}
	if opened > 0 {
		t.Error("the application was opened")
	}
}

func TestVersionAndCompletion(t *testing.T) {
	w := newWorld(t)
	stdout, _ := w.want(0, "version")
	if !strings.HasPrefix(stdout, "habeas ") || !strings.Contains(stdout, "(go1.") {
		t.Errorf("printed %q", stdout)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if stdout, _ := w.want(0, "completion", shell); !strings.Contains(stdout, "habeas") {
			t.Errorf("%s: printed %q", shell, stdout)
		}
	}
	_, stderr := w.want(2, "completion", "c1@example.org")
	complains(t, stderr, "needs a shell")
	if stdout, _ := w.want(0, "__complete", "completion", ""); !strings.HasPrefix(stdout, "bash\nzsh\n") {
		t.Errorf("completes %q", stdout)
	}
	if stdout, _ := w.want(0, "__complete", "trail", ""); !strings.HasPrefix(stdout, ":4") {
		t.Errorf("completes %q", stdout)
	}
}

func TestTheDataMapIsDrawn(t *testing.T) {
	w := newWorld(t)
	for format, begins := range map[string]string{"svg": "<svg", "mermaid": "flowchart", "dot": "digraph"} {
		stdout, _ := w.want(0, "map", "--format", format)
		if !strings.HasPrefix(stdout, begins) || !strings.Contains(stdout, "parcels") || !strings.HasSuffix(stdout, "\n") {
			t.Errorf("%s: printed %s", format, stdout)
		}
		if got := decoded[map[string]string](w, 0, "map", "--format", format); got["picture"] != stdout {
			t.Errorf("got %v", got)
		}
	}
	_, stderr := w.want(2, "map", "--format", "png")
	complains(t, stderr, "it must be svg or mermaid or dot")
}

func TestTheStatusShowsTheDuties(t *testing.T) {
	w := newWorld(t)
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	must(t, w.store.Do(t.Context(), func(ctx context.Context, s ports.Session) error {
		journal := domain.Duty{Name: domain.DutyJournal, Every: time.Minute, LastFailure: &at, LastError: "timeout"}
		must(t, s.Installation().Duties().Ended(ctx, journal))
		must(t, s.Installation().Duties().Begin(ctx, domain.Duty{Name: domain.DutySweep, Every: time.Hour, Began: &at}))
		return s.Installation().Duties().SetLeftOver(ctx, domain.DutySweep, 4)
	}))
	stdout, _ := w.want(1, "status")
	for _, part := range []string{
		"journal-failing", "(timeout)", "sweep-late", "never succeeded", "sweep-left-over", "4 erased subjects",
		"journal failing - 2024-03-01 12:00:00Z timeout 0", "sweep never - - - 4",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), part) {
			t.Errorf("the status lacks %q:\n%s", part, stdout)
		}
	}
	status := decoded[saga.Status](w, 1, "status")
	if len(status.Duties) != 3 || status.Duties[1].LastError != "timeout" { // the worker never ran
		t.Errorf("got %+v", status.Duties)
	}
}

func TestTheVersionIsAlsoAFlag(t *testing.T) {
	w := newWorld(t)
	command, _ := w.want(0, "version")
	if flag, stderr := w.want(0, "--version"); flag != command || !strings.HasPrefix(flag, "habeas ") || stderr != "" {
		t.Errorf("printed %q, want %q", flag, command)
	}
}

func TestAPictureCanHaveOneTable(t *testing.T) {
	w := newWorld(t)
	stdout, _ := w.want(0, "map", "--format", "mermaid", "--only", "parcels")
	if !strings.Contains(stdout, "parcels") || !strings.Contains(stdout, "customers") ||
		strings.Contains(stdout, "invoices") {
		t.Errorf("printed\n%s", stdout)
	}
	_, stderr := w.want(2, "map", "--only", "wishes")
	complains(t, stderr, "--only must be a table of the data map")
}
