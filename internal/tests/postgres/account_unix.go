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

// account returns the account that runs the server. If the current user is root, it is an unprivileged account, because
// initdb and postgres refuse to run as root. Otherwise account returns nil, which selects the current user.
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
	return nil, fmt.Errorf("postgres: root cannot run a server: create the user postgres or nobody")
}

// makeDirectory creates the directory of a server. The account that runs the server becomes the owner of the directory.
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

// temporary returns the parent directory for the directories of servers. The result "" means the default directory for
// temporary files. If root runs the tests and other users cannot enter that directory, the result is /tmp.
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

// detached starts the supervisor in a new session. An interrupt of the test's process group, for example by Ctrl+C,
// then does not reach the supervisor.
func detached(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Credential: as}
}
