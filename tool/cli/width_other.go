//go:build !unix

package cli

import "os"

// terminalWidth returns 0, because the width of a terminal is only known on Unix.
func terminalWidth(*os.File) int { return 0 }
