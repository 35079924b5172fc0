// Command withpostgres runs a command with a private PostgreSQL server. For example, all packages of one "go test" then
// share this server:
//
//	go run ./tests/cmd/withpostgres -- go test ./...
//
// The environment variable HABEAS_TEST_DATABASE_URL of the command has the URL of the server. If this variable is
// already set, withpostgres starts no server. The exit code is the exit code of the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/habeas-data/habeas/internal/tests/postgres"
)

// failed is the exit code if withpostgres cannot run the command.
const failed = 125

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
	}
	os.Exit(code)
}

func run(arguments []string) (code int, err error) {
	if len(arguments) > 0 && arguments[0] == "--" {
		arguments = arguments[1:]
	}
	if len(arguments) == 0 {
		return failed, errors.New("usage: withpostgres -- command [argument ...]")
	}
	// From here on, a signal does not end this process immediately, because the command and the server must end first.
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	environment := os.Environ()
	if os.Getenv(postgres.DatabaseURLEnv) == "" {
		server, err := start(signals)
		if err != nil {
			return failed, err
		}
		defer func() {
			if stopErr := server.Stop(); stopErr != nil {
				code, err = max(code, 1), errors.Join(err, stopErr)
			}
		}()
		environment = append(environment, postgres.DatabaseURLEnv+"="+server.URL())
	}

	command := exec.Command(arguments[0], arguments[1:]...)
	command.Env = environment
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return failed, err
	}
	return wait(command, signals)
}

// start starts the server. If a signal arrives before the server is ready, start returns an error.
func start(signals <-chan os.Signal) (*postgres.Server, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case received := <-signals:
			cancel(fmt.Errorf("received %v", received))
		case <-ctx.Done():
		}
	}()
	server, err := postgres.Start(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return server, err
}

// wait passes signals to the command until the command ends. It returns the exit code of the command. If signal n has
// ended the command, it returns 128+n, as a shell does.
func wait(command *exec.Cmd, signals <-chan os.Signal) (int, error) {
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		select {
		case received := <-signals:
			// If the command has just ended, this call fails, and the next iteration of the loop returns.
			_ = command.Process.Signal(received)
		case err := <-ended:
			var exit *exec.ExitError
			switch {
			case err == nil:
				return 0, nil
			case !errors.As(err, &exit):
				return failed, err
			}
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return 128 + int(status.Signal()), nil
			}
			return exit.ExitCode(), nil
		}
	}
}
