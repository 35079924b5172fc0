package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tool/cli"
)

func TestAnErasureShowsItsCounts(t *testing.T) {
	w := newWorld(t)
	stdout, stderr := w.want(0, "erase", "2", by, "--yes", "--ref", "crm=c-2")
	_, table, _ := strings.Cut(stdout, ".\n")
	want := `TABLE      DELETED  ANONYMIZED  RETAINED
customers  0        1           0
invoices   0        0           1
parcels    2        0           0
A worker will call: crm
`
	if table != want || !strings.HasPrefix(stdout, "Erased 2 at 2") || stderr != "" {
		t.Errorf("printed\n%s%s", stdout, stderr)
	}
	if left := w.emails(); !slices.Equal(left, []string{"c1@example.org", "c3@example.org"}) {
		t.Errorf("left are %q", left)
	}
	if entries := w.store.Entries(); len(entries) != 1 || entries[0].Ref.Value != "c-2" {
		t.Errorf("enqueued %v", entries)
	}
	for _, event := range w.trail("2") {
		if event.Payload[domain.PayloadOperator] != "dpo" {
			t.Errorf("%s names the operator %v", event.EventType, event.Payload[domain.PayloadOperator])
		}
	}
}

func TestTheResultOfAnErasureInJSONIsTheDomainResult(t *testing.T) {
	w := newWorld(t)
	t.Setenv("HABEAS_OPERATOR", "dpo")
	result := decoded[domain.ErasureResult](w, 0, "erase", "2", "--yes")
	if result.SubjectID.String() != "2" || result.Deleted["parcels"] != 2 {
		t.Errorf("got %+v", result)
	}
}

func TestLinesOfTheStandardInputAreSubjects(t *testing.T) {
	w := newWorld(t).reading("1\r\n\n\"2\"\n{\"subject_id\": \"3\", \"refs\": [{\"kind\": \"crm\", \"value\": \"c-3\"}]}")
	stdout, _ := w.want(0, "erase", "-", by, "--yes", "--output", "json")
	if strings.Count(stdout, "\n") != 3 || len(w.emails()) > 0 {
		t.Errorf("left are %q:\n%s", w.emails(), stdout)
	}
	if entries := w.store.Entries(); len(entries) != 1 || entries[0].Ref.Value != "c-3" {
		t.Errorf("enqueued %v", entries)
	}
}

func TestAByteOrderMarkIsNoPartOfALine(t *testing.T) {
	w := newWorld(t).reading("\ufeff1\r\n2\n\ufeff{\"subject_id\": \"3\"}\n")
	w.want(0, "erase", "-", by, "--yes")
	if len(w.emails()) > 0 {
		t.Errorf("left are %q", w.emails())
	}
	w = newWorld(t).reading("\ufeffc1@example.org\n")
	w.want(1, "find", "-")
}

// noPlan is a hash in the correct format that is not the hash of any erasure plan.
const noPlan = "3f2504e04f8911d39a0c0305e82c3301"

func TestAnIncorrectCallChangesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		lines string
		args  []string
		says  string
	}{
		"no subject":              {"", []string{}, "needs a subject"},
		"two subjects":            {"", []string{"1", "2"}, "takes only a subject"},
		"no operator":             {"", []string{"1", "--yes"}, "--operator is missing"},
		"an operator of controls": {"", []string{"1", "--yes", "--operator", "a\x1b[31m"}, "control characters"},
		"a wrong format":          {"", []string{"1", "-o", "c1@example.org"}, "not valid, it must be text or json"},
		"a flag without a value":  {"", []string{"1", "--yes", "--operator"}, "--operator needs a value"},
		"a wrong truth value":     {"", []string{"1", "--yes=c1@example.org"}, "--yes is not valid, it must be bool"},
		"no confirmation":         {"yes\n", []string{"1", by}, "--yes is needed"},
		"an empty id":             {"", []string{"", "--yes", by}, "empty"},
		"a composite id":          {"", []string{`["1","2"]`, "--yes", by}, "elements"},
		"an array of numbers":     {"", []string{`[1,2]`, "--yes", by}, "array of strings"},
		"no JSON string":          {"", []string{`"1`, "--yes", by}, "JSON string"},
		"an unknown id":           {"", []string{"c1@example.org", "--yes", by}, "no subject with this id"},
		"an unknown system":       {"", []string{"1", "--yes", by, "--ref", "erp=7"}, `see the help topic "subjects"`},
		"a ref without an id":     {"", []string{"1", "--yes", by, "--ref", "crm"}, "--ref must have the form system=id"},
		"an empty ref":            {"", []string{"1", "--yes", by, "--ref", "crm="}, "1 to 255"},
		"an empty plan":           {"", []string{"1", "--yes", by, "--plan", ""}, "--plan must be the 32"},
		"no plan":                 {"", []string{"1", "--yes", by, "--plan", "c1@example.org"}, "--plan must be the 32"},
		"a plan for lines":        {"1\n2\n", []string{"-", "--yes", by, "--plan", noPlan}, "--plan is for one subject"},
		"refs for lines":          {"1\n", []string{"-", "--yes", by, "--ref", "crm=7"}, "has refs in JSON"},
		"no line":                 {"\n", []string{"-", "--yes", by}, "has no subject"},
		"a broken line":           {"1\n{\"id\": \"c1@example.org\"}\n", []string{"-", "--yes", by}, "line 2: "},
		"a composite id in a line": {
			"1\n[\"1\",\"2\"]\n", []string{"-", "--yes", by}, "line 2: ",
		},
		"an unknown field":       {"{\"subject_id\":\"1\",\"ref\":[]}\n", []string{"-", "--yes", by}, "line 1: "},
		"two subjects in a line": {"{\"subject_id\":\"1\",\"Subject_ID\":\"2\"}\n", []string{"-", "--yes", by}, "line 1: "},
		"two values of a ref": {
			"{\"subject_id\":\"1\",\"refs\":[{\"kind\":\"crm\",\"value\":\"1\",\"value\":\"2\"}]}\n",
			[]string{"-", "--yes", by},
			"line 1: ",
		},
		"two members of an extra": {
			`{"subject_id":"1","refs":[{"kind":"crm","value":"1","extra":{"site":"a","site":"b"}}]}` + "\n",
			[]string{"-", "--yes", by},
			"line 1: ",
		},
		"two members in an unknown field": {
			`{"subject_id":"1","note":[{"a":[{"b":1,"b":2}]}]}` + "\n", []string{"-", "--yes", by}, "line 1: ",
		},
		"text after the object": {"{\"subject_id\":\"1\"} 2\n", []string{"-", "--yes", by}, "line 1: "},
		"an object without id":  {"1\n{}\n", []string{"-", "--yes", by}, "line 2: "},
		"an unknown line":       {"1\n\nc1@example.org\n", []string{"-", "--yes", by}, "line 3: "},
		"a long line":           {"1\n" + strings.Repeat("x", 1<<21), []string{"-", "--yes", by}, "line 2 "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).reading(test.lines)
			stdout, stderr := w.want(2, append([]string{"erase"}, test.args...)...)
			complains(t, stderr, test.says)
			if strings.Contains(stderr, "example.org") || stdout != "" {
				t.Errorf("printed %q, %q", stdout, stderr)
			}
			if len(w.emails()) != 3 || len(w.trail("1")) > 0 {
				t.Errorf("left are %q, with events %v", w.emails(), w.trail("1"))
			}
		})
	}
}

func TestASubjectWithoutItsRowIsErasedOnDemand(t *testing.T) {
	w := newWorld(t)
	w.want(2, "erase", "4", by, "--yes")
	w.want(0, "erase", "4", by, "--yes", "--unknown")
	w.want(0, "erase", "4", by, "--yes") // the erasure is recorded, so the subject is known
}

func TestTheFirstFailureStopsAndReportsTheNumberDone(t *testing.T) {
	w := newWorld(t, func(c *stack.Config) {
		c.Hooks.BeforeErasure = func(_ context.Context, _ ports.Session, subject domain.Subject) error {
			if subject.ID.String() == "2" {
				return errors.New("c2@example.org owes money")
			}
			return nil
		}
	}).reading("1\n2\n3\n")
	stdout, stderr := w.want(2, "erase", "-", by, "--yes")
	complains(t, stderr, "line 2: ", "1 of 3 subjects were done before", "internal")
	if strings.Contains(stderr, "money") || stdout != "Erased 1: 2 deleted, 1 anonymized, 1 retained.\n" ||
		len(w.emails()) != 2 {
		t.Errorf("left are %q, printed %q, %q", w.emails(), stdout, stderr)
	}
}

