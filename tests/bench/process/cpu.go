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

// ErrNoCPU means that the operating system does not report the processor time of a process. Only Linux reports it.
var ErrNoCPU = errors.New("the processor time of a process is not known here")

// tick is the unit of durations in /proc. It is 10 ms on all Linux architectures that Go supports.
const tick = 10 * time.Millisecond

// CPU returns the processor time that a process has used.
func CPU(pid int) (time.Duration, error) {
	stat, err := read(pid)
	return stat.own, err
}

// CPUOfFamily returns the processor time that a process and its children have used. It includes children that have
// ended.
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
		// If the file of a child cannot be read, the child has just ended. The processor time of the parent then includes the
		// time of this child.
		if stat, err := read(child); err == nil && stat.parent == pid {
			total += stat.own + stat.ended
		}
	}
	return total, nil
}

// Parent returns the process that started the given process.
func Parent(pid int) (int, error) {
	stat, err := read(pid)
	return stat.parent, err
}

// stat is the content of /proc/<pid>/stat.
type stat struct {
	parent     int
	own, ended time.Duration // processor times of the process and of its ended children
}

func read(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, errors.Join(ErrNoCPU, err)
	}
	return parse(string(text))
}

// parse parses the content of /proc/<pid>/stat. The second field is the name of the process in parentheses. The name
// may itself contain spaces and parentheses.
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

// Used has the processor times that a program and its database have used. An unknown time is 0.
type Used struct{ program, database time.Duration }

// UsedBy returns the processor times that a program and a database have used. The parameters are process ids. The
// process id of the database is 0 if it is unknown.
func UsedBy(program, database int) (used Used) {
	if own, err := CPU(program); err == nil {
		used.program = own
	}
	if family, err := CPUOfFamily(database); err == nil && database != 0 {
		used.database = family
	}
	return used
}

// Since returns the processor times that were used since an earlier measurement, divided by the number of units of
// work: of the program, of the database, and of both together (the unit Cost). It omits unknown times.
func (u Used) Since(before Used, work int) []benchfmt.Value {
	each := float64(max(work, 1))
	program, database := (u.program-before.program).Seconds()/each, (u.database-before.database).Seconds()/each
	return results.Known(
		results.Value(program, "cpu-sec/op"),
		results.Value(database, "db-cpu-sec/op"),
		results.Value(program+database, Cost),
	)
}

// Cost is the unit of the processor time of a program and its database together.
const Cost = "total-cpu-sec/op"
