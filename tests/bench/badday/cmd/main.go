// Command cmd measures the outbox under bad conditions on a given server:
//
//	go run ./badday/cmd -server postgres://... -part backlog|neighbour|churn|herd
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/habeas-data/habeas/tests/bench/badday"
)

func main() {
	server := flag.String("server", "", "the `URL` of a PostgreSQL server")
	part := flag.String("part", "backlog", "`part` to measure: backlog, neighbour, churn, herd")
	entries := flag.Int("entries", 1_000_000, "`entries` of a backlog, or of each system")
	rounds := flag.Int("rounds", 100, "claims of each kind")
	duration := flag.Duration("duration", time.Minute, "how `long`")
	rate := flag.Int("rate", 1000, "entries per second")
	snapshot := flag.Bool("snapshot", true, "churn: with a transaction that is open all the time")
	driver := flag.String("driver", "pgx", "the `driver`")
	pool := flag.Int("pool", 8, "connections of a process")
	limit := flag.Duration("limit", 15*time.Minute, "how `long` all of it may take")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	begin := time.Now()
	config := badday.Config{ServerURL: *server, Driver: *driver, Pool: *pool, Progress: func(text string) {
		fmt.Fprintf(os.Stderr, "%6.1fs %s\n", time.Since(begin).Seconds(), text)
	}}
	var err error
	switch *part {
	case "backlog":
		var costs []badday.Cost
		costs, err = badday.Backlog(ctx, config, *entries, *rounds)
		for _, c := range costs {
			fmt.Printf("%-22s idle %8v (%.2f)  one %8v (%.2f)  fifty %8v (%.2f)\n", c.Backlog, c.Idle,
				ratio(c.Idle, costs[0].Idle),
				c.One, ratio(c.One, costs[0].One), c.Many, ratio(c.Many, costs[0].Many))
		}
	case "neighbour":
		var rates []badday.Rate
		rates, err = badday.Neighbour(ctx, config, *entries, *duration)
		for _, r := range rates {
			fmt.Printf("%-10s %8.0f/s (%.2f), %d calls of it\n", r.Neighbour, r.PerSecond, r.PerSecond/rates[0].PerSecond,
				r.Calls)
		}
	case "churn":
		var samples []badday.Sample
		samples, err = badday.Churn(ctx, config, *rate, *duration, *duration/10, *snapshot)
		for _, s := range samples {
			fmt.Printf("%v  %d claims, backlog %d of %d\n", s, s.Claims, s.Backlog, s.Enqueued)
		}
	case "herd":
		var h badday.Herd
		h, err = badday.MeasureHerd(ctx, config, 8, 8, *rate, *duration)
		fmt.Printf("%.1f claims per erasure; wake-up p50 %v, p99 %v, most %v\n", h.PerErasure, h.P50, h.P99, h.Most)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
