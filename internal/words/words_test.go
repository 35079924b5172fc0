package words_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/internal/words"
)

func TestTheWordsOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"user_id": "user id", "userId": "user Id", "UserID": "User ID", "md5_hash": "md5 hash", "2fa": "2fa", "__": "",
		"order-lines.total": "order lines total", "Straße": "Straße", "APIKey2": "API Key2", "user2Id": "user2 Id",
	} {
		if got := strings.Join(words.Split(name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestTheWordsOfANameInLowerCase(t *testing.T) {
	for name, want := range map[string]string{
		"user_id": "user id", "apiKey": "api key", "APIKey": "api key", "API": "api", "md5_hash": "md hash", "2fa": "fa",
		"token2Secret": "token secret", "a1b": "a b", "_": "", "42": "", "Straße": "straße",
	} {
		if got := strings.Join(words.Lower(name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestWordsThatMeanASecret(t *testing.T) {
	for word, want := range map[string][2]bool{
		"password": {true, false}, "tokenized": {true, false}, "totps": {true, false},
		"apikey": {false, true}, "hashes": {false, true}, "hashtag": {false, false}, "option": {false, false},
	} {
		if got := [2]bool{words.MeansSecret(word), words.MayMeanSecret(word)}; got != want {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
	for name, want := range map[string]bool{
		"foreignKey": true, "reset_token_2": true, "key_board": true, "keyboard": false,
	} {
		if words.IsSecret(name) != want {
			t.Errorf("%s sounds secret: %t", name, !want)
		}
	}
}
