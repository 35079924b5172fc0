package cli

import (
	"io"
	"os"
	"strconv"
)

// defaultWidth is the width of an output that is no terminal, in characters.
const defaultWidth = 80

// widthOf returns the width of a line of an output: that of the terminal, or else of the environment variable COLUMNS,
// or else defaultWidth. A stream in a test can implement the method Width for this.
func widthOf(w io.Writer) int {
	if says, ok := w.(interface{ Width() int }); ok {
		return says.Width()
	}
	if file, ok := w.(*os.File); ok && isTerminal(w) {
		if width := terminalWidth(file); width > 0 {
			return width
		}
	}
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	return defaultWidth
}
