package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// isTerminal reports whether a person sits at the other end. Streams that are no files may say so themselves.
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

// hasPerson reports whether a person can be asked.
func (c *call) hasPerson() bool {
	return isTerminal(c.command.InOrStdin()) && isTerminal(c.command.ErrOrStderr())
}

// confirm asks a person for a yes. The question repeats the counts. Where no person can respond, --yes is needed.
func (c *call) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	in, out := c.command.InOrStdin(), c.command.ErrOrStderr()
	if !c.hasPerson() {
		return failed("needs --yes where no person can confirm it; nothing was changed")
	}
	if _, err := fmt.Fprint(out, printable(question)+" Type yes to go on: "); err != nil {
		return failed("the question cannot be written; nothing was changed")
	}
	responses := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // the end of the input means no
		responses <- line
	}()
	select {
	case response := <-responses:
		if strings.TrimSpace(response) == "yes" {
			return nil
		}
		return failed("not confirmed; nothing was changed")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// progress shows on a terminal how far a verb has got. Anywhere else it shows nothing.
type progress struct {
	out   io.Writer // nil if it shows nothing
	label string
	total int64 // 0 if it is not known
	done  int64
	drawn time.Time
}

// redraw is the least time between two pictures.
const redraw = 100 * time.Millisecond

// progress begins to show how far the verb has got, if the total is not small.
func (c *call) progress(label string, total int) *progress {
	p := &progress{label: label, total: int64(total), drawn: time.Now()}
	if out := c.command.ErrOrStderr(); isTerminal(out) && total != 1 {
		p.out = out
	}
	return p
}

// add counts what was done.
func (p *progress) add(n int64) { p.to(p.done+n, p.total) }

// to says how much was done, and of how much.
func (p *progress) to(done, total int64) {
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
	_, _ = fmt.Fprint(p.out, "\r\x1b[K"+text) // a picture that cannot be drawn is not missed
}

// end removes the picture.
func (p *progress) end() {
	if p.out != nil {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
