package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/habeas-data/habeas/tests/bench/drain"
)

// options has the flags of the program: the parts to measure, their sizes and their durations.
type options struct {
	parts       []string
	users       int
	sqliteUsers int
	connections []int
	pairs       int
	sqlitePairs int
	sqliteConns []int
	warmup      time.Duration
	duration    time.Duration
	pool        int
	entries     int
	drains      int
	backlog     int
	claims      int
	neighbours  int
	neighbour   time.Duration
	markdown    string
	limit       time.Duration
}

// parse reads the flags. A flag after -quick overrides the value that -quick sets.
func parse(arguments []string, output io.Writer) (options, error) {
	o := options{
		parts:       allParts,
		connections: []int{1, 16, 64},
		sqliteConns: []int{1, 64},
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Func("parts", "the `parts` to measure, separated by commas (default "+strings.Join(allParts, ",")+")",
		func(text string) (err error) {
			o.parts, err = parts(text)
			return err
		})
	flags.IntVar(&o.users, "users", 20_000, "number of `users` of the shop")
	flags.IntVar(&o.sqliteUsers, "sqlite-users", 5_000, "number of `users` of the shop on SQLite")
	list := func(name string, into *[]int, usage string) {
		defaults := strings.Trim(strings.ReplaceAll(fmt.Sprint(*into), " ", ","), "[]")
		flags.Func(name, usage+", separated by commas (default "+defaults+")", func(text string) (err error) {
			*into, err = numbers(text)
			return err
		})
	}
	list("connections", &o.connections, "numbers of `connections` to measure with")
	list("sqlite-connections", &o.sqliteConns, "numbers of `connections` to measure SQLite with")
	flags.IntVar(&o.pairs, "pairs", 5, "`number` of runs of each side")
	flags.IntVar(&o.sqlitePairs, "sqlite-pairs", 5, "`number` of runs of each side on SQLite")
	flags.DurationVar(&o.warmup, "warmup", 300*time.Millisecond, "`duration` of the warm-up before each run")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "`duration` of each run")
	flags.IntVar(&o.pool, "pool", 16, "number of `connections` of each side to its database")
	flags.IntVar(&o.entries, "entries", 20_000, "number of outbox `entries` in each drain")
	flags.IntVar(&o.drains, "drains", 5, "`number` of drains of each side")
	flags.IntVar(&o.backlog, "backlog", 1_000_000, "number of `entries` that a claim must skip")
	flags.IntVar(&o.claims, "claims", 200, "number of `claims` of each kind with a backlog")
	flags.IntVar(&o.neighbours, "neighbours", 50_000, "number of `entries` of each of two concurrent systems")
	flags.DurationVar(&o.neighbour, "neighbour", 20*time.Second, "`duration` of a run with two external systems")
	flags.StringVar(&o.markdown, "markdown", "", "`directory` for a page with the results")
	flags.DurationVar(&o.limit, "limit", 90*time.Minute, "time `limit` of the complete benchmark")
	const inBrief = "measure in brief: no bad days, endpoints in 5 runs of 700ms"
	flags.BoolFunc("quick", inBrief, func(string) error {
		o.parts, o.connections, o.pairs = []string{partEndpoints, partSQLite, partDrain}, []int{16, 64}, 5
		o.users, o.sqliteUsers = 10_000, 2_500
		o.entries, o.drains = 5_000, 3
		o.backlog, o.claims, o.neighbours, o.neighbour = 2_000, 20, 1_000, time.Second
		o.warmup, o.duration, o.limit, o.sqlitePairs = 50*time.Millisecond, 700*time.Millisecond, 10*time.Minute, 5
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, o.check()
}

// leastEntries is the smallest permitted number of entries in a drain. It is one full batch for each worker of
// drain.Best.
var leastEntries = drain.Best.Batch * drain.Best.Workers

func (o options) check() error {
	switch {
	case o.users < 1 || o.pairs < 1 || o.sqlitePairs < 1 || o.pool < 1 || o.drains < 1:
		return errors.New("users, pairs, pool and drains must be above zero")
	case o.backlog < 1 || o.claims < 1 || o.neighbours < 1 || o.neighbour <= 0:
		return errors.New("backlog, claims and neighbours must be above zero")
	case o.warmup < 0 || o.duration <= 0 || o.limit <= 0:
		return errors.New("times must be above zero")
	case o.users < 20*o.pairs || o.sqliteUsers < 20*o.sqlitePairs:
		return errors.New("there must be 20 users for each pair, because a user can be erased only once")
	case o.entries < leastEntries:
		return fmt.Errorf("there must be at least %d entries, because they are claimed in batches", leastEntries)
	}
	return nil
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

func parts(text string) ([]string, error) {
	chosen := strings.Split(text, ",")
	for _, part := range chosen {
		if !slices.Contains(allParts, part) {
			return nil, fmt.Errorf("there is no part %q, only %s", part, strings.Join(allParts, ", "))
		}
	}
	return chosen, nil
}
