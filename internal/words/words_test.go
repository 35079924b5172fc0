package words_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/words"
)

func TestTheSingularOfAPlural(t *testing.T) {
	for plural, want := range map[string]string{
		"users": "user", "addresses": "address", "companies": "company", "statuses": "status", "status": "status",
		"people": "person", "boxes": "box", "batches": "batch", "news": "news", "classes": "class", "user": "user", "s": "s",
	} {
		if got := words.Singular(plural); got != want {
			t.Errorf("singular of %s is %s, want %s", plural, got, want)
		}
	}
}

func TestTheWordsOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"user_id": "user id", "userId": "user Id", "UserID": "User ID", "md5_hash": "md5 hash", "2fa": "2fa", "__": "",
		"order-lines.total": "order lines total", "Straße": "Straße",
	} {
		if got := strings.Join(words.Split(name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
