package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// isTerminal reports whether a stream is a terminal. A stream in a test can implement the method IsTerminal for this.
func isTerminal(stream any) bool {
	if says, ok := stream.(interface{ IsTerminal() bool }); ok {
		return says.IsTerminal()
	}
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	nothing, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, nothing)
}

// hasPerson reports whether the command can ask a person, because its input and its standard error are a terminal.
func (c *call) hasPerson() bool {
	return isTerminal(c.command.InOrStdin()) && isTerminal(c.command.ErrOrStderr())
}

// confirm writes the prompt and asks a person to type yes. If the parameter yes is set, confirm returns nil without
// asking. It returns an error if the person does not type yes, or if there is no terminal.
func (c *call) confirm(ctx context.Context, yes bool, prompt string) error {
	if yes {
		return nil
	}
	in, out := c.command.InOrStdin(), c.command.ErrOrStderr()
	if !c.hasPerson() {
		return failed("nothing was changed: without a terminal for the confirmation, --yes is needed")
	}
	response, err := newAsker(in, out).ask(ctx, printable(prompt)+" Type yes to continue: ")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNotAsked):
		return failed("nothing was changed: the prompt cannot be written; use --yes")
	case response != "yes": // at the end of the input, response is empty, which is a refusal
		return failed("nothing was changed: the prompt was not confirmed")
	default:
		return nil
	}
}

// asker asks a person at a terminal.
type asker struct {
	in  *bufio.Reader
	out io.Writer
}

func newAsker(in io.Reader, out io.Writer) asker { return asker{bufio.NewReader(in), out} }

// errNotAsked is the error of a prompt that cannot be written.
var errNotAsked = errors.New("the prompt cannot be written")

// ask writes the prompt and returns the line that the person types, without spaces around it. It returns io.EOF at the
// end of the input, and the error of the context if that ends first. A later call is then not allowed.
func (a asker) ask(ctx context.Context, prompt string) (string, error) {
	if _, err := io.WriteString(a.out, prompt); err != nil {
		return "", errNotAsked
	}
	type typed struct {
		line string
		err  error
	}
	lines := make(chan typed, 1)
	go func() {
		line, err := a.in.ReadString('\n')
		if line != "" {
			err = nil // the last line may have no end
		}
		lines <- typed{strings.TrimSpace(line), err}
	}()
	select {
	case one := <-lines:
		return one.line, one.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// progress is a progress bar on a terminal. If the standard error is not a terminal, it shows nothing.
type progress struct {
	out   io.Writer // nil if nothing is shown
	label string
	total int64 // 0 if the total is not known
	done  int64
	drawn time.Time
}

// redraw is the minimum time between two updates of a progress bar.
const redraw = 100 * time.Millisecond

// progress returns a progress bar for the given number of items. The bar is not shown if the number is 1.
func (c *call) progress(label string, total int) *progress {
	p := &progress{label: label, total: int64(total), drawn: time.Now()}
	if out := c.command.ErrOrStderr(); isTerminal(out) && total != 1 {
		p.out = out
	}
	return p
}

// add increases the number of finished items by n.
func (p *progress) add(n int64) { p.set(p.done+n, p.total) }

// set sets the number of finished items and the total number, and redraws the bar.
func (p *progress) set(done, total int64) {
	p.done, p.total = done, total
	if p.out == nil || time.Since(p.drawn) < redraw {
		return
	}
	p.drawn = time.Now()
	p.draw()
}

func (p *progress) draw() {
	const cells = 20
	text := fmt.Sprintf("%s %d", p.label, p.done)
	if p.total > 0 {
		full := int(min(p.done, p.total) * cells / p.total)
		text = fmt.Sprintf("%s [%s%s] %d of %d", p.label, strings.Repeat("#", full), strings.Repeat(".", cells-full), p.done,
			p.total)
	}
	_, _ = fmt.Fprint(p.out, "\r\x1b[K"+text) // the command continues without a progress bar
}

// end removes the bar from the terminal.
func (p *progress) end() {
	if p.out != nil {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
