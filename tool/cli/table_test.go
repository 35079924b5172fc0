package cli

import (
	"bytes"
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
		var out bytes.Buffer
		(&printer{w: &out}).table(all)
		letters := map[rune]int{}
		for _, row := range all.rows {
			for _, r := range strings.Join(row, "") {
				letters[r]++
			}
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > tableWidth || strings.HasSuffix(line, " ") {
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
	(&printer{w: &out}).rehearsal(datamap.Rehearsal{Steps: []datamap.RehearsedStep{{Rows: 1, Step: datamap.Step{
		Target: "invoices", Strategy: domain.StrategyRetain, Columns: []string{"address"}, Expired: []string{"address"},
	}}}})
	if n := strings.Count(out.String(), "address"); n != 1 {
		t.Errorf("the column is listed %d times:\n%s", n, out.String())
	}
}

func TestRowsDeletedBesidesAreShown(t *testing.T) {
	cascaded := map[string]int64{"logs": 3, "likes": 2}
	var rehearsed, erased, nothing bytes.Buffer
	(&printer{w: &rehearsed}).rehearsal(datamap.Rehearsal{Cascaded: cascaded})
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
