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
		`{"v":2,"installation":"shop","number":7,"after":0,"subject":["acme","4\n2"],` +
			`"erased_at":"2024-03-01T12:00:00.123456Z"}`: {Installation: "shop", Number: 7, SubjectID: id, ErasedAt: at},
		`{"v":2,"installation":"shop","number":7,"after":5,"subject":["acme","4\n2"],` +
			`"erased_at":"2024-03-01T12:00:00.123456Z","added_at":"2024-03-01T12:00:00.123456Z"}`: {
			Installation: "shop", Number: 7, After: 5, SubjectID: id, ErasedAt: at, AddedAt: at,
		},
	} {
		if got := string(entry.AppendLine(nil)); got != want+"\n" {
			t.Errorf("got %s", got)
		}
	}
	if got := string(domain.AppendTruncated([]byte("x"))); got != "x{\"v\":2,\"cut\":true}\n" {
		t.Errorf("got %s", got)
	}
	if _, cut, err := domain.ParseJournalLine([]byte(`{"v":2,"cut":true}`)); !cut || err != nil {
		t.Errorf("a cut is read as %v, %v", cut, err)
	}
}

// A later version of this module may write members that this version does not know.
func TestALineMayHaveMoreMembers(t *testing.T) {
	entry, cut, err := domain.ParseJournalLine([]byte(
		`{"v":2,"installation":"shop","number":1,"after":0,"subject":["7"],"erased_at":"2024-03-01T12:00:00Z",` +
			`"by":"x","cut":false}`))
	if err != nil || cut || entry.SubjectID.String() != "7" {
		t.Errorf("got %v, %v, %v", entry, cut, err)
	}
}

func TestALineThatIsNoEntryIsRefused(t *testing.T) {
	const begin, instant = `{"v":2,"installation":"shop","number":1,"after":0`, `,"erased_at":"2024-03-01T12:00:00Z"}`
	for name, line := range map[string]string{
		"nothing":             ``,
		"half of one":         begin + `,"subject":["secret`,
		"no object":           `["secret"]`,
		"no version":          `{"subject":["secret"]` + instant,
		"an earlier version":  `{"v":1,"subject":["secret"]` + instant,
		"a later version":     `{"v":3,"subject":["secret"]` + instant,
		"a cut of another":    `{"v":3,"cut":true}`,
		"a text for a number": `{"v":"2","subject":["secret"]` + instant,
		"no subject":          begin + instant,
		"an empty element":    begin + `,"subject":["secret",""]` + instant,
		"a long id":           begin + `,"subject":["secret` + strings.Repeat("x", 255) + `"]` + instant,
		"a broken character":  begin + `,"subject":["secret` + "\xff" + `"]` + instant,
		"half a character":    begin + `,"subject":["secret\ud800"]` + instant,
		"no instant":          begin + `,"subject":["secret"]}`,
		"another instant":     begin + `,"subject":["secret"],"erased_at":"yesterday"}`,
		"the zero instant":    begin + `,"subject":["secret"],"erased_at":"0001-01-01T00:00:00Z"}`,
		"two lines":           begin + `,"subject":["secret"]` + instant + `{}`,
	} {
		_, _, err := domain.ParseJournalLine([]byte(line))
		if !errors.Is(err, domain.ErrInvalid) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, _, err := domain.ParseJournalLine([]byte(`{"v":1,"subject":["7"]` + instant))
	if err == nil || !strings.Contains(err.Error(), "has the version 1, but this version of habeas reads only version 2") {
		t.Errorf("an earlier version: got %v", err)
	}
}

// The parts of a line that identify the database and the place of the erasure in it are complete and plausible.
func TestALineWithImplausibleNumbersIsRefused(t *testing.T) {
	const rest = `"subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}`
	for name, c := range map[string]struct {
		members string
		valid   bool
	}{
		"both":                        {`"installation":"shop","number":2,"after":1,`, true},
		"the first":                   {`"installation":"shop","number":1,"after":0,`, true},
		"the greatest":                {`"installation":"shop","number":9007199254740992,"after":1,`, true},
		"greater than the greatest":   {`"installation":"shop","number":9007199254740993,"after":1,`, false},
		"a number 0":                  {`"installation":"shop","number":0,"after":-1,`, false},
		"a negative number":           {`"installation":"shop","number":-1,"after":-2,`, false},
		"a negative one before":       {`"installation":"shop","number":1,"after":-1,`, false},
		"itself before":               {`"installation":"shop","number":2,"after":2,`, false},
		"a later one before":          {`"installation":"shop","number":2,"after":3,`, false},
		"nothing before":              {`"installation":"shop","number":2,`, false},
		"only the one before":         {`"installation":"shop","after":2,`, false},
		"only an installation":        {`"installation":"shop",`, false},
		"only numbers":                {`"number":2,"after":1,`, false},
		"numbers of nothing":          {`"installation":"","number":2,"after":1,`, false},
		"a fraction":                  {`"installation":"shop","number":2.5,"after":1,`, false},
		"a number as text":            {`"installation":"shop","number":"2","after":1,`, false},
		"an installation with spaces": {`"installation":"a shop","number":2,"after":1,`, false},
		"an installation with lines":  {`"installation":"shop\n","number":2,"after":1,`, false},
		"a long installation":         {`"installation":"` + strings.Repeat("x", 101) + `","number":2,"after":1,`, false},
		"an instant that is none":     {`"installation":"shop","number":2,"after":1,"added_at":"once",`, false},
	} {
		_, _, err := domain.ParseJournalLine([]byte(`{"v":2,` + c.members + rest))
		if c.valid != (err == nil) || err != nil && !errors.Is(err, domain.ErrInvalid) {
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
		instant := func(name string) time.Time {
			return time.UnixMicro(rapid.Int64Range(-1<<50, 1<<50).Draw(t, name)).UTC()
		}
		want := domain.JournalEntry{
			Installation: rapid.StringMatching(`[a-zA-Z0-9-]+`).Draw(t, "installation"),
			Number:       rapid.Int64Range(1, 1<<53).Draw(t, "number"), SubjectID: id, ErasedAt: instant("instant"),
		}
		want.After = rapid.Int64Range(0, want.Number-1).Draw(t, "after")
		if rapid.Bool().Draw(t, "of a row") {
			want.AddedAt = instant("added")
		}
		line := want.AppendLine(nil)
		got, cut, err := domain.ParseJournalLine(line)
		if err != nil || cut || got != want || strings.Count(string(line), "\n") != 1 {
			t.Fatalf("got %v, %v, %v, want %v", got, cut, err, want)
		}
	})
}
