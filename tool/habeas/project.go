package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
		s.read, s.projectErr = readProject()
	}
	return s.read, s.projectErr
}

func readProject() (found project, err error) {
	directory, err := os.Getwd()
	if err != nil {
		return project{}, nil //nolint:nilerr // without a working directory, there is no project file
	}
	for {
		text, err := os.ReadFile(filepath.Join(directory, projectFile)) //nolint:gosec // the operator chooses the directory
		switch {
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
