// Package machine describes the machine that ran a benchmark, because the results depend on the machine.
package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/results"
)

// Machine describes a computer and its software. Unknown fields are empty.
type Machine struct {
	Processor string
	Cores     int
	Kernel    string
	Go        string
	Server    Server
	// Sync is the time that the disk needs to store a page durably. It limits the commits per second of one connection.
	Sync time.Duration
	// Load is the number of processes that were ready to run when the benchmark began.
	Load string
}

// Server is a PostgreSQL server and its settings.
type Server struct {
	Version string
	// Settings has the settings of PostgreSQL that differ from their defaults, except locations, names and languages.
	Settings []string
	Process  int // process id of the server; 0 if unknown
}

// Describe describes the machine and the PostgreSQL server. It returns an error if the durability settings of the
// server differ from their defaults.
func Describe(ctx context.Context, serverURL string) (Machine, error) {
	server, err := describeServer(ctx, serverURL)
	if err != nil {
		return Machine{}, err
	}
	sync, err := syncTime()
	if err != nil {
		return Machine{}, err
	}
	load, _, _ := strings.Cut(content("/proc/loadavg"), " ")
	return Machine{
		Processor: processor(content("/proc/cpuinfo")),
		Cores:     runtime.NumCPU(),
		Kernel:    strings.TrimSpace(runtime.GOOS + " " + content("/proc/sys/kernel/osrelease")),
		Go:        runtime.Version(),
		Server:    server,
		Sync:      sync,
		Load:      load,
	}, nil
}

// Lines returns the description as text.
func (m Machine) Lines() []string {
	lines := []string{
		fmt.Sprintf("%d cores (%s), %s, %s", m.Cores, m.Processor, m.Kernel, m.Go),
		m.Server.Version + ", all settings are the defaults but " + strings.Join(m.Server.Settings, ", "),
		fmt.Sprintf("The disk makes 8 KiB durable in %v", m.Sync.Round(time.Microsecond)),
	}
	if m.Load != "" {
		lines[2] += "; load average of the minute before: " + m.Load
	}
	return lines
}

func describeServer(ctx context.Context, serverURL string) (Server, error) {
	connection, err := pgx.Connect(ctx, serverURL)
	if err != nil {
		return Server{}, err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	var server Server
	var durable bool
	var backend int
	if err := connection.QueryRow(ctx, `
		SELECT 'PostgreSQL ' || current_setting('server_version'), pg_backend_pid(), bool_and(setting = 'on')
		FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')`,
	).Scan(&server.Version, &backend, &durable); err != nil {
		return Server{}, err
	}
	if !durable {
		return Server{}, errors.New("the server does not make commits durable: nothing can be compared on it")
	}
	rows, err := connection.Query(ctx, `
		SELECT name || ' = ' || current_setting(name) FROM pg_settings
		WHERE setting IS DISTINCT FROM boot_val AND source IN ('command line', 'configuration file', 'environment variable')
			AND category NOT LIKE 'Client Connection Defaults / Locale%' AND category NOT LIKE 'File Locations'
			AND name NOT IN ('port', 'listen_addresses', 'unix_socket_directories', 'log_timezone')
		ORDER BY name`)
	if err != nil {
		return Server{}, err
	}
	if server.Settings, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return Server{}, err
	}
	if parent, err := process.Parent(backend); err == nil {
		server.Process = parent
	}
	return server, nil
}

// syncTime writes and syncs a file several times, and returns the median of the durations. The file is in the directory
// for temporary files, in which private servers keep their data, too.
func syncTime() (time.Duration, error) {
	file, err := os.CreateTemp("", "habeas-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	defer file.Close()
	page := make([]byte, 8<<10)
	var times []time.Duration
	for range 50 {
		begin := time.Now()
		if _, err := file.WriteAt(page, 0); err != nil {
			return 0, err
		}
		if err := file.Sync(); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin))
	}
	return results.Median(times), nil
}

func processor(cpuinfo string) string {
	for line := range strings.Lines(cpuinfo) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// content returns the content of a file, or "" if the file does not exist.
func content(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
