package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/tool/cli"
)

// terminal is a terminal with a person.
type terminal struct {
	bytes.Buffer
}

func (*terminal) IsTerminal() bool { return true }

// typed is the input of a person.
type typed struct{ io.Reader }

func (typed) IsTerminal() bool { return true }

// withoutColours removes the colours of a terminal.
var withoutColours = strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[33m", "", "\x1b[34m", "")

func TestAPersonConfirmsAnErasure(t *testing.T) {
	for response, want := range map[string]int{"yes\n": 0, " yes \r\n": 0, "y\n": 2, "no\n": 2, "\n": 2, "": 2} {
		w := newWorld(t)
		w.in = typed{strings.NewReader(response)}
		screen := &terminal{}
		code := w.into(&bytes.Buffer{}, screen, "erase", "1", by)
		shown := withoutColours.Replace(screen.String())
		if code != want || !strings.HasPrefix(shown, `The erasure would change:
TABLE      PATH                     STEP       ROWS  COLUMNS
invoices   customer_id > customers  retain     1     address
parcels    customer_id > customers  delete     2
customers  the subject's own row    anonymize  1     email
Erase 1 subject? Type yes to continue: `) {
			t.Errorf("%q ends with %d: %s", response, code, screen.String())
		}
		if erased := len(w.emails()) == 2; erased != (want == 0) {
			t.Errorf("%q: erased %v", response, erased)
		}
	}
}

func TestAPromptHasOnlyTheStepsThatHaveRows(t *testing.T) {
	w := newWorld(t)
	w.want(0, "erase", "1", by, "--yes")
	w.in = typed{strings.NewReader("no\n")}
	screen := &terminal{}
	w.into(&bytes.Buffer{}, screen, "erase", "1", by)
	shown := withoutColours.Replace(screen.String())
	if !strings.Contains(shown, "customers  the subject's own row") || strings.Contains(shown, "parcels") {
		t.Errorf("asked %s", screen.String())
	}
}

func TestAnInterruptedPromptChangesNothing(t *testing.T) {
	w := newWorld(t)
	in, keyboard := io.Pipe()
	t.Cleanup(func() { _ = keyboard.Close() })
	ctx, stop := context.WithCancel(t.Context())
	screen := &interrupted{stop: stop}
	code := run(ctx, w.gdpr.Operator(), typed{in}, &bytes.Buffer{}, screen, "erase", "1", by)
	if code != 2 || len(w.emails()) != 3 || !strings.Contains(screen.String(), "interrupted") {
		t.Errorf("ends with %d: %s", code, screen.String())
	}
}

// interrupted is a terminal. The person at the terminal interrupts the command at the prompt.
type interrupted struct {
	terminal
	stop func()
}

func (i *interrupted) Write(text []byte) (int, error) {
	i.stop()
	return i.terminal.Write(text)
}

func TestAnErrorIsWrappedAtTheWidthOfATerminal(t *testing.T) {
	w := newWorld(t)
	screen := &terminal{}
	if code := w.into(io.Discard, screen, "status", "-o"); code != 2 {
		t.Errorf("ends with %d", code)
	}
	const want = "habeas: status: -o needs a value; see habeas status --help\n"
	if got := withoutColours.Replace(screen.String()); got != want {
		t.Errorf("shows %q", got)
	}
	screen.Reset()
	w.into(io.Discard, screen, "erase", "1")
	lines := strings.Split(strings.TrimSpace(withoutColours.Replace(screen.String())), "\n")
	for _, line := range lines {
		if len(lines) < 2 || len(line) > 60 {
			t.Errorf("shows the line %q", line)
		}
	}
}

func TestColoursAreForTerminals(t *testing.T) {
	w := abandoned(t, "1")
	coloured := func(environment ...string) bool {
		t.Helper()
		for i := 0; i < len(environment); i += 2 {
			t.Setenv(environment[i], environment[i+1])
		}
		screen := &terminal{}
		w.into(screen, io.Discard, "status")
		return strings.Contains(screen.String(), "\x1b[31merror\x1b[0m")
	}
	if !coloured() {
		t.Error("a terminal has no colours")
	}
	if coloured("NO_COLOR", "1") {
		t.Error("NO_COLOR does not count")
	}
	if !coloured("NO_COLOR", "") {
		t.Error("an empty NO_COLOR counts")
	}
	if coloured("TERM", "dumb") {
		t.Error("a dumb terminal has colours")
	}
	stdout, _ := w.want(1, "status")
	nothing, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	defer func() { _ = nothing.Close() }()
	w.into(nothing, io.Discard, "status")
	if strings.Contains(stdout, "\x1b") {
		t.Errorf("printed %q", stdout)
	}
	screen := &terminal{}
	w.into(screen, io.Discard, "status", "-o", "json")
	if strings.Contains(screen.String(), "\x1b") {
		t.Errorf("JSON is coloured: %q", screen.String())
	}
}

func TestValuesDoNotControlATerminal(t *testing.T) {
	w := newWorld(t)
	w.consent("1", "a\x1b]0;b\a\u009b31m\u202ec", true)
	screen := &terminal{}
	w.into(screen, io.Discard, "consents", "1")
	if !strings.Contains(screen.String(), "a�]0;b��31m�c") {
		t.Errorf("printed %q", screen.String())
	}
	for _, text := range []string{"a\u009b31m\u007f é\u00a0\u00bf", "\u0080\u009f", "a\u202eb\u200d\u00ad\U000e0001c"} {
		w.consent("2", text, true)
		screen, file := &terminal{}, &bytes.Buffer{}
		w.into(screen, io.Discard, "consents", "2", "-o", "json")
		w.into(file, io.Discard, "consents", "2", "-o", "json")
		var shown, stored any
		must(t, json.Unmarshal(file.Bytes(), &stored))
		if err := json.Unmarshal(screen.Bytes(), &shown); err != nil || !reflect.DeepEqual(shown, stored) ||
			strings.ContainsFunc(screen.String(), func(r rune) bool {
				return r != '\n' && (unicode.IsControl(r) ||
					unicode.Is(unicode.Cf, r))
			}) {
			t.Errorf("printed %q, %v", screen.String(), err)
		}
	}
}

// slow is an application in which an erasure takes one second.
type slow struct{ cli.Application }

func (s slow) Erase(ctx context.Context, subject domain.Subject) (domain.ErasureResult, error) {
	time.Sleep(time.Second)
	return s.Application.Erase(ctx, subject)
}

func TestABarShowsTheProgressOfACommand(t *testing.T) {
	w := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		for _, screen := range []interface {
			io.Writer
			String() string
		}{&terminal{}, &bytes.Buffer{}} {
			run(t.Context(), slow{w.gdpr.Operator()}, strings.NewReader("1\n2\n3\n"), io.Discard, screen, "erase", "-", "--yes",
				by)
			want := ""
			if _, is := screen.(*terminal); is {
				want = "\r\x1b[Kerasing [######..............] 1 of 3\r\x1b[Kerasing [#############.......] 2 of 3" +
					"\r\x1b[Kerasing [####################] 3 of 3\r\x1b[K"
			}
			if screen.String() != want {
				t.Errorf("showed %q", screen.String())
			}
		}
	})
}
