package system

import (
	"errors"
	"os"
)

// TempFile is a temporary file that only this process can read. It has no name, so the operating system removes it at
// the latest when the process ends. There is an exception: some systems, such as Windows, cannot remove the name of an
// open file. Close removes it there.
type TempFile struct {
	*os.File
	named bool
}

// NewTempFile creates a temporary file in a directory. An empty directory means os.TempDir.
func NewTempFile(directory string) (*TempFile, error) {
	file, err := os.CreateTemp(directory, "habeas-") // with mode 0600
	if err != nil {
		return nil, err
	}
	return &TempFile{file, os.Remove(file.Name()) != nil}, nil
}

// Close closes and removes the file.
func (f *TempFile) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
