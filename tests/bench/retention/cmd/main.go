// Command cmd measures two tasks on a given server: the replay, which repeats erasures after a restore of a backup, and
// the sweep, which overwrites values whose retention period has ended:
//
//	go run ./retention/cmd -server postgres://... -part replay|sweep
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/retention"
)

func main() {
	server := flag.String("server", "", "the `URL` of a PostgreSQL server")
	part := flag.String("part", "replay", "`part` to measure: replay, sweep")
	subjects := flag.Int("subjects", 100_000, "`subjects` who are erased")
	workers := flag.Int("workers", 4, "subjects that are erased concurrently")
	rate := flag.Int("rate", 50, "erasures per second during a sweep")
	alone := flag.Duration("alone", 20*time.Second, "how `long` erasures are measured without a sweep")
	pool := flag.Int("pool", 8, "connections")
	limit := flag.Duration("limit", 15*time.Minute, "how `long` all of it may take")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	begin := time.Now()
	config := retention.Config{ServerURL: *server, Pool: *pool, Subjects: *subjects, Progress: func(text string) {
		fmt.Fprintf(os.Stderr, "%6.1fs %s\n", time.Since(begin).Seconds(), text)
	}}
	var err error
	switch *part {
	case "replay":
		var all []retention.Replay
		all, err = retention.MeasureReplay(ctx, config, *workers)
		for _, r := range all {
			fmt.Printf("%-6s %8.1fs %7.0f lines/s  %+v\n", r.What, r.Took.Seconds(), float64(r.Report.Lines)/r.Took.Seconds(),
				r.Report)
		}
		if peak, err := process.PeakMemory(os.Getpid()); err == nil {
			fmt.Printf("resident at most %d MiB\n", peak>>20)
		}
	case "sweep":
		var all []retention.Latencies
		all, err = retention.MeasureSweep(ctx, config, *rate, *alone)
		for _, b := range all {
			fmt.Printf("%-30s %7.1fs, %6d swept; %d erasures: p50 %v, p99 %v, most %v\n",
				b.What, b.Took.Seconds(), b.Swept, b.Erasures, b.P50, b.P99, b.Most)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
