//go:build unix

package postgres

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/habeas-data/habeas/internal/tests/postgres/prebuilt"
)

// Version selects the major version of a server, like the environment variable in VersionEnv.
func Version(major int) Option { return func(s *settings) { s.version = major } }

func (s *settings) readVersion(text string) (err error) {
	if text == "" {
		return nil
	}
	if s.version, err = strconv.Atoi(text); err != nil {
		return fmt.Errorf("postgres: %s must be a major version, such as 14", VersionEnv)
	}
	return nil
}

// install unpacks the programs of the selected version into a directory of the server. The programs are removed with
// the server.
func (s settings) install(
	ctx context.Context, found binaries, directory string, as *syscall.Credential,
) (binaries, error) {
	if s.version == 0 {
		return found, nil
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		return binaries{}, fmt.Errorf("postgres: %w", err)
	}
	programs, err := prebuilt.Install(ctx, s.version, directory)
	if err != nil {
		return binaries{}, err
	}
	if err := handOver(directory, as); err != nil {
		return binaries{}, fmt.Errorf("postgres: %w", err)
	}
	return binaries{filepath.Join(programs, "initdb"), filepath.Join(programs, "postgres")}, nil
}

// handOver changes the owner of the files to the account of the server. The supervisor runs under the same account, and
// removes the files.
func handOver(directory string, as *syscall.Credential) error {
	if as == nil {
		return nil
	}
	return filepath.WalkDir(directory, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, int(as.Uid), int(as.Gid))
	})
}
