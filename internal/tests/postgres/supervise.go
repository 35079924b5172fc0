//go:build unix

package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed supervisor.sh
var supervisor string

// supervise starts a shell script, the supervisor, which runs the server. The supervisor outlives this process until it
// has stopped the server and removed its directory. No goroutine waits for the supervisor, because tests that search
// for leaked goroutines would find this goroutine.
func (s settings) supervise(ctx context.Context, programs binaries, port int) (_ *Server, err error) {
	as, err := account()
	if err != nil {
		return nil, err
	}
	directory, err := makeDirectory(as)
	if err != nil {
		return nil, err
	}
	var opened []*os.File
	if programs, err = s.install(ctx, programs, filepath.Join(directory, "native"), as); err != nil {
		return nil, errors.Join(err, os.RemoveAll(directory))
	}
	defer func() {
		if err != nil {
			closeAll(opened)
			err = errors.Join(err, os.RemoveAll(directory))
		}
	}()
	log, err := os.OpenFile(filepath.Join(directory, "server.log"), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	opened = append(opened, log)
	stdin, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	opened = append(opened, stdin, alive)
	down, stdout, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	opened = append(opened, down, stdout)

	// The command has no context, because the end of a context would kill the script before it has stopped the server.
	process := exec.Command("/bin/sh", append([]string{
		"-c", supervisor, "habeas-postgres", directory, programs.initdb, programs.postgres, s.base, s.keep,
	}, s.arguments(port)...)...)
	process.Dir = directory // the server's user may have no access to the current directory
	process.Env = environment(os.Environ())
	process.Stdin, process.Stdout, process.Stderr = stdin, stdout, log
	process.SysProcAttr = detached(as)
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	closeAll([]*os.File{stdin, stdout}) // this process does not use these ends; the script has inherited them
	return &Server{directory: directory, process: process, alive: alive, down: down, log: log}, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		_ = file.Close() // no data was written to them
	}
}

// environment returns the environment variables for the server. It omits variables of the developer that would change
// the server, such as PGPORT, PGDATA and the locale.
func environment(variables []string) []string {
	kept := []string{"LC_ALL=C"}
	for _, variable := range variables {
		if !strings.HasPrefix(variable, "PG") && !strings.HasPrefix(variable, "LC_") {
			kept = append(kept, variable)
		}
	}
	return kept
}
