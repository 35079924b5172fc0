package cli

import (
	"bytes"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

func TestATableFitsAndLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(t, "columns")
		cell := rapid.StringMatching(`[a-zäß0-9@. \n]{0,90}`)
		var all table
		all.head = make([]string, columns)
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			row := make([]string, columns)
			for i := range row {
				row[i] = cell.Draw(t, "cell")
			}
			all.rows = append(all.rows, row)
		}
		width := rapid.IntRange(1, 200).Draw(t, "width")
		var out bytes.Buffer
		(&printer{w: &out, width: width}).table(all)
		widest := (columns - 1) * len(gap) // of a table that cannot be narrower
		for i := range columns {
			longest := minColumnWidth
			for _, row := range all.rows {
				for _, word := range strings.Fields(row[i]) {
					longest = max(longest, utf8.RuneCountInString(word))
					if !strings.Contains(out.String(), word) {
						t.Errorf("the word %q is broken:\n%s", word, out.String())
					}
				}
			}
			widest += longest
		}
		letters := map[rune]int{}
		for _, row := range all.rows {
			for _, r := range strings.Join(row, "") {
				letters[r]++
			}
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > max(width, widest) || strings.HasSuffix(line, " ") {
				t.Errorf("a line is too wide or ends with a space: %q", line)
			}
			for _, r := range line {
				letters[r]--
			}
		}
		delete(letters, ' ')
		delete(letters, '\n')
		for r, n := range letters {
			if n != 0 {
				t.Errorf("%q is there %d times less:\n%s", r, n, out.String())
			}
		}
	})
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
