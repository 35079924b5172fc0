package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/habeas-data/habeas/internal/system"
)

// projectFile is the name of the project file. The program uses the first one that it finds in the working directory or
// in a directory above it.
const projectFile = "habeas.json"

// project is the content of a project file. Flags and environment variables take precedence over it.
type project struct {
	DataMap     string `json:"data_map"`              // the file of the data map, relative to the project file
	URLVariable string `json:"database_url_variable"` // the environment variable with the URL of the database
	Name        string `json:"name"`                  // see --name
	Operator    string `json:"operator"`              // see --operator
}

// project reads the project file once. Without a project file, it returns the zero value.
func (s *settings) project() (project, error) {
	if !s.projectRead {
		s.projectRead = true
		s.read, s.projectErr = s.readProject()
	}
	return s.read, s.projectErr
}

// readProject reads the project file. The file names a data map and a database, so it is read only if no other user can
// change it. If it is above the working directory, its path is shown.
func (s *settings) readProject() (found project, err error) {
	working, err := os.Getwd()
	if err != nil {
		return project{}, nil //nolint:nilerr // without a working directory, there is no project file
	}
	for directory := working; ; {
		path := filepath.Join(directory, projectFile)
		text, err := readTrusted(path)
		switch {
		case errors.Is(err, system.ErrNotPrivate):
			return project{}, refused("the project file " + strconv.Quote(path) + " is not read: it and its directory must " +
				"be yours or root's, and others must not be able to write to them; it must not be a link")
		case err == nil && directory != working:
			s.warn("The project file is " + strconv.Quote(path) + ".")
			return parseProject(text, directory)
		case err == nil:
			return parseProject(text, directory)
		case !errors.Is(err, os.ErrNotExist):
			return project{}, refused("the project file " + projectFile + " cannot be read: check its permissions")
		}
		above := filepath.Dir(directory)
		if above == directory {
			return project{}, nil
		}
		directory = above
	}
}

func readTrusted(path string) ([]byte, error) {
	file, err := system.OpenTrusted(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(file)
}

// warn writes a line to the standard error.
func (s *settings) warn(text string) {
	if s.stderr != nil {
		_, _ = io.WriteString(s.stderr(), text+"\n")
	}
}

func parseProject(text []byte, directory string) (found project, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&found); err != nil || decoder.More() {
		return project{}, refused("the project file " + projectFile + " must be a JSON object with the texts data_map, " +
			"database_url_variable, name and operator; each may be missing")
	}
	if found.DataMap != "" && !filepath.IsAbs(found.DataMap) {
		found.DataMap = filepath.Join(directory, found.DataMap)
	}
	return found, nil
}
