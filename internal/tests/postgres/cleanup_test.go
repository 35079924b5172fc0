//go:build unix

package postgres

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startChild starts this test binary again as a child process, and returns after the server of the child process has
// started. The child process leads a new process group, so that a test can imitate an interrupt from a terminal, which
// reaches a complete process group.
func startChild(t *testing.T, part string) (*exec.Cmd, child) {
	t.Helper()
	needBinaries(t)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childEnv+"="+part)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	bound := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
	t.Cleanup(func() { bound.Stop(); _ = command.Process.Kill() })
	var its child
	if err := json.NewDecoder(stdout).Decode(&its); err != nil {
		t.Fatalf("the child did not say where its server is: %v", err)
	}
	return command, its
}

func TestAKilledProcessLeavesNothing(t *testing.T) {
	command, its := startChild(t, childServes)
	if got := query(t, its.URL, "SELECT 'up'"); got != "up" {
		t.Fatal("the server of the child does not respond")
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	awaitGone(t, its.URL, its.Directory)
}

func TestAnInterruptOfTheProcessGroupLeavesNothing(t *testing.T) {
	command, its := startChild(t, childServes)
	if err := syscall.Kill(-command.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	awaitGone(t, its.URL, its.Directory)
}

func TestAProcessThatExitsWithoutStopLeavesNothing(t *testing.T) {
	command, its := startChild(t, childDies)
	_ = command.Wait()
	awaitGone(t, its.URL, its.Directory)
}

func TestAServerThatDiesTakesItsDirectoryAlong(t *testing.T) {
	server := Private(t)
	pid := query(t, server.URL(), "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)")
	// The supervisor, the script that runs the server, is the parent of the server process (postmaster). The supervisor
	// has not waited for that process, so the process id cannot be reused.
	if err := exec.Command("kill", "-KILL", pid).Run(); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, server.URL(), server.directory)
	if err := server.Stop(); err != nil {
		t.Errorf("Stop after the server's death: %v", err)
	}
}

func TestTestsWithoutAServerFailWithTheReason(t *testing.T) {
	command := exec.Command(os.Args[0], "-test.run=^TestDatabasesAreSeparate$", "-test.v")
	command.Env = append(os.Environ(), DatabaseURLEnv+"=postgres://nobody@127.0.0.1:1/postgres?sslmode=disable")
	output, err := command.CombinedOutput()
	if err == nil {
		t.Error("the tests passed without a server")
	}
	for _, unwanted := range []string{"SKIP", "PASS"} {
		if strings.Contains(string(output), unwanted) {
			t.Errorf("the output says %s:\n%s", unwanted, output)
		}
	}
	if !strings.Contains(string(output), "refused") {
		t.Errorf("the output lacks the reason:\n%s", output)
	}
}

func TestTheEndOfAServerDoesNotAffectOtherServers(t *testing.T) {
	first, second := Private(t), Private(t)
	if hostOf(t, first) == hostOf(t, second) {
		t.Fatal("two servers share a port")
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	if got := query(t, second.URL(), "SELECT 'up'"); got != "up" {
		t.Error("the second server does not respond")
	}
}

func hostOf(t *testing.T, server *Server) string {
	t.Helper()
	parsed, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Host
}
