package scaffold_test

import (
	"slices"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

func TestThePlacesOfFilesAreAsked(t *testing.T) {
	p := propose(t, schema(users+`
		user_attachments: attachment_id:text*, user_id>users=cascade, size:bigint, latest_bucket
		profiles: id*, user_id>users=cascade, avatar_bkey, bio`))
	for _, column := range []string{"user_attachments.latest_bucket", "profiles.avatar_bkey"} {
		if !slices.Contains(p.asked(), column) {
			t.Errorf("not asked about %s, but %v", column, p.Decisions)
		}
	}
	if a := p.column(t, "profiles.avatar_bkey").Personal; a == nil || a.Export != datamap.ExportYes {
		t.Errorf("avatar_bkey is annotated with %+v", a)
	}
}
