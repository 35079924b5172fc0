package manifest_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain"
)

// objects has a document for each object of a manifest, with an unknown member in this object.
var objects = map[string]string{
	"document": `{"manifest_version": 2, "x": 1}`,
	"table":    `{"manifest_version": 2, "tables": [{"x": 1}]}`,
	"column":   `{"manifest_version": 2, "tables": [{"columns": [{"x": 1}]}]}`,
	"personal": `{"manifest_version": 2, "tables": [{"columns": [{"personal": {"x": 1}}]}]}`,
	"relation": `{"manifest_version": 2, "tables": [{"relations": [{"x": 1}]}]}`,
	"when":     `{"manifest_version": 2, "tables": [{"relations": [{"when": {"x": 1}}]}]}`,
	"accepted": `{"manifest_version": 2, "tables": [], "accepted": [{"x": 1}]}`,
	"decision": `{"manifest_version": 2, "tables": [], "decisions": [{"x": 1}]}`,
	"option":   `{"manifest_version": 2, "tables": [], "decisions": [{"options": [{"x": 1}]}]}`,
	"edit":     `{"manifest_version": 2, "tables": [], "decisions": [{"options": [{"edit": {"x": 1}}]}]}`,
}

func TestEachMemberIsInTheTableOfThePage(t *testing.T) {
	var members []string
	for object, text := range objects {
		_, err := manifest.Read(strings.NewReader(text))
		for _, problem := range domain.Problems(err) {
			if strings.HasSuffix(problem.Message, "x: is unknown") {
				for _, name := range problem.Possible {
					members = append(members, object+" "+name)
				}
			}
		}
	}
	slices.Sort(members)
	if len(members) < 40 {
		t.Fatalf("the members are %v", members)
	}
	text, err := os.ReadFile("../../../docs/datamap.md")
	must(t, err)
	var documented []string
	row := regexp.MustCompile("(?m)^\\| (\\w+) \\| `(\\w+)` \\| ")
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		if _, ok := objects[found[1]]; ok {
			documented = append(documented, found[1]+" "+found[2])
		}
	}
	slices.Sort(documented)
	if !slices.Equal(documented, members) {
		t.Errorf("the page has the members\n%s\nwant\n%s", strings.Join(documented, "\n"), strings.Join(members, "\n"))
	}
}
