// Command recording draws what the programs of this module print, for the README: the walkthrough of the quickstart as
// an animation, and a screen of lint and one of rehearse. It runs in the root of the module.
package main

//go:generate go -C ../../.. run ./tests/cmd/recording

import (
	"bytes"
	"database/sql"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	_ "modernc.org/sqlite"
)

const pictures = "docs/pictures"

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal("recording: ", err)
	}
}

func run() error {
	directory, err := os.MkdirTemp("", "recording")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }()
	walkthrough, err := output(".", nil, "go run ./app/quickstart -walkthrough")
	if err != nil {
		return err
	}
	lint, rehearse, err := screens(directory)
	if err != nil {
		return err
	}
	for name, picture := range map[string]string{
		"quickstart.svg": draw("The quickstart", scenesOf(walkthrough)),
		"lint.svg":       draw("The output of habeas lint", []scene{lint}),
		"rehearse.svg":   draw("The output of habeas rehearse", []scene{rehearse}),
	} {
		if err := os.WriteFile(filepath.Join(pictures, name), []byte(picture), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// screens returns what lint and rehearse print about the shop of docs/first-erasure.md with an untouched draft.
func screens(directory string) (lint, rehearse scene, err error) {
	if err := createShop(filepath.Join(directory, "bikes.db")); err != nil {
		return nil, nil, err
	}
	program := filepath.Join(directory, "habeas")
	if _, err := output(".", nil, "go build -o "+program+" ./tool/habeas"); err != nil {
		return nil, nil, err
	}
	environment := []string{
		"PATH=" + directory + string(filepath.ListSeparator) + os.Getenv("PATH"), "COLUMNS=100",
		"HABEAS_DATABASE_URL=sqlite:bikes.db", "HABEAS_DATA_MAP=datamap.json",
	}
	screen := func(command string) (scene, error) {
		text, err := output(directory, environment, command)
		return append(scene{"$ " + command}, lines(text)...), err
	}
	if _, err = screen("HABEAS_DATA_MAP= habeas scaffold > datamap.json && habeas migrate up"); err != nil {
		return nil, nil, err
	}
	if lint, err = screen("habeas lint"); err != nil {
		return nil, nil, err
	}
	rehearse, err = screen("habeas rehearse 1")
	return lint, rehearse, err
}

var sqlBlock = regexp.MustCompile("(?s)```sql\n((?:CREATE TABLE|INSERT).*?)```")

func createShop(file string) error {
	page, err := os.ReadFile("docs/first-erasure.md")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, block := range sqlBlock.FindAllStringSubmatch(string(page), -1) {
		if _, err := db.Exec(block[1]); err != nil {
			return err
		}
	}
	return nil
}

var (
	at = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)
	// port is the part of the address that differs in each run.
	port = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// output runs a command in a shell, and returns what it prints, with the same times in each run. The exit code 1 means
// findings.
func output(directory string, environment []string, command string) (string, error) {
	shell := exec.Command("sh", "-c", command)
	shell.Dir, shell.Env = directory, append(os.Environ(), environment...)
	var problems bytes.Buffer
	shell.Stderr = &problems
	text, err := shell.Output()
	if err != nil && shell.ProcessState.ExitCode() != 1 {
		return "", fmt.Errorf("%s: %w\n%s", command, err, problems.String())
	}
	text = at.ReplaceAll(text, []byte("2026-11-26T12:00:00Z"))
	return string(port.ReplaceAll(text, []byte("127.0.0.1:3000"))), nil
}

// shown are the sections of the walkthrough that the animation shows, by the beginnings of their titles.
var shown = []string{
	"Alice requests a copy", "Alice requests her erasure", "The worker erases Alice",
}

// scenesOf returns a scene for each section that is shown.
func scenesOf(walkthrough string) (scenes []scene) {
	head, rest, _ := strings.Cut(walkthrough, "\n== ")
	opening := append(scene{"$ go run ./app/quickstart -walkthrough"}, lines(head)...)
	for section := range strings.SplitSeq(rest, "\n== ") {
		for _, title := range shown {
			if strings.HasPrefix(section, title) {
				scenes = append(scenes, append(opening, abridged(lines("== "+section))...))
				opening = nil
			}
		}
	}
	all := lines(walkthrough)
	last := len(scenes) - 1
	scenes[last] = append(scenes[last], "", all[len(all)-1])
	return scenes
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// abridged leaves out the middle of a scene that is too long. The last lines of a section have its result.
func abridged(all scene) scene {
	const most, end = 26, 2
	if len(all) <= most {
		return all
	}
	short := append(scene{}, all[:most-end-1]...)
	return append(append(short, "   …"), all[len(all)-end:]...)
}
