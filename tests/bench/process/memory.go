package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrNoMemory says that this system does not tell how much memory a process has had: only Linux does.
var ErrNoMemory = errors.New("the memory of a process is not known here")

// PeakMemory returns how much memory, in bytes, a process has had at most since it was started: what was resident.
func PeakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errors.Join(ErrNoMemory, err)
	}
	return parsePeak(string(text))
}

// parsePeak finds the high-water mark in /proc/<pid>/status, which is in kB that are KiB.
func parsePeak(status string) (int64, error) {
	for line := range strings.Lines(status) {
		text, ok := strings.CutPrefix(line, "VmHWM:")
		if !ok {
			continue
		}
		kibibytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
		if err != nil {
			return 0, ErrNoMemory
		}
		return kibibytes << 10, nil
	}
	return 0, ErrNoMemory
}
