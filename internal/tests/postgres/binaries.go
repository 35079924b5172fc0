package postgres

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// ErrNoBinaries means that no PostgreSQL server is installed on this machine. Its text has the command that installs a
// server.
var ErrNoBinaries = errors.New("postgres: found neither initdb nor postgres in PATH or " + debianBinaries +
	"; run: sudo apt-get install postgresql (or name a server in " + DatabaseURLEnv + ")")

// debianBinaries is a pattern for the directories in which Debian installs PostgreSQL servers, one for each major
// version. These directories are not in PATH.
const debianBinaries = "/usr/lib/postgresql/*/bin"

// binaries has the paths of the two programs that create and run a server.
type binaries struct {
	initdb, postgres string
}

// findBinaries searches the directories in PATH first, so that a developer can choose a version. It then searches the
// directories that match the pattern, the newest version first.
func findBinaries(pattern string) (binaries, error) {
	initdb, err1 := exec.LookPath("initdb")
	postgres, err2 := exec.LookPath("postgres")
	if err1 == nil && err2 == nil {
		return binaries{initdb: initdb, postgres: postgres}, nil
	}
	directories, err := filepath.Glob(pattern)
	if err != nil {
		return binaries{}, err
	}
	slices.SortFunc(directories, func(a, b string) int { return cmp.Compare(majorVersion(b), majorVersion(a)) })
	for _, directory := range directories {
		found := binaries{initdb: filepath.Join(directory, "initdb"), postgres: filepath.Join(directory, "postgres")}
		if isFile(found.initdb) && isFile(found.postgres) {
			return found, nil
		}
	}
	return binaries{}, ErrNoBinaries
}

// majorVersion returns the version in a directory name, such as 15 for /usr/lib/postgresql/15/bin, or 0 if there is no
// version. The result is a number, because the string "9.6" sorts after "15".
func majorVersion(directory string) float64 {
	version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(directory)), 64)
	if err != nil {
		return 0
	}
	return version
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Program returns the path of another program of the server's installation, such as pg_dump.
func Program(name string) (string, error) {
	found, err := findBinaries(debianBinaries)
	if err != nil {
		return "", err
	}
	if path := filepath.Join(filepath.Dir(found.postgres), name); isFile(path) {
		return path, nil
	}
	return exec.LookPath(name)
}
