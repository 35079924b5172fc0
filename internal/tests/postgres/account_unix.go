//go:build unix

package postgres

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account returns whom the server runs as: nil for the current user, somebody unprivileged when that user is root,
// for initdb and postgres refuse root.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(found.Uid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("postgres: user %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(found.Gid, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("postgres: user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("postgres: root can't run a server, and there is neither a user postgres nor nobody")
}

// makeDirectory creates the server's directory and hands it to whom the server runs as.
func makeDirectory(as *syscall.Credential) (string, error) {
	directory, err := os.MkdirTemp(temporary(as), "habeas-postgres-")
	if err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	if as != nil {
		if err := os.Chown(directory, int(as.Uid), int(as.Gid)); err != nil {
			return "", fmt.Errorf("postgres: %w", err)
		}
	}
	return directory, nil
}

// temporary is the parent of server directories. Root's TMPDIR may be closed to everybody else; /tmp never is.
func temporary(as *syscall.Credential) string {
	if as == nil {
		return ""
	}
	for path := os.TempDir(); ; path = filepath.Dir(path) {
		const others = 0o001
		if info, err := os.Stat(path); err != nil || info.Mode()&others == 0 {
			return "/tmp"
		}
		if path == filepath.Dir(path) {
			return ""
		}
	}
}

// detached puts the supervisor into a session of its own: an interrupt of the test's process group must not reach it.
func detached(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Credential: as}
}
