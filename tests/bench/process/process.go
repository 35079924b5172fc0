// Package process runs a server as a separate process, and measures the processor time and the memory of a process.
package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
)

// Server is a process with a server on a loopback port. Stop ends the process. If the parent process ends, the process
// also ends, because its standard input is then closed (see Serve).
type Server struct {
	// Address is the address on which the server listens.
	Address string

	command *exec.Cmd
	alive   io.Closer // the standard input of the process; the process ends when it is closed
	ended   chan error
}

// Start starts the running program again with other arguments. It returns after the new process has printed its
// address.
func Start(ctx context.Context, arguments ...string) (_ *Server, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// The command has no context, because only Stop ends the process in an orderly way.
	command := exec.Command(program, arguments...)
	command.Stderr = os.Stderr
	alive, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	server := &Server{command: command, alive: alive, ended: make(chan error, 1)}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(output).ReadString('\n') // empty if the process has failed; it prints the reason
		said <- strings.TrimSpace(line)
		server.ended <- command.Wait()
	}()
	select {
	case server.Address = <-said:
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(startTimeout):
		err = errors.New("it did not say in time where it listens")
	}
	if err == nil && server.Address == "" {
		err = errors.New("it ended before it listened")
	}
	if err != nil {
		return nil, fmt.Errorf("start %v: %w", arguments, errors.Join(err, server.Stop()))
	}
	return server, nil
}

// Process returns the id of the process.
func (s *Server) Process() int { return s.command.Process.Pid }

// Stop ends the process and waits for it.
func (s *Server) Stop() error {
	_ = s.alive.Close()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(stopTimeout):
	}
	return errors.Join(errors.New("the server had to be killed"), s.command.Process.Kill(), <-s.ended)
}

// Serve runs in a process that Start has started, and prints the address of the server. When the standard input is
// closed, Serve returns, and the process must end.
func Serve(address string) {
	fmt.Println(address)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
