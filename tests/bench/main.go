// Command bench compares habeas with hand-written code for the same purpose. It measures both in one run, on SQLite and
// on a private PostgreSQL server with default durability:
//
//	make bench        measures everything and writes docs/benchmarks
//	make bench-quick  runs a shorter measurement and prints the results
//
// All servers listen on the loopback interface. They stop when the measurement ends, on a signal, or when this process
// ends for any reason.
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
			return context.Cause(ctx) // the cancellation is the cause of err
		}
		return err
	}
	return nil
}
