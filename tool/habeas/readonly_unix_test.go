//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A backup of a file of SQLite often has the journal mode WAL, and lies in a directory that the operator cannot write.
func TestTheTrailOfAReadOnlyFileIsShown(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		env := onSQLite(t)
		file := strings.TrimPrefix(env["HABEAS_DATABASE_URL"], "sqlite:")
		execute(t, "sqlite", file, "PRAGMA journal_mode = "+mode)
		runAll(t, env, step{[]string{"migrate", "up"}, 0, "applied"}, step{[]string{"erase", "1", "--yes"}, 0, "Erased 1"})
		execute(t, "sqlite", file, "PRAGMA wal_checkpoint(TRUNCATE)")
		directory, err := os.MkdirTemp("", "habeas") // other users can reach it
		must(t, err)
		t.Cleanup(func() {
			_ = os.Chmod(directory, 0o700)
			_ = os.RemoveAll(directory)
		})
		backup, program := filepath.Join(directory, "backup.db"), filepath.Join(directory, "program")
		duplicate(t, file, backup, 0o444)
		itself, err := os.Executable()
		must(t, err)
		duplicate(t, itself, program, 0o555)
		must(t, os.Chmod(directory, 0o555))
		for args, want := range map[string]struct {
			code int
			says string
		}{
			"trail 1":       {0, "erasure_completed"},
			"trail 7":       {2, "no subject with this id"},
			"outbox counts": {0, "Succeeded: 0"},
		} {
			command := exec.CommandContext(t.Context(), program, strings.Fields(args)...)
			command.Dir = "/"
			command.Env = []string{asProgram + "=1", "HABEAS_DATABASE_URL=sqlite:" + backup}
			if os.Geteuid() == 0 { // root can write every file
				command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			output, _ := command.CombinedOutput()
			if code := command.ProcessState.ExitCode(); code != want.code || !strings.Contains(string(output), want.says) {
				t.Errorf("%s: %s ends with %d: %s", mode, args, code, output)
			}
		}
	}
}

func duplicate(t *testing.T, from, to string, mode os.FileMode) {
	t.Helper()
	source, err := os.Open(from)
	must(t, err)
	defer func() { must(t, source.Close()) }()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = io.Copy(target, source)
	must(t, err)
	must(t, target.Close())
	must(t, os.Chmod(to, mode))
}
