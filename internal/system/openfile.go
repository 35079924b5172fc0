package system

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotPrivate means that a file is a link, no regular file, or that others have access to it.
var ErrNotPrivate = errors.New("the file is a link, no regular file, or others have access to it")

// OpenPrivate opens a regular file. It creates the file with the mode 0600 if flag has os.O_CREATE. It returns
// ErrNotPrivate if the file is a link, or has a permission in others, such as 0o077 for all permissions of the group
// and of other users. On Windows, files have no such permissions.
func OpenPrivate(path string, flag int, others fs.FileMode) (*os.File, error) {
	return open(path, flag, func(info fs.FileInfo) bool { return info.Mode().Perm()&others == 0 })
}

// OpenTrusted opens a regular file for reading. It returns ErrNotPrivate if the file is a link, or if another user than
// the own one and root can change the file, or replace it in its directory.
func OpenTrusted(path string) (*os.File, error) {
	directory, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	file, err := open(path, os.O_RDONLY, isTrusted)
	if err == nil && !isTrusted(directory) {
		_ = file.Close()
		return nil, ErrNotPrivate
	}
	return file, err
}

func open(path string, flag int, accepts func(fs.FileInfo) bool) (*os.File, error) {
	file, err := os.OpenFile(path, flag|noFollow, 0o600) //nolint:gosec // the caller chooses the file
	if err != nil {
		if link, stat := os.Lstat(path); stat == nil && link.Mode()&fs.ModeSymlink != 0 {
			err = ErrNotPrivate
		}
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || !accepts(info)) {
		err = ErrNotPrivate
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
