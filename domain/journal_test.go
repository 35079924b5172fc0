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
		"another version":  `{"v":3,"subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"no numbers":       `{"v":2,"subject":["secret"],"erased_at":"2024-03-01T12:00:00Z"}`,
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
		for _, version := range []string{"1", "2"} {
			_, _, err := domain.ParseJournalLine([]byte(`{"v":` + version + `,` + c.members + rest))
			if c.valid != (err == nil) || err != nil && !errors.Is(err, domain.ErrInvalid) {
				t.Errorf("%s, version %s: got %v", name, version, err)
			}
		}
	}
}

// Two readers could read different subjects in such lines.
func TestALineWithTwoMeaningsIsRefused(t *testing.T) {
	const begin, end = `{"v":1,"subject":["7"],"erased_at":"2024-03-01T12:00:00Z"`, `}`
	further := `,"x":{"a":1,"a":2},"y":[{"subject":["9"]}]`
	if _, _, err := domain.ParseJournalLine([]byte(begin + further + end)); err != nil {
		t.Errorf("unknown members are not ignored: %v", err)
	}
	for name, line := range map[string]string{
		"a subject twice":            begin + `,"subject":["9"]` + end,
		"the same subject twice":     begin + `,"subject":["7"]` + end,
		"in upper case":              begin + `,"SUBJECT":["9"]` + end,
		"with another kind of s":     begin + `,"ſubject":["9"]` + end,
		"escaped":                    begin + `,"\u0073ubject":["9"]` + end,
		"an unknown one twice":       begin + `,"by":1,"By":2` + end,
		"only in upper case":         `{"v":1,"Subject":["7"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"a broken character":         `{"v":1,"subject":["7` + "\xff" + `"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"half a character":           `{"v":1,"subject":["7\ud800"],"erased_at":"2024-03-01T12:00:00Z"}`,
		"a cut that is also a cut":   `{"v":1,"cut":true,"Cut":false}`,
		"a version that is also one": `{"v":1,"V":2,"subject":["7"],"erased_at":"2024-03-01T12:00:00Z"}`,
	} {
		if entry, cut, err := domain.ParseJournalLine([]byte(line)); !errors.Is(err, domain.ErrInvalid) || cut {
			t.Errorf("%s: got %v, %v", name, entry, err)
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
		want := domain.JournalEntry{SubjectID: id, ErasedAt: instant("instant")}
		if rapid.Bool().Draw(t, "numbered") {
			want.Installation = rapid.StringMatching(`[a-zA-Z0-9-]+`).Draw(t, "installation")
			want.Number = rapid.Int64Range(1, 1<<53).Draw(t, "number")
			want.After = rapid.Int64Range(0, want.Number-1).Draw(t, "after")
			want.AddedAt = instant("added")
		}
		line := want.AppendLine(nil)
		got, cut, err := domain.ParseJournalLine(line)
		if err != nil || cut || got != want || strings.Count(string(line), "\n") != 1 {
			t.Fatalf("got %v, %v, %v, want %v", got, cut, err, want)
		}
	})
}
