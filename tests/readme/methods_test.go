package readme_test

import (
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/app"
)

// methodCall matches a call of a method of the integration, or of its operator.
var methodCall = regexp.MustCompile(`gdpr\.(Operator\(\)\.)?([A-Z]\w*)`)

func TestThePagesNameMethodsThatExist(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md") {
		for _, call := range methodCall.FindAllStringSubmatch(read(t, page), -1) {
			of := reflect.TypeFor[*app.Integration]()
			if call[1] != "" {
				of = reflect.TypeFor[*app.Operator]()
			}
			if _, found := of.MethodByName(call[2]); !found {
				t.Errorf("%s: %s has no method %s", page, of, call[2])
			}
		}
	}
}

var (
	declaration = regexp.MustCompile(`(?m)^(\S+): (?:const|var|func|type) (\w+)`)
	qualified   = regexp.MustCompile("`([a-z]\\w*)\\.([A-Z]\\w*)")
)

// The text of the API has every exported name of the packages for applications.
func TestThePagesNameDeclarationsThatExist(t *testing.T) {
	exported, packages := map[string]bool{}, map[string]bool{}
	for _, line := range declaration.FindAllStringSubmatch(read(t, "../../.ci/api.txt"), -1) {
		name := path.Base(line[1])
		packages[name], exported[name+"."+line[2]] = true, true
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || !packages["domain"] {
		t.Fatal(err, packages)
	}
	for _, page := range append(pages, "../../README.md", "../../CHANGELOG.md") {
		for _, found := range qualified.FindAllStringSubmatch(read(t, page), -1) {
			if name := strings.TrimPrefix(found[0], "`"); packages[found[1]] && !exported[name] {
				t.Errorf("%s: there is no %s", page, name)
			}
		}
	}
}
