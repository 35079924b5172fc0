package process

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"
)

const asServer = "HABEAS_BENCH_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) == "serves" {
		Serve("127.0.0.1:1")
		fmt.Fprintln(os.Stderr, "stopped in an orderly way")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestAServerRunsUntilItIsStopped(t *testing.T) {
	t.Setenv(asServer, "serves")
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if server.Address != "127.0.0.1:1" {
		t.Errorf("address = %q", server.Address)
	}
	pid := server.command.Process.Pid
	if parent, err := Parent(pid); err != nil || parent != os.Getpid() {
		t.Errorf("parent = %d, %v; want %d", parent, err, os.Getpid())
	}
	if _, err := CPU(server.Process()); err != nil {
		t.Error(err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := CPU(pid); !errors.Is(err, ErrNoCPU) {
		t.Errorf("the process is still there: %v", err)
	}
}

func TestProcessorTimeIsReadBehindAnyName(t *testing.T) {
	const line = "4711 (a (b) c) S 42 1 1 0 -1 4194560 700 800 0 0 150 50 30 20 20 0 1 0 12345 1 1"
	got, err := parse(line)
	want := stat{parent: 42, own: 2 * time.Second, ended: 500 * time.Millisecond}
	if err != nil || got != want {
		t.Errorf("stat = %+v, %v; want %+v", got, err, want)
	}
	for _, broken := range []string{"", "4711", "4711 (a) S 42 1"} {
		if _, err := parse(broken); !errors.Is(err, ErrNoCPU) {
			t.Errorf("%q: error = %v", broken, err)
		}
	}
}

func TestTheCostIsThatOfProgramAndDatabase(t *testing.T) {
	before := Used{program: time.Second, database: time.Second}
	used := Used{program: 2 * time.Second, database: 4 * time.Second}
	for _, value := range used.Since(before, 2) {
		want := map[string]float64{"cpu-sec/op": 0.5, "db-cpu-sec/op": 1.5, Cost: 2}[value.Unit]
		if value.Value != want {
			t.Errorf("%s = %v, want %v", value.Unit, value.Value, want)
		}
	}
}
