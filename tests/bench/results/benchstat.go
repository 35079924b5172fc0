package results

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// Table returns the tables of benchstat for the results, one for each unit. The parameters row and column are the keys
// that select the rows and columns. Table runs the version of benchstat that this module requires, so the working
// directory must be in this module.
func (s Set) Table(ctx context.Context, row, column string) (string, error) {
	var input, output, problems bytes.Buffer
	if err := s.Write(&input); err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, "go", "tool", "benchstat", "-confidence", fmt.Sprint(Confidence),
		"-row", row, "-col", column, "-")
	command.Stdin, command.Stdout, command.Stderr = &input, &output, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("benchstat: %w: %s", err, &problems)
	}
	return output.String(), nil
}
