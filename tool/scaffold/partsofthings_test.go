package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestAThingThatRefersToAThingIsNotAskedAbout(t *testing.T) {
	const samples = "samples: id*, upload_user_id?>users\n"
	for lines, want := range map[string]int{
		samples + "flows: id*, first_sample_id?>samples, display_name":                    0,
		samples + "flows: id*, first_sample_id?>samples, displayName":                     0,
		samples + "flows: id*, first_sample_id?>samples, display_name, email":             1,
		samples + "flows: id*, first_sample_id?>samples, user_id?>users, display_name":    1,
		"samples: id*, user_id?>users\nflows: id*, first_sample_id>samples, display_name": 1,
		samples + "comments: id*, first_sample_id?>samples, display_name, body":           1,
	} {
		p := propose(t, schema(users+lines))
		asked := append(p.questionsAbout("flows", "own rows"), p.questionsAbout("comments", "own rows")...)
		if _, isMapped := p.dataMap.Table("flows"); len(asked) != want && !isMapped {
			t.Errorf("%s: asked %v", lines, p.Decisions)
		}
		if slices.ContainsFunc(p.LeftOut, func(l scaffold.LeftOut) bool {
			return l.Table == "flows" && strings.Contains(l.Reason, "none of its columns looks personal")
		}) {
			t.Errorf("%s: left out %v", lines, p.LeftOut)
		}
	}
}

func TestALinkOfThingsWithoutAKeyIsNotAskedAbout(t *testing.T) {
	const things = `
		samples: id*, upload_user_id?>users
		sets: id*, cover_id?>samples, color
		shelves: id*, color
		diaries: id*, user_id>users, title
		patients: id*, first_name
		`
	for line, want := range map[string]int{
		"sets_shelves: set_id>sets, shelf_id>shelves":                      0,
		"sets_shelves: set_id>sets, shelf_id>shelves, created_at:time":     0,
		"sets_shelves: set_id>sets, shelf_id>shelves, remark":              1,
		"sets_shelves: set_id>sets, shelf_id>shelves, label":               1,
		"sets_shelves: set_id>sets, user_id>users":                         1,
		"sets_shelves: set_id>sets, diary_id>diaries":                      1,
		"sets_shelves: set_id>sets, patient_id>patients, shelf_id>shelves": 1,
	} {
		p := propose(t, schema(users+things+line))
		if asked := p.questionsAbout("sets_shelves", "It has no key"); len(asked) != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}
