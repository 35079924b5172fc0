package names_test

import (
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

func TestTheValueOfAPersonWhoDidSomething(t *testing.T) {
	for column, want := range map[string]string{
		"invited_by_email": "invited by", "requestedByName": "requested by", "approver_name": "approver",
		"last_edited_by_user_email": "last edited by", "invited_by": "", "sorted_by_name": "", "email": "",
		"observer_name": "", "by_email": "", "inviter": "",
	} {
		if got, ok := names.Doer(column); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t", column, got, ok)
		}
	}
	for pair, want := range map[[2]string]bool{
		{"invited by", "inviter"}: true, {"created by", "creator"}: true, {"approved by", "approved by"}: true,
		{"invited by", "approver"}: false, {"invited by", "user"}: false, {"user", "author"}: false,
	} {
		if names.SameDoer(pair[0], pair[1]) != want {
			t.Errorf("%v have the same verb: %t", pair, !want)
		}
	}
}

func TestTheTwoPeopleOfAGrant(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"grantor_id", "grantee_id"}: true, {"granterUuid", "granteeUuid"}: true, {"inviter_id", "invitee_id"}: true,
		{"grantor_id", "invitee_id"}: false, {"granted_by", "grantee_id"}: false, {"owner_id", "user_id"}: false,
	} {
		if names.Gives(pair[0], pair[1]) != want {
			t.Errorf("%v are of a grant: %t", pair, !want)
		}
	}
}

func TestTheTwoEndsOfAMessage(t *testing.T) {
	for column, want := range map[string][2]bool{
		"sent_from": {true, false}, "from": {true, false}, "sender": {true, false}, "fromAddress": {true, false},
		"sender_email": {true, false}, "mail_from": {true, false}, "sent_to": {false, true}, "recipients": {false, true},
		"to_email": {false, true}, "receiver_name": {false, true}, "valid_from": {}, "belongs_to": {}, "from_state": {},
		"to_status": {}, "assigned_to": {}, "email": {},
	} {
		if got := [2]bool{names.IsFrom(column), names.IsTo(column)}; got != want {
			t.Errorf("%s: %v", column, got)
		}
	}
}

func TestAWayToHashIsNoSecret(t *testing.T) {
	for column, want := range map[string]bool{
		"hash_func": false, "hash_function": false, "password_algorithm": false, "password_algo": false, "hash_type": false,
		"token_version": false, "password_format": false, "password_encoding": false, "key_derivation_alg": false,
		"hash_scheme": false, "password_rounds": false, "password_iterations": false,
		"password_hash": true, "hash": true, "token": true,
	} {
		if got, _ := names.Find("users", column, datamap.TypeText); got.Secret != want {
			t.Errorf("%s is a secret: %t", column, got.Secret)
		}
	}
}