func TestTheRefusalOfAHookIsPrinted(t *testing.T) {
	w := newWorld(t, func(c *stack.Config) {
		c.Hooks.BeforeErasure = func(context.Context, ports.Session, domain.Subject) error {
			return &domain.RefusalError{Title: "Not now", Detail: "Invoice 7 is\nnot paid."}
		}
	})
	_, stderr := w.want(2, "erase", "2", by, "--yes")
	complains(t, stderr, "the application refused the operation: Not now: Invoice 7 is not paid.")
	_, stderr = w.want(2, "rehearse", "2")
	complains(t, stderr, "Not now: Invoice 7 is not paid.")
}

// interrupting returns a shop in which the operator interrupts the command during the erasure of customer 2.
func interrupting(t *testing.T, interrupt func()) *world {
	t.Helper()
	return newWorld(t, func(c *stack.Config) {
		c.Hooks.BeforeErasure = func(ctx context.Context, _ ports.Session, subject domain.Subject) error {
			if subject.ID.String() != "2" {
				return nil
			}
			interrupt()
			<-ctx.Done()
			return ctx.Err()
		}
	}).reading("1\n2\n3\n")
}

func TestAnInterruptRollsBack(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	w := interrupting(t, stop)
	var stdout, stderr bytes.Buffer
	code := run(ctx, w.gdpr.Operator(), w.in, &stdout, &stderr, "erase", "-", by, "--yes")
	if code != 2 || len(w.emails()) != 2 {
		t.Errorf("ends with %d, left are %q", code, w.emails())
	}
	complains(t, stderr.String(), "interrupted", "rolled back", "1 of 3")
	if events := w.trail("2"); events[0].EventType != domain.EventErasureRequested {
		t.Errorf("the attempt left %v", events)
	}
}

func TestASignalOfTheProcessInterrupts(t *testing.T) {
	w := interrupting(t, func() {
		process, err := os.FindProcess(os.Getpid())
		must(t, err)
		must(t, process.Signal(os.Interrupt))
	})
	root := cli.New(w.gdpr.Operator())
	var stderr bytes.Buffer
	root.SetIn(w.in)
	root.SetOut(&stderr)
	root.SetErr(&stderr)
	root.SetArgs([]string{"erase", "-", by, "--yes", "-o", "json"})
	if code := cli.Main(root); code != 2 || len(w.emails()) != 2 {
		t.Errorf("ends with %d, left are %q: %s", code, w.emails(), stderr.String())
	}
}

// closed returns the writing end of a pipe whose reading end is closed.
func closed(t *testing.T) *os.File {
	t.Helper()
	reader, writer, err := os.Pipe()
	must(t, err)
	must(t, reader.Close())
	t.Cleanup(func() { _ = writer.Close() })
	return writer
}

func TestAClosedPipeDoesNotStopACommand(t *testing.T) {
	w := newWorld(t).reading("1\n2\n3\n")
	var stderr bytes.Buffer
	code := w.into(closed(t), &stderr, "erase", "-", by, "--yes")
	if code != 0 || stderr.Len() > 0 || len(w.emails()) > 0 {
		t.Errorf("ends with %d, left are %q: %s", code, w.emails(), stderr.String())
	}
}

func TestAFailedOutputIsReportedAfterTheWork(t *testing.T) {
	w := newWorld(t).reading("1\n2\n3\n")
	var stderr bytes.Buffer
	code := w.into(full{}, &stderr, "erase", "-", by, "--yes")
	if code != 2 || len(w.emails()) > 0 {
		t.Errorf("ends with %d, left are %q", code, w.emails())
	}
	complains(t, stderr.String(), "output cannot be written", "has finished its work")
}

// full is an output that fails, like a disk without free space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// leaky is an output whose first write writes some bytes and then fails.
type leaky struct{ bytes.Buffer }

func (l *leaky) Write(text []byte) (int, error) {
	if l.Len() == 0 {
		_, _ = l.WriteString("lost ")
		return 0, syscall.EIO
	}
	return l.Buffer.Write(text)
}

func TestNothingIsWrittenAfterAFailedWrite(t *testing.T) {
	w := newWorld(t).reading("1\n2\n3\n")
	out := &leaky{}
	if code := w.into(out, &bytes.Buffer{}, "erase", "-", by, "--yes"); code != 2 || out.String() != "lost " {
		t.Errorf("ends with %d: %s", code, out.String())
	}
}
