// Package process runs a server as a process of its own, and reads how much of the processors a process has used.
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

// Server is a process that serves on a loopback port. It ends with Stop, or with this process, whatever becomes of it:
// the server's standard input ends then (see Serve).
type Server struct {
	// Address is where it listens.
	Address string

	command *exec.Cmd
	alive   io.Closer // its standard input
	ended   chan error
}

// Start starts this program once more, with other arguments, and returns once it has said where it listens.
func Start(ctx context.Context, arguments ...string) (_ *Server, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// No context: Stop ends it, in an orderly way.
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
		line, _ := bufio.NewReader(output).ReadString('\n') // which is empty where it has failed, and says why itself
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

// Process returns its number.
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

// Serve is the other end of Start, in the process that was started: it says where the server listens, and returns
// when it is time to stop.
func Serve(address string) {
	fmt.Println(address)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
