package check_test

import "github.com/habeas-data/habeas/domain/datamap"

// reviewed says that the draft knew the tables.
func reviewed(tables ...string) func(*world) {
	return func(w *world) { w.reviewed = append(w.reviewed, tables...) }
}

// newerCases are tables that the draft of the data map did not know.
var newerCases = cases{
	"table-unknown": {
		both(reviewed("users"), outside("reviews", "reviewer", "stars"), outside("points", "discord_id", "color"),
			documents("raw_messages", "data")),
		[]string{
			"table-unknown points.discord_id", "table-unknown raw_messages.data", "table-unknown reviews.reviewer, stars",
		},
	},
	"table-unknown of a short text": {
		both(reviewed("users"), outside("optins", "address"), func(w *world) { w.column("optins", "address").Length = 255 }),
		[]string{"table-unknown optins.address"},
	},
	"table-unknown by a key of the person that the data map does not use": {
		both(reviewed("users"), outside("grants", "user_uuid", "status")), []string{"table-unknown grants.user_uuid"},
	},
	"table-unknown of many tables": {
		both(reviewed("users"), outside("reviews", "reviewer"), outside("points", "discord_id"),
			outside("shoutouts", "username"), outside("ballots", "voter")),
		[]string{"table-unknown reviews all"},
	},
	"table-unknown beside an accepted one": {
		both(reviewed("users"), outside("reviews", "reviewer"), outside("ballots", "voter"),
			accepted("table-unknown", "reviews", "reviewer")), []string{"table-unknown ballots.voter"},
	},

	"table-unknown not of a table that the draft knew": {
		both(reviewed("users", "reviews"), outside("reviews", "reviewer")), nil,
	},
	"table-unknown not without a draft": {outside("reviews", "reviewer"), nil},
	"table-unknown not of a table with another finding": {
		both(reviewed("users"), outside("guests", "email", "reviewer")), []string{"table-personal guests.email"},
	},
	"table-unknown not of what is about nobody": {
		both(reviewed("users"), outside("currencies", "code", "name"), outside("ports", "color", "status", "created_at"),
			func(w *world) {
				w.addTable("meters", "unit")
				w.add("meters", "reader", datamap.TypeInteger)
			}), nil,
	},
	"table-unknown not of labels and machines": {
		both(reviewed("users"), outside("cars", "maker", "model"), outside("locks", "locked_by", "name"), func(w *world) {
			w.column("cars", "maker").Length, w.column("locks", "locked_by").Length = 100, 100
		}), nil,
	},
	"table-unknown not of values of a list": {
		both(reviewed("users"), outside("ports", "winner"), func(w *world) {
			w.column("ports", "winner").Values = []string{"home", "away"}
		}), nil,
	},
}
