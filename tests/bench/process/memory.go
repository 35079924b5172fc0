package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ErrNoMemory means that the operating system does not report the memory of a process. Only Linux reports it.
var ErrNoMemory = errors.New("the memory of a process is not known here")

// PeakMemory returns the maximum resident memory of a process since its start, in bytes.
func PeakMemory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errors.Join(ErrNoMemory, err)
	}
	return parsePeak(string(text))
}

// parsePeak reads the peak memory in bytes from the content of /proc/<pid>/status. The unit kB in that file means KiB.
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
