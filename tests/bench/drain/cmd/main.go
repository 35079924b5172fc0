// Command cmd measures only how fast habeas and River process their queues, on a given server:
//
//	go run ./drain/cmd -server postgres://... -pairs 3
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"time"

	"github.com/habeas-data/habeas/tests/bench/drain"
	"github.com/habeas-data/habeas/tests/bench/habeas"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var config drain.Config
	flag.StringVar(&config.ServerURL, "server", "", "the `URL` of a PostgreSQL server")
	flag.IntVar(&config.Pairs, "pairs", 3, "`how` many times all sides are measured")
	flag.IntVar(&config.Entries, "entries", 20_000, "`entries` of each run")
	flag.StringVar(&config.Driver, "driver", habeas.DefaultDriver, "the `driver`: "+habeas.Drivers())
	flag.IntVar(&config.Pool, "pool", 16, "`connections` of each side")
	flag.IntVar(&config.ServerProcess, "server-process", 0, "the `id` of the server's main process, to measure its time")
	every := flag.Bool("every", false, "measure every setting, not only the default and the best")
	addSetting := func(text string) error {
		var setting drain.Setting
		_, err := fmt.Sscanf(text, "%dx%d", &setting.Workers, &setting.Batch)
		config.Settings = append(config.Settings, setting)
		return err
	}
	flag.Func("setting", "a `setting` to measure in place of those, as workers x batch, such as 4x100", addSetting)
	profile := flag.String("cpuprofile", "", "write a profile of the processor time to a `file`")
	limit := flag.Duration("limit", 5*time.Minute, "how `long` all of it may take")
	flag.Parse()
	switch {
	case *every:
		config.Settings = drain.Settings()
	case len(config.Settings) == 0:
		config.Settings = []drain.Setting{drain.Default, drain.Best}
	}
	config.Progress = func(text string) { fmt.Fprintln(os.Stderr, text) }
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if *profile != "" {
		file, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	all, err := drain.Measure(ctx, config)
	if err != nil {
		return err
	}
	river := all.With("side", drain.River)
	for _, side := range all.Keys("side") {
		of := all.With("side", side)
		fmt.Printf("%-8s %8.0f/s, ratio %.2f, %.0f µs of processor time, %.0f µs of the server's\n", side,
			of.Median("entries/s"), of.Ratio(river, "entries/s"), 1e6*of.Median("cpu-sec/op"), 1e6*of.Median("db-cpu-sec/op"))
	}
	return nil
}
