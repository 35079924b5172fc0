package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/habeas-data/habeas/tests/bench/results"
)

// ErrNoCPU says that this system does not tell how much processor time a process has used: only Linux does.
var ErrNoCPU = errors.New("the processor time of a process is not known here")

// tick is the unit of times in /proc, which is the same on all of Linux' architectures that Go knows.
const tick = 10 * time.Millisecond

// CPU returns the processor time of a process.
func CPU(pid int) (time.Duration, error) {
	stat, err := read(pid)
	return stat.own, err
}

// CPUOfFamily returns the processor time of a process and its children, those included that have ended.
func CPUOfFamily(pid int) (time.Duration, error) {
	parent, err := read(pid)
	if err != nil {
		return 0, err
	}
	total := parent.own + parent.ended
	directories, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, directory := range directories {
		child, err := strconv.Atoi(filepath.Base(directory))
		if err != nil {
			continue
		}
		// One that cannot be read any more has ended in the meantime: it is left out this once.
		if stat, err := read(child); err == nil && stat.parent == pid {
			total += stat.own + stat.ended
		}
	}
	return total, nil
}

// Parent returns the process that started another one.
func Parent(pid int) (int, error) {
	stat, err := read(pid)
	return stat.parent, err
}

// stat is what /proc says about a process.
type stat struct {
	parent     int
	own, ended time.Duration // processor time: its own, and that of its children that have ended
}

func read(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, errors.Join(ErrNoCPU, err)
	}
	return parse(string(text))
}

// parse reads the line of /proc/<pid>/stat. The name of the process, in parentheses, may have spaces and parentheses.
func parse(text string) (stat, error) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	const parent, user, system, endedUser, endedSystem = 1, 11, 12, 13, 14
	if len(fields) <= endedSystem {
		return stat{}, ErrNoCPU
	}
	number := func(field int) int64 {
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return stat{
		parent: int(number(parent)),
		own:    time.Duration(number(user)+number(system)) * tick,
		ended:  time.Duration(number(endedUser)+number(endedSystem)) * tick,
	}, nil
}

// Used is the processor time that a program and the database below it have used so far; 0 where that is not known.
type Used struct{ program, database time.Duration }

// UsedBy looks at a program, and at a database by its main process, which is 0 where it is not known.
func UsedBy(program, database int) (used Used) {
	if own, err := CPU(program); err == nil {
		used.program = own
	}
	if family, err := CPUOfFamily(database); err == nil && database != 0 {
		used.database = family
	}
	return used
}

// Since returns how much of it each of so many units of work has taken, as far as that is known.
func (u Used) Since(before Used, work int) []benchfmt.Value {
	each := float64(max(work, 1))
	return results.Known(
		results.Value((u.program-before.program).Seconds()/each, "cpu-sec/op"),
		results.Value((u.database-before.database).Seconds()/each, "db-cpu-sec/op"),
	)
}
