//go:build unix

package main

import (
	"bufio"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// commandEnv is an environment variable. If it is set, this test binary runs as the command that withpostgres starts.
const commandEnv = "HABEAS_WITHPOSTGRES_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

// withpostgres returns the command under test. The parameter database is the value of HABEAS_TEST_DATABASE_URL, or ""
// for a run without this variable.
func withpostgres(t *testing.T, database string, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], arguments...)
	command.Env = append(os.Environ(), commandEnv+"=1", postgres.DatabaseURLEnv+"="+database)
	command.Stderr = os.Stderr
	command.WaitDelay = time.Minute
	return command
}

func TestCommandGetsAServerThatIsGoneAfterwards(t *testing.T) {
	postgres.Private(t) // skips the test if no server is installed
	output, err := withpostgres(t, "", "--", "sh", "-c", "echo $HABEAS_TEST_DATABASE_URL").Output()
	if err != nil {
		t.Fatal(err)
	}
	host := hostOf(t, string(output))
	if connection, err := net.DialTimeout("tcp4", host, time.Second); err == nil {
		_ = connection.Close()
		t.Errorf("%s still listens", host)
	}
}

func TestASuppliedServerIsPassedOn(t *testing.T) {
	const supplied = "postgres://somewhere.example/database"
	output, err := withpostgres(t, supplied, "--", "sh", "-c", "echo $HABEAS_TEST_DATABASE_URL").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(output)); got != supplied {
		t.Errorf("URL = %s, want %s", got, supplied)
	}
}

func TestExitCodeIsTheCommands(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		want      int
	}{
		"success":    {[]string{"--", "true"}, 0},
		"failure":    {[]string{"--", "sh", "-c", "exit 7"}, 7},
		"signal":     {[]string{"--", "sh", "-c", "kill -TERM $$"}, 143},
		"no command": {[]string{"--"}, failed},
		"not found":  {[]string{"--", "/no/such/command"}, failed},
	} {
		t.Run(name, func(t *testing.T) {
			command := withpostgres(t, "postgres://somewhere.example/database", test.arguments...)
			_ = command.Run() // the error only repeats the exit code
			if got := command.ProcessState.ExitCode(); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

func TestSignalsReachTheCommandBeforeTheServerStops(t *testing.T) {
	postgres.Private(t) // skips the test if no server is installed
	for _, sent := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sent.String(), func(t *testing.T) {
			command := withpostgres(t, "", "--", "sh", "-c",
				`trap 'echo caught; exit 9' INT TERM; echo $HABEAS_TEST_DATABASE_URL; while :; do sleep 0.1; done`)
			stdout, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			bound := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
			defer bound.Stop()
			lines := bufio.NewScanner(stdout)
			if !lines.Scan() {
				t.Fatal("the command did not start")
			}
			host := hostOf(t, lines.Text())
			if err := command.Process.Signal(sent); err != nil {
				t.Fatal(err)
			}
			if !lines.Scan() || lines.Text() != "caught" {
				t.Errorf("the command did not receive %v", sent)
			}
			_ = command.Wait() // the error only repeats the exit code
			if got := command.ProcessState.ExitCode(); got != 9 {
				t.Errorf("exit code %d, want 9", got)
			}
			if connection, err := net.DialTimeout("tcp4", host, time.Second); err == nil {
				_ = connection.Close()
				t.Errorf("%s still listens", host)
			}
		})
	}
}

func hostOf(t *testing.T, databaseURL string) string {
	t.Helper()
	parsed, err := url.Parse(strings.TrimSpace(databaseURL))
	if err != nil || parsed.Port() == "" {
		t.Fatalf("not a server's URL: %q", databaseURL)
	}
	return parsed.Host
}
