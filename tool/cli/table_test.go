package cli

import (
	"bytes"
	"io"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestATableLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		cell := rapid.StringMatching(`[a-zäß0-9@. \n\t]{0,90}`)
		all := table{head: make([]string, columns)}
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			row := make([]string, columns)
			for i := range row {
				row[i] = cell.Draw(t, "cell")
			}
			all.rows = append(all.rows, row)
		}
		var out bytes.Buffer
		(&printer{w: &out}).table(all)
		rest := out.String()
		for _, row := range all.rows {
			for _, word := range strings.Fields(printable(strings.Join(row, " "))) {
				before, after, ok := strings.Cut(rest, word)
				if !ok || strings.TrimSpace(before) != "" {
					t.Fatalf("%q is missing or on another place:\n%s", word, out.String())
				}
				rest = after
			}
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasSuffix(line, " \n") {
				t.Errorf("a line ends with a space: %q", line)
			}
		}
	})
}

// The escape sequences of colours must not move a column.
func TestTheColumnsOfATableAreAligned(t *testing.T) {
	rows := table{head: []string{"step", "rows"}, rows: [][]string{{"delete", "1"}, {"other", "2"}, {"", "3"}}}
	for _, colour := range []bool{false, true} {
		var out bytes.Buffer
		(&printer{w: &out, colour: colour}).table(rows)
		plain := regexp.MustCompile("\x1b\\[\\d+m").ReplaceAllString(out.String(), "")
		if want := "STEP    ROWS\ndelete  1\nother   2\n        3\n"; plain != want {
			t.Errorf("printed\n%s", plain)
		}
	}
}

func TestAgesHaveTheirTwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", 61 * time.Second: "1m", 25*time.Hour + time.Minute: "1d1h",
		2*time.Hour + 5*time.Minute: "2h5m",
	} {
		if got := age(d); got != want {
			t.Errorf("%v is %s, not %s", d, got, want)
		}
	}
}

func TestTheVersionIsThatOfTheModule(t *testing.T) {
	linked := func(path, version string, replaced *debug.Module) *debug.Module {
		return &debug.Module{Path: path, Version: version, Replace: replaced}
	}
	for name, test := range map[string]struct {
		build debug.BuildInfo
		want  string
	}{
		"a program of its own": {debug.BuildInfo{Main: *linked(module, "v1.2.3", nil)}, "v1.2.3"},
		"an application": {debug.BuildInfo{
			Main: *linked("shop", "v9.9.9", nil), Deps: []*debug.Module{linked(module, "v1.2.3", nil)},
		}, "v1.2.3"},
		"a copy": {debug.BuildInfo{
			Main: *linked("shop", "", nil), Deps: []*debug.Module{linked(module, "v1.2.3", linked("../habeas", "", nil))},
		}, "(devel)"},
		"a working tree": {debug.BuildInfo{Main: *linked(module, "", nil)}, "(devel)"},
	} {
		if got := versionsOf(&test.build); got.Version != test.want {
			t.Errorf("%s: %s, not %s", name, got.Version, test.want)
		}
	}
}

func TestARehearsalListsAColumnOnce(t *testing.T) {
	var out bytes.Buffer
	step := datamap.Step{
		Target: "invoices", Strategy: domain.StrategyRetain, Columns: []string{"address"}, Expired: []string{"address"},
	}
	rehearsal := datamap.Rehearsal{Steps: []datamap.RehearsedStep{{Rows: 1, Step: step}}}
	(&printer{w: &out, width: 80}).rehearsal(datamap.DataMap{}, rehearsal)
	if n := strings.Count(out.String(), "address"); n != 1 {
		t.Errorf("the column is listed %d times:\n%s", n, out.String())
	}
}

func TestRowsDeletedBesidesAreShown(t *testing.T) {
	cascaded := map[string]int64{"logs": 3, "likes": 2}
	var rehearsed, erased, nothing bytes.Buffer
	(&printer{w: &rehearsed}).rehearsal(datamap.DataMap{}, datamap.Rehearsal{Cascaded: cascaded})
	(&printer{w: &erased}).erasure(domain.ErasureResult{Cascaded: cascaded})
	(&printer{w: &nothing}).erasure(domain.ErasureResult{})
	for words, out := range map[string]*bytes.Buffer{
		"The database would also delete or change, because of foreign keys or triggers: 2 of likes, 3 of logs.\n": &rehearsed,
		"The database also deleted or changed, because of foreign keys or triggers: 2 of likes, 3 of logs.\n":     &erased,
	} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("%q is missing in:\n%s", words, out.String())
		}
	}
	if strings.Contains(nothing.String(), "foreign keys") {
		t.Errorf("nothing was deleted besides:\n%s", nothing.String())
	}
}

// screen is a terminal with a width.
type screen struct {
	bytes.Buffer
	width int
}

func (s *screen) Width() int { return s.width }

func TestTheWidthIsThatOfTheTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	for width, out := range map[int]io.Writer{
		120: &screen{width: 120}, defaultWidth: &bytes.Buffer{},
	} {
		if got := newPrinter(out, "text").width; got != width {
			t.Errorf("the width is %d, want %d", got, width)
		}
	}
	t.Setenv("COLUMNS", "100")
	if got := newPrinter(&bytes.Buffer{}, "text").width; got != 100 {
		t.Errorf("the width is %d, not COLUMNS", got)
	}
}

func TestARehearsalMarksTheColumnsThatAreSetToNULL(t *testing.T) {
	m, err := datamap.NewDataMap(datamap.Table{
		Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"}, Columns: []datamap.Column{
			{Name: "id", Type: datamap.TypeBigInt},
			{Name: "nick", Type: datamap.TypeText, Personal: &datamap.Annotation{
				Category: domain.CategoryIdentity, Strategy: domain.StrategyNull,
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	(&printer{w: &out, width: 80}).rehearsal(m, datamap.Rehearsal{Steps: []datamap.RehearsedStep{{Step: datamap.Step{
		Target: "users", Strategy: domain.StrategyAnonymize, Columns: []string{"nick"}, ClearedColumns: []string{"boss"},
	}}}})
	if !strings.Contains(out.String(), "nick (NULL), boss (NULL)") {
		t.Errorf("printed\n%s", out.String())
	}
}
