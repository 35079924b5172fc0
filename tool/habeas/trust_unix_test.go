//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/habeas-data/habeas/tool/cli"
)

func TestAProjectFileThatOthersCanChangeIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(root, file string) error{
		"a file that all can write": func(_, file string) error { return os.Chmod(file, 0o606) },
		"a directory that all can write": func(root, _ string) error {
			return os.Chmod(root, 0o707)
		},
		"a link": func(root, file string) error {
			other := filepath.Join(root, "other.json")
			if err := os.Rename(file, other); err != nil {
				return err
			}
			return os.Symlink(other, file)
		},
		"a named pipe": func(_, file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return syscall.Mkfifo(file, 0o600)
		},
		"a file of another user": func(_, file string) error {
			err := os.Chown(file, 12345, 12345)
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file to another user")
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"SHOP_URL": inProject(t, shopProject)}
			root := filepath.Dir(strings.TrimPrefix(env["SHOP_URL"], "sqlite:"))
			must(t, spoil(root, filepath.Join(root, projectFile)))
			if code, _, stderr := run(t, env, "status"); code != 2 || !strings.Contains(stderr, "is not read: it and its") {
				t.Errorf("ends with %d: %s", code, stderr)
			}
			if code, _, stderr := run(t, env, "help"); code != 0 {
				t.Errorf("help ends with %d: %s", code, stderr)
			}
		})
	}
}

func TestThePathOfAProjectFileAboveIsShownOnce(t *testing.T) {
	env := map[string]string{"SHOP_URL": inProject(t, shopProject)}
	root := filepath.Dir(strings.TrimPrefix(env["SHOP_URL"], "sqlite:"))
	_, _, stderr := run(t, env, "migrate", "up")
	if strings.Count(stderr, filepath.Join(root, projectFile)) != 1 {
		t.Errorf("printed %q", stderr)
	}
	t.Chdir(root)
	if _, _, stderr := run(t, env, "status"); stderr != "" {
		t.Errorf("in its own directory: %q", stderr)
	}
}

func TestADatabaseURLOverANetworkWithoutSSLModeGetsAWarning(t *testing.T) {
	for address, want := range map[string]bool{
		"postgres://u:secret@db.example.org/shop":                            true,
		"postgres://u:sslmode=secret@10.0.0.7/shop":                          true,
		"postgres://u:secret@localhost,db.example.org/shop":                  true,
		"postgres://u:secret@/shop?host=db.example.org":                      true,
		"postgres://u:secret@localhost/shop":                                 false,
		"postgres://u:secret@127.0.0.2/shop":                                 false,
		"postgres://u:secret@[::1]/shop":                                     false,
		"postgres://u:secret@/shop?host=/run/postgresql":                     false,
		"postgres://u:secret@db.example.org/shop?sslmode=verify-full":        false,
		"postgres://u:secret@db.example.org/shop?sslmode=disable":            false,
		"postgres://u:secret@db.example.org/shop?sslmode=require&user=sneak": false,
	} {
		var shown strings.Builder
		s := &settings{env: func(string) string { return "" }, stderr: func() io.Writer { return &shown }}
		s.databaseURL = cli.Text(address)
		db, err := s.openDatabase()
		must(t, err)
		must(t, db.Close())
		if got := strings.Contains(shown.String(), "Add sslmode=verify-full"); got != want ||
			strings.Contains(shown.String(), "secret") {
			t.Errorf("%s: %q", address, shown.String())
		}
	}
}
