package arch

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// room is a part of the house: the packages below its folders, without those of a room that is deeper.
type room struct {
	folders string // separated by spaces
	// production and tests are ceilings: the largest numbers of lines in Go files. Files that end in _test.go are tests.
	production, tests int
}

// rooms has every Go file of the repository, with those of nested modules. A ceiling is raised only if a decision about
// the design says so. What is added pays with what goes. After a cut, it is lowered to what is left.
var rooms = []room{
	{"domain", 2826, 2538},
	{"domain/register", 874, 871},
	{"domain/request", 831, 594},
	{"domain/datamap domain/plan", 4494, 2950},
	{"domain/consent domain/restriction", 367, 894},
	{"domain/erasure", 1194, 2975},
	{"domain/export", 883, 1280},
	{"domain/rectification", 915, 1687},
	{"domain/saga", 2005, 3233},
	{"domain/sweep domain/verification domain/journal domain/replay domain/lives domain/duties domain/health", 2818, 3772},
	{"domain/internal domain/observation domain/search", 1024, 563},
	{"ports", 1289, 64},
	{"ports/porttest", 14370, 2378},
	{"ports/mocks", 2483, 103},
	{"adapters/persistence/bunstore", 21669, 16621},
	{"adapters/persistence/memory", 3743, 1068},
	{"adapters/persistence", 1673, 2935},
	{"adapters/http", 2482, 4598},
	{"adapters/http/httptestsuite", 2099, 298},
	{"adapters/supportdesk", 1796, 2144},
	{"adapters/worker", 682, 1748},
	{"adapters", 2618, 2481},
	{"app", 1953, 3442},
	{"app/quickstart", 1139, 259},
	{"tool/check", 4080, 4456},
	{"tool/scaffold", 2135, 1143},
	{"tool/internal", 716, 431},
	{"tool", 6311, 5127},
	{"internal", 3516, 1334},
	{"tests/bench", 3635, 770},
	{"tests", 2652, 24837},
	{"examples", 1102, 712},
}

// slack is how far below its ceiling a room may be, in lines.
const slack = 150

// roomOf returns the index of the room with the deepest folder that has the file, or -1.
func roomOf(file string) int {
	for folder := path.Dir(file); folder != "."; folder = path.Dir(folder) {
		for i := range rooms {
			for name := range strings.FieldsSeq(rooms[i].folders) {
				if name == folder {
					return i
				}
			}
		}
	}
	return -1
}

func TestNoRoomIsAboveItsCeiling(t *testing.T) {
	lines := make([]room, len(rooms))
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		at, count := roomOf(filepath.ToSlash(relative)), strings.Count(string(content), "\n")
		switch {
		case at < 0:
			t.Errorf("%s is in no room", relative)
		case strings.HasSuffix(name, "_test.go"):
			lines[at].tests += count
		default:
			lines[at].production += count
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, room := range rooms {
		check := func(kind string, got, ceiling int) {
			switch {
			case got > ceiling:
				t.Errorf("%s: %d lines of %s, the ceiling is %d: what is added pays with what goes",
					room.folders, got, kind, ceiling)
			case got < ceiling-slack:
				t.Errorf("%s: %d lines of %s: lower the ceiling of %d", room.folders, got, kind, ceiling)
			}
		}
		check("production", lines[i].production, room.production)
		check("tests", lines[i].tests, room.tests)
	}
}
