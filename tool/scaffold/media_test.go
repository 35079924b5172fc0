package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/habeas-data/habeas/tool/scaffold"
)

func TestFilesOfPeopleAreDeleted(t *testing.T) {
	for table, want := range map[string]bool{
		"profile_photos: id*, user_id>users, storage_key, title":                                           true,
		"profile_photos: id*, user_id?>users, path":                                                        true,
		"member_images: id*, user_id>users, url":                                                           true,
		"user_attachments: id*, user_id>users, object_key, filename":                                       true,
		"uploads: id*, user_id>users, key, filename":                                                       true,
		"uploads: id*, user_id?>users, key, filename":                                                      false,
		"uploads: id*, user_id>users, post_id>posts, key":                                                  false,
		"uploads: id*, user_id>users, target_id, target_type, key":                                         false,
		"uploads: id*, uploaded_by:bigint>users, key":                                                      false,
		"uploads: id*, user_id?>users=set_null, key":                                                       false,
		"photos: id*, user_id>users, path, title":                                                          false,
		"customer_photos: id*, user_id>users, path, shelf":                                                 false,
		"account_files: id*, user_id>users, path":                                                          false,
		"product_photos: id*, user_id>users, path, title":                                                  false,
		"profile_photos: id*, user_id>users, path\nbanners: id*, user_id>users, p_id>profile_photos, body": false,
		"profile_photos: id*, user_id>users, reviewer_id?, path":                                           false,
	} {
		p := propose(t, schema(users+"posts: id*, user_id>users, title\n"+table))
		name := schema(table).Tables[0].Name
		mapped, ok := p.dataMap.Table(name)
		if (ok && mapped.Owned) != want {
			t.Errorf("%s: the steps are %v, left out %v", table, p.steps(), p.LeftOut)
		}
		place := slices.ContainsFunc(p.Decisions, func(d scaffold.Decision) bool {
			return d.Table == name && d.Column != ""
		})
		if want && !place {
			t.Errorf("%s: nobody is asked about the file: %v", table, p.Decisions)
		}
	}
}

func TestAFileOfAnUnknownThingIsNotThePersons(t *testing.T) {
	for columns, want := range map[string]bool{"key": true, "nid:integer, key": false} {
		p := propose(t, schema(loose+"uploads: id*, user_id, "+columns))
		if got := slices.Contains(p.steps(), "delete uploads"); got != want {
			t.Errorf("%s: the steps are %v", columns, p.steps())
		}
	}
}

// A number may be the own number of the row, and that of another person.
func TestTheKeyOfATableOfFilesMayBeThatOfThePerson(t *testing.T) {
	for id, want := range map[string]bool{"uuid": true, "text": true, "bigint": false} {
		lines := "users: id:" + id + "*, email\nuser_avatars: id:" + id + "*, image:bytes, path"
		p := propose(t, schema(lines))
		if got := slices.Contains(p.steps(), "delete user_avatars"); got != want {
			t.Errorf("%s: the steps are %v", id, p.steps())
		}
		if !slices.Contains(p.asked(), "user_avatars.id") {
			t.Errorf("%s: asked about %v", id, p.asked())
		}
		catalog := schema(lines)
		catalog.Tables[1].Columns[0].Default = true
		if p = propose(t, catalog); slices.Contains(p.steps(), "delete user_avatars") {
			t.Errorf("%s: the database fills in the key, but the steps are %v", id, p.steps())
		}
	}
}

func TestFilesWithoutRelationAreAsked(t *testing.T) {
	for line, want := range map[string]string{
		"gallery_images: id*, image_file, image_gallery_id":           "gallery_images.image_file",
		"photos: id*, photo:bytes, size:integer":                      "photos.photo",
		"videos: id*, url":                                            "videos.url",
		"uploads: id*, filename":                                      "uploads.filename",
		"photos: id*, file_size:text, file_type":                      "",
		"product_images: id*, file":                                   "",
		"category_photos: id*, file":                                  "",
		"files: id*, site_id, raw_file":                               "",
		"pages: id*, file":                                            "",
		"photos: id*, image_file, product_id>products\nproducts: id*": "",
	} {
		p := propose(t, schema(users+line))
		if got := strings.Join(p.asked(), " "); got != want {
			t.Errorf("%s: asked %v", line, p.Decisions)
		}
	}
}
