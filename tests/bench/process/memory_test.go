package process

import (
	"errors"
	"os"
	"testing"
)

func TestThePeakIsReadInBytes(t *testing.T) {
	const status = "Name:\tbench\nVmPeak:\t  999 kB\nVmHWM:\t   12345 kB\nVmRSS:\t  1000 kB\n"
	if got, err := parsePeak(status); err != nil || got != 12345<<10 {
		t.Errorf("peak = %d, %v", got, err)
	}
	for _, broken := range []string{"", "VmRSS:\t  1000 kB\n", "VmHWM:\tmuch kB\n"} {
		if _, err := parsePeak(broken); !errors.Is(err, ErrNoMemory) {
			t.Errorf("%q: error = %v", broken, err)
		}
	}
}

func TestMemoryThatIsUsedIsInThePeak(t *testing.T) {
	before, err := PeakMemory(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	const much = 64 << 20
	page := make([]byte, much)
	for i := 0; i < len(page); i += 4 << 10 {
		page[i] = 1
	}
	peak, err := PeakMemory(os.Getpid())
	if err != nil || peak < much || peak < before || page[0] != 1 {
		t.Errorf("peak = %d, %v; it was %d before %d more", peak, err, before, much)
	}
}
