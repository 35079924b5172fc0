package scaffold_test

import (
	"slices"
	"testing"
)

func TestColumnsThatMayBePersonalAreAsked(t *testing.T) {
	for line, want := range map[string]bool{
		"posts: id*, user_id>users, parent_id?>posts, title, body, slug!": true,
		"pins: id*, user_id>users, color, slug":                           false,
	} {
		if got := slices.Contains(propose(t, schema(users+line)).asked(), "posts.slug"); got != want {
			t.Errorf("%s: asked is %t", line, got)
		}
	}
	for column, want := range map[string]bool{
		"act_user_id": true, "act_user_id>users": false, "act_user_id:uuid": false, "page_id": false,
	} {
		p := propose(t, schema(users+"messages: id*, user_id>users, body, "+column))
		if got := slices.Contains(p.asked(), "messages."+column); got != want {
			t.Errorf("%s: asked about %v", column, p.asked())
		}
	}
}
