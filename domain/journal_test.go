package domain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
)

func TestALineOfAJournal(t *testing.T) {
	id, err := domain.NewSubjectID("acme", "4\n2\x00"[:3])
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 3, 1, 13, 0, 0, 123456789, time.FixedZone("", 3600))
	for want, entry := range map[string]domain.JournalEntry{
		`{"v":1,"subject":["acme","4\n2"],"erased_at":"2024-03-01T12:00:00.123456Z"}`: {SubjectID: id, ErasedAt: at},
		`{"v":1,"subject":["acme","4\n2"],"erased_at":"2024-03-01T12:00:00.123456Z","operation_id":"op"}`: {
			SubjectID: id, ErasedAt: at, OperationID: "op",
		},
	} {
		if got := string(entry.AppendLine(nil)); got != want+"\n" {
			t.Errorf("got %s", got)
		}
	}
	if got := string(domain.AppendTruncated([]byte("x"))); got != "x{\"v\":1,\"cut\":true}\n" {
		t.Errorf("got %s", got)
	}
	if _, cut, err := domain.ParseJournalLine([]byte(`{"v":1,"cut":true}`)); !cut || err != nil {
		t.Errorf("a cut is read as %v, %v", cut, err)
	}
}

// A later version of this module may write members that this version does not know.
func TestALineMayHaveMoreMembers(t *testing.T) {
	entry, cut, err := domain.ParseJournalLine([]byte(
		`{"v":1,"subject":["7"],"erased_at":"2024-03-01T12:00:00Z","by":"x","cut":false}`))
	if err != nil || cut || entry.SubjectID.String() != "7" {
		t.Errorf("got %v, %v, %v", entry, cut, err)
	}
}

func TestALineThatIsNoEntryIsRefused(t *testing.T) {
	for name, line := range map[string]string{
		"nothing":          ``,
		"half of one":      `{"v":1,"subject":["secret`,
		"no object":        `["secret"]`,
		"no version":       `{"subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"another version":  `{"v":2,"subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"no subject":       `{"v":1,"erased_at":"2024-03-01T12:00:00Z"}`,
		"an empty element": `{"v":1,"subject":["secret",""],"erased_at":"2024-03-01T12:00:00Z"}`,
		"no instant":       `{"v":1,"subject":["secret"]}`,
		"another instant":  `{"v":1,"subject":["secret"],"erased_at":"yesterday"}`,
		"the zero instant": `{"v":1,"subject":["secret"],"erased_at":"0001-01-01T00:00:00Z"}`,
		"an id that is long": `{"v":1,"subject":["secret` + strings.Repeat("x", 255) +
			`"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"two lines":           `{"v":1,"subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}{}`,
		"a text for a number": `{"v":"1","subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}`,
	} {
		_, _, err := domain.ParseJournalLine([]byte(line))
		if !errors.Is(err, domain.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := rapid.SliceOfN(rapid.StringN(1, 20, -1), 1, 4).Draw(t, "elements")
		id, err := domain.NewSubjectID(elements...)
		if err != nil {
			t.Skip("no id")
		}
		want := domain.JournalEntry{
			SubjectID: id, OperationID: rapid.StringMatching(`[a-z0-9-]*`).Draw(t, "operation"),
			ErasedAt: time.UnixMicro(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "instant")).UTC(),
		}
		line := want.AppendLine(nil)
		got, cut, err := domain.ParseJournalLine(line)
		if err != nil || cut || got != want || strings.Count(string(line), "\n") != 1 {
			t.Fatalf("got %v, %v, %v, want %v", got, cut, err, want)
		}
	})
}
