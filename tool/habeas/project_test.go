package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/cli"
)

// inProject changes to a folder below a folder with a project file. The data map lies beside the project file.
func inProject(t *testing.T, content string) (database string) {
	t.Helper()
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "map.json"), []byte(dataMap), 0o600))
	must(t, os.WriteFile(filepath.Join(root, projectFile), []byte(content), 0o600))
	below := filepath.Join(root, "a", "b")
	must(t, os.MkdirAll(below, 0o700))
	t.Chdir(below)
	file := filepath.Join(root, "shop.db")
	fill(t, "sqlite", file)
	return "sqlite:" + file
}

const shopProject = `{"data_map": "map.json", "database_url_variable": "SHOP_URL", "name": "shop", "operator": "dpo"}`

func TestAProjectFileReplacesFlags(t *testing.T) {
	env := map[string]string{"SHOP_URL": inProject(t, shopProject)}
	for _, args := range [][]string{{"migrate", "up"}, {"status"}, {"lint", "--ignore", "life-unknown"}, {"map"}} {
		if code, stdout, stderr := run(t, env, args...); code > 1 {
			t.Errorf("%q ends with %d:\n%s%s", args, code, stdout, stderr)
		}
	}
	if code, stdout, _ := run(t, env, "status"); code != 0 || !strings.Contains(stdout, "Data map: shop") {
		t.Errorf("the status ends with %d: %s", code, stdout)
	}
	env["HABEAS_DATABASE_URL"] = "mysql://elsewhere" // takes precedence
	if code, _, stderr := run(t, env, "status"); code != 2 || !strings.Contains(stderr, "must begin with") {
		t.Errorf("ends with %d: %s", code, stderr)
	}
	code, _, stderr := run(t, map[string]string{}, "status")
	if code != 2 || !strings.Contains(stderr, "names is not set") || strings.Contains(stderr, "SHOP_URL") {
		t.Errorf("ends with %d: %s", code, stderr)
	}
}

func TestTheOperatorOfAProjectIsOnTheTrail(t *testing.T) {
	env := map[string]string{"SHOP_URL": inProject(t, strings.ReplaceAll(shopProject, "dpo", "clerk"))}
	run(t, env, "migrate", "up")
	t.Setenv("HABEAS_OPERATOR", "")
	var out bytes.Buffer
	for _, args := range [][]string{{"erase", "1", "--yes"}, {"trail", "1"}} {
		root := newCommand(func(name string) string { return env[name] })
		root.SetArgs(args)
		root.SetOut(&out)
		root.SetErr(&out)
		if code := cli.Execute(t.Context(), root); code != 0 {
			t.Errorf("%q ends with %d: %s", args, code, out.String())
		}
	}
	if !strings.Contains(out.String(), "operator=clerk") {
		t.Errorf("the trail lacks the operator: %s", out.String())
	}
	s := &settings{env: func(name string) string { return env[name] }}
	if operator, err := s.operator(); err != nil || operator != "clerk" {
		t.Errorf("the operator is %q: %v", operator, err)
	}
	if file, _ := s.dataMapFile(); filepath.Base(file) != "map.json" || !filepath.IsAbs(file) || s.mapName() != "shop" {
		t.Errorf("the data map is %q, and its name %q", file, s.mapName())
	}
}

func TestAWrongProjectFileIsRefused(t *testing.T) {
	for _, content := range []string{"", "[]", `{"map": "x"}`, `{"name": 1}`, "{} {}"} {
		env := map[string]string{"HABEAS_DATABASE_URL": inProject(t, content)}
		if code, _, stderr := run(t, env, "status"); code != 2 || !strings.Contains(stderr, "must be a JSON object") {
			t.Errorf("%q: ends with %d: %s", content, code, stderr)
		}
	}
}
