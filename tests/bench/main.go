// Command bench measures habeas against code that was written by hand for the same job, side by side in one run, on a
// private PostgreSQL of stock durability and on SQLite:
//
//	make bench        measures everything and writes docs/benchmarks
//	make bench-quick  measures in brief and prints
//
// Everything stays on the loopback interface, and stops by itself: with the measurement, with a signal, or with this
// process, however it ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		err = serve(os.Args[2:])
	} else {
		err = measure(os.Args[1:])
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(arguments []string) error {
	o, err := parse(arguments, os.Stderr)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, o.limit, fmt.Errorf("it took longer than %v", o.limit))
	defer cancel()
	if err := bench(ctx, o); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx) // the rest is what follows from it
		}
		return err
	}
	return nil
}
