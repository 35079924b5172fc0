package readme_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/adapters/persistence/manifest"
	"github.com/habeas-data/habeas/domain/erasure"
)

// The first block of the page is a manifest. Each other block has tables that can stand behind those of the first.
func TestTheJSONOfThePageIsADataMapWithAPlan(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(read(t, "../../docs/json-first.md"), -1)
	smallest := strings.TrimSuffix(strings.TrimSpace(blocks[0][1]), "]}")
	for i, block := range blocks {
		text := smallest + "]}"
		if i > 0 {
			text = smallest + ",\n" + block[1] + "]}"
		}
		m, err := manifest.Read(strings.NewReader(text))
		if err == nil {
			_, err = erasure.Planner{}.Plan(m, m.Refs())
		}
		if err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
	}
	if len(blocks) < 8 {
		t.Errorf("the page has %d blocks", len(blocks))
	}
}
