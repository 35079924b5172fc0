//go:build unix

package postgres

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
)

// Setting adds a server setting, in the form name=value.
func Setting(value string) Option { return func(s *settings) { s.more = append(s.more, value) } }

// ForStandbys configures a server as a primary that can have standbys. See StandbyOf.
func ForStandbys() Option {
	return func(s *settings) {
		s.keep = "keep"
		s.more = append(s.more, "wal_level=replica", "max_wal_senders=10", "wal_keep_size=1GB")
	}
}

// StandbyOf configures a server as a standby of the given primary server, which must have been started with
// ForStandbys. The application_name of the standby is the given name.
func StandbyOf(primary *Server, name string) Option {
	return func(s *settings) {
		s.base = filepath.Join(primary.directory, "base")
		s.more = append(s.more, "hot_standby=on", "wal_retrieve_retry_interval=100ms",
			"primary_conninfo=host=127.0.0.1 port="+portOf(primary)+" user=postgres application_name="+name)
	}
}

// Backup copies all files of the running server with pg_basebackup, and returns the directory of the copy. The copy is
// removed with the server. Call Backup only once for each server.
func (s *Server) Backup(ctx context.Context) (directory string, err error) {
	program, err := Program("pg_basebackup")
	if err != nil {
		return "", err
	}
	as, err := account()
	if err != nil {
		return "", err
	}
	directory = filepath.Join(s.directory, "backup")
	process := exec.CommandContext(ctx, program, "--pgdata="+directory, "--checkpoint=fast", "--no-sync",
		"--host=127.0.0.1", "--port="+portOf(s), "--username=postgres")
	process.Dir, process.SysProcAttr = s.directory, detached(as)
	if output, err := process.CombinedOutput(); err != nil {
		return "", fmt.Errorf("postgres: pg_basebackup: %w: %s", err, output)
	}
	return directory, nil
}

// FromBackup configures a server that starts with a copy of the files in directory, which Backup returned.
func FromBackup(directory string) Option {
	return func(s *settings) { s.base, s.keep = directory, "restore" }
}

func portOf(server *Server) string {
	parsed, err := url.Parse(server.url)
	if err != nil {
		return ""
	}
	return parsed.Port()
}
