package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/bench/habeas"
)

// options say what is measured, and for how long.
type options struct {
	users       int
	connections []int
	pairs       int
	warmup      time.Duration
	duration    time.Duration
	pool        int
	driver      string
	markdown    string
	limit       time.Duration
}

// parse reads the flags. What -quick sets can be set otherwise behind it.
func parse(arguments []string, output io.Writer) (options, error) {
	o := options{connections: []int{1, 16, 64}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.IntVar(&o.users, "users", 20_000, "how many `users` the shop has")
	flags.Func("connections", "numbers of `connections` to measure with, separated by commas (default 1,16,64)",
		func(text string) (err error) {
			o.connections, err = numbers(text)
			return err
		})
	flags.IntVar(&o.pairs, "pairs", 5, "`how` many times both sides are measured")
	flags.DurationVar(&o.warmup, "warmup", 500*time.Millisecond, "how `long` each run warms up")
	flags.DurationVar(&o.duration, "duration", 3*time.Second, "how `long` each run is measured")
	flags.IntVar(&o.pool, "pool", 16, "how many `connections` each side has to its database")
	flags.StringVar(&o.driver, "driver", habeas.DefaultDriver, "the `driver` under habeas: "+habeas.Drivers())
	flags.StringVar(&o.markdown, "markdown", "", "a `directory` to write the results to as well, with charts")
	flags.DurationVar(&o.limit, "limit", 30*time.Minute, "how `long` all of it may take")
	flags.BoolFunc("quick", "measure in brief: 5 pairs of 400ms at 16 and 64 connections", func(string) error {
		o.connections, o.pairs = []int{16, 64}, 5
		o.warmup, o.duration, o.limit = 100*time.Millisecond, 400*time.Millisecond, 5*time.Minute
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	switch {
	case flags.NArg() > 0:
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case o.users < 1 || o.pairs < 1 || o.pool < 1:
		return options{}, errors.New("users, pairs and pool must be above zero")
	case o.warmup < 0 || o.duration <= 0 || o.limit <= 0:
		return options{}, errors.New("times must be above zero")
	case o.users < 20*o.pairs:
		return options{}, errors.New("there must be 20 users for each pair, for each is erased only once")
	}
	return o, nil
}

func numbers(text string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, errors.New("must be like 1,16,64")
		}
		all = append(all, n)
	}
	return all, nil
}
