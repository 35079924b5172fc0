package check_test

import (
	"strings"
	"testing"

	"github.com/habeas-data/habeas/domain/datamap"
)

// constrain adds a CHECK constraint to "users".
func constrain(text string, columns ...string) func(*world) {
	return func(w *world) {
		check := datamap.CatalogCheck{Name: "good", Columns: columns, Text: text}
		w.live("users").Checks = append(w.live("users").Checks, check)
	}
}

// unique adds the given constraint to "users". It also adds the column "code", which an erasure overwrites with the
// given constant.
func unique(constraint datamap.CatalogUnique, constant string) func(*world) {
	return func(w *world) {
		w.addToBoth("users", datamap.Column{
			Name: "code", Type: datamap.TypeText, Surrogate: constant, Personal: personal(anonymize),
		})
		constraint.Name = "one"
		w.live("users").Uniques = append(w.live("users").Uniques, constraint)
	}
}

func of(columns ...string) datamap.CatalogUnique { return datamap.CatalogUnique{Columns: columns} }

// nullable returns a text column that an erasure overwrites unless it is NULL.
func nullable(name string) datamap.Column {
	return datamap.Column{Name: name, Type: datamap.TypeText, Personal: personal(anonymize)}
}

// pair adds two such columns to "users", and a constraint on them. The second column has the surrogate.
func pair(text, surrogate string) func(*world) {
	return func(w *world) {
		last := nullable("last")
		last.Surrogate = surrogate
		w.addToBoth("users", nullable("first"), last)
		constrain(text, "first", "last")(w)
	}
}

// country adds a column to "users" with a foreign key to the table "countries".
func country(column datamap.Column) func(*world) {
	return func(w *world) {
		column.Name = "origin"
		w.addToBoth("users", column)
		w.addTable("countries")
		w.live("users").ForeignKeys = []datamap.CatalogForeignKey{foreignKey("origin", "countries", datamap.ActionNone)}
	}
}

var constraintCases = cases{
	"check-violated": {constrain("CHECK ((email ~~ '%@%'::text))", "email"), []string{"check-violated users.email good"}},
	"check-violated by NULL": {
		constrain("CHECK ((nick IS NOT NULL))", "nick"), []string{"check-violated users.nick good"},
	},
	"check-violated by two columns": {
		constrain("CHECK (nick IS NOT NULL OR email = '')", "nick", "email"),
		[]string{"check-violated users.email, nick good"},
	},
	"check-violated of a domain": {
		constrain("CHECK ((VALUE ~ '@'::text))", "email"), []string{"check-violated users.email good"},
	},
	"check-violated of a number": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "age", Type: datamap.TypeInteger, Personal: personal(anonymize)})
			constrain("CHECK ((age >= 18))", "age")(w)
		}, []string{"check-violated users.age good"},
	},
	"check-violated at the end of a duty": {
		func(w *world) {
			w.live("orders").Checks = []datamap.CatalogCheck{{Columns: []string{"address"}, Text: "length(address) < 30"}}
		}, []string{"check-violated orders.address checked"},
	},
	"check-violated not if it holds":          {constrain("CHECK ((length(email) <= 40))", "email"), nil},
	"check-violated not if it is not touched": {constrain("CHECK ((theme = 'dark'::text))", "theme"), nil},
	"check-violated not if the row goes": {
		func(w *world) {
			w.live("sessions").Checks = []datamap.CatalogCheck{{Columns: []string{"agent"}, Text: "agent = 'x'"}}
		}, nil,
	},
	"check-violated not by NULL": {constrain("CHECK ((length(nick) > 3))", "nick"), nil},
	"check-undecided by a column that is never NULL": {
		func(w *world) {
			w.column("users", "theme").Nullable = false
			constrain("CHECK ((nick IS NOT NULL OR theme IS NOT NULL))", "nick", "theme")(w)
		}, []string{"check-undecided users.nick good"},
	},
	"check-violated not by columns that are NULL together": {pair("CHECK (((first IS NULL) = (last IS NULL)))", ""), nil},
	"check-violated not by one of two columns": {
		pair("CHECK (((first IS NOT NULL) OR (last IS NOT NULL)))", ""), nil,
	},
	"check-violated not by exactly one of two columns": {pair("CHECK ((num_nonnulls(first, last) = 1))", ""), nil},
	"check-violated not by NULL beside a column that stays": {
		func(w *world) {
			w.addToBoth("users", nullable("first"))
			constrain("CHECK (((first IS NULL) OR (theme = 'dark'::text)))", "first", "theme")(w)
		}, nil,
	},
	"check-violated not by a length of columns that are NULL together": {
		pair("CHECK (((first IS NULL) = (last IS NULL)) AND ((first IS NULL) OR (length(last) > 3)))", ""), nil,
	},
	"check-violated beside NULL": {
		pair("CHECK (((first IS NOT NULL) OR (last IS NULL) OR (length(last) > 3)))", "x"),
		[]string{"check-violated users.first, last good"},
	},
	"check-violated by a column that is always written": {
		func(w *world) {
			closed := nullable("closed")
			closed.Surrogate, closed.Always = "yes", true
			w.addToBoth("users", closed, nullable("last"))
			constrain("CHECK (((closed IS NULL) OR (last IS NULL)))", "closed", "last")(w)
		}, []string{"check-violated users.closed, last good"},
	},
	"check-undecided": {constrain("CHECK (is_email(email))", "email"), []string{"check-undecided users.email good"}},
	"check-undecided by another column": {
		constrain("CHECK ((nick IS NOT NULL OR theme IS NOT NULL))", "nick", "theme"),
		[]string{"check-undecided users.nick good"},
	},
	"check-undecided by digits": {
		constrain("CHECK ((email ~ '^anon-[0-9]'::text))", "email"), []string{"check-undecided users.email good"},
	},
	"check-undecided not if it fails in any case": {
		constrain("CHECK ((email ~ '@'::text AND is_email(email)))", "email"), []string{"check-violated users.email good"},
	},
	"check-undecided not if it holds in any case": {constrain("CHECK (email <> '' OR is_email(email))", "email"), nil},

	"unique-violated": {unique(of("code"), "none"), []string{"unique-violated users.code one"}},
	"unique-violated by a type": {
		func(w *world) {
			w.addToBoth("users", datamap.Column{Name: "number", Type: datamap.TypeInteger, Personal: personal(anonymize)})
			w.live("users").Uniques = []datamap.CatalogUnique{of("number")}
		}, []string{"unique-violated users.number"},
	},
	"unique-violated of several": {unique(of("theme", "code"), "none"), []string{"unique-violated users.code one"}},
	"unique-violated of a primary key": {
		func(w *world) {
			unique(of("theme"), "none")(w)
			w.live("users").PrimaryKey = []string{"code"}
			w.live("users").Uniques = []datamap.CatalogUnique{of("id")}
		}, []string{"unique-violated users.code"},
	},
	"unique-violated at the end of a duty": {
		func(w *world) {
			w.field("orders", "address").Surrogate = "none"
			w.live("orders").Uniques = []datamap.CatalogUnique{of("address")}
		}, []string{"unique-violated orders.address"},
	},
	"unique-violated while a duty keeps the other column": {
		func(w *world) {
			w.addToBoth("orders", datamap.Column{
				Name: "code", Type: datamap.TypeText, Surrogate: "none", Personal: personal(anonymize),
			})
			w.live("orders").Uniques = []datamap.CatalogUnique{of("address", "code")}
		}, []string{"unique-violated orders.code"},
	},
	"unique-violated by NULL": {
		func(w *world) {
			w.live("users").Uniques = []datamap.CatalogUnique{{Columns: []string{"nick"}, NullsEqual: true}}
		},
		[]string{"unique-violated users.nick"},
	},
	"unique-violated not with a placeholder":   {unique(of("code"), "x{}"), nil},
	"unique-violated not by digits":            {unique(of("email"), "none"), nil},
	"unique-violated not by NULL":              {unique(of("nick", "code"), "none"), nil},
	"unique-violated not with another one":     {unique(of("email", "code"), "none"), nil},
	"unique-violated not with a key":           {unique(of("id", "code"), "none"), nil},
	"unique-violated not if it is not touched": {unique(of("theme"), "none"), nil},
	"unique-undecided if it is partial": {
		unique(datamap.CatalogUnique{Columns: []string{"code"}, Partial: true}, "none"),
		[]string{"unique-undecided users.code one"},
	},
	"unique-undecided of expressions": {
		unique(datamap.CatalogUnique{Columns: []string{"code", "theme"}, Expressions: true}, "none"),
		[]string{"unique-undecided users.code one"},
	},
	"unique-violated in expressions": {
		unique(datamap.CatalogUnique{Columns: []string{"code"}, Expressions: true}, "none"),
		[]string{"unique-violated users.code one"},
	},
	"unique-undecided of an exclusion": {
		unique(datamap.CatalogUnique{Columns: []string{"email"}, Exclusion: true}, "none"),
		[]string{"unique-undecided users.email one"},
	},
	"unique-undecided not with a placeholder": {
		unique(datamap.CatalogUnique{Columns: []string{"code"}, Expressions: true}, "x{}"), nil,
	},
	"unique-undecided not of NULL in exclusion": {
		unique(datamap.CatalogUnique{Columns: []string{"nick"}, Exclusion: true}, "none"), nil,
	},

	"reference-overwritten": {
		country(datamap.Column{Type: datamap.TypeText, Personal: personal(anonymize)}),
		[]string{"reference-overwritten users.origin origin_fkey"},
	},
	"reference-overwritten by nothing": {
		country(datamap.Column{Type: datamap.TypeText, Surrogate: "''", Personal: personal(anonymize)}),
		[]string{"reference-overwritten users.origin origin_fkey"},
	},
	"reference-overwritten not by NULL": {
		country(datamap.Column{Type: datamap.TypeText, Personal: personal(null)}), nil,
	},
	"reference-overwritten not if it is kept": {country(datamap.Column{Type: datamap.TypeText}), nil},
	"reference-undecided": {
		country(datamap.Column{Type: datamap.TypeText, Surrogate: "XX", Personal: personal(anonymize)}),
		[]string{"reference-undecided users.origin origin_fkey"},
	},
	"reference-undecided not with a placeholder": {
		country(datamap.Column{Type: datamap.TypeText, Surrogate: "X{}", Personal: personal(anonymize)}),
		[]string{"reference-overwritten users.origin origin_fkey"},
	},
	"referenced-overwritten": {
		func(w *world) {
			w.addTable("mails").ForeignKeys = []datamap.CatalogForeignKey{
				{Name: "to_fkey", Columns: []string{"id"}, References: "users", Referenced: []string{"email"}},
			}
		}, []string{"referenced-overwritten users.email to_fkey"},
	},
	"referenced-overwritten not if the reference follows": {
		func(w *world) {
			w.addTable("mails").ForeignKeys = []datamap.CatalogForeignKey{
				{Name: "to_fkey", Columns: []string{"id"}, References: "users", Referenced: []string{"email"}, Follows: true},
			}
		}, []string{"update-cascades users.email to_fkey"},
	},
	"referenced-overwritten by NULL although the reference follows": {
		func(w *world) {
			w.addTable("mails").ForeignKeys = []datamap.CatalogForeignKey{
				{Name: "to_fkey", Columns: []string{"id"}, References: "users", Referenced: []string{"nick"}, Follows: true},
			}
		}, []string{"referenced-overwritten users.nick to_fkey"},
	},
	"referenced-overwritten not by NULL if the reference follows and accepts it": {
		mailed("nick", func(f *datamap.CatalogForeignKey) { f.Follows = true }),
		[]string{"update-cascades users.nick to_fkey"},
	},
	"referenced-overwritten not if the database clears the reference": {
		mailed("email", func(f *datamap.CatalogForeignKey) { f.ClearsOnUpdate = true }),
		[]string{"update-cascades users.email to_fkey"},
	},
	"referenced-overwritten if the database cannot clear the reference": {
		func(w *world) {
			mailed("email", func(f *datamap.CatalogForeignKey) { f.ClearsOnUpdate = true })(w)
			w.column("mails", "receiver").Nullable = false
		}, []string{"referenced-overwritten users.email to_fkey"},
	},
	"referenced-overwritten if the database may clear a part of the reference only": {
		mailed("nick", func(f *datamap.CatalogForeignKey) {
			f.Columns, f.Referenced = append(f.Columns, "id"), append(f.Referenced, "id")
			f.Follows, f.Full = true, true
		}), []string{"referenced-overwritten users.nick to_fkey"},
	},
	"update-cascades not of another column": {mailed("id", func(f *datamap.CatalogForeignKey) { f.Follows = true }), nil},
	"referenced-overwritten not if the rows go": {
		func(w *world) {
			w.deleteUsers()
			w.live("sessions").ForeignKeys = append(w.live("sessions").ForeignKeys, datamap.CatalogForeignKey{
				Columns: []string{"agent"}, References: "users", Referenced: []string{"email"}, OnDelete: datamap.ActionSetNull,
			})
			w.live("sessions").Indexes = append(w.live("sessions").Indexes, datamap.CatalogIndex{Columns: []string{"agent"}})
		}, []string{"path-missing sessions.agent"},
	},
}

// mailed adds a table outside the data map whose column receiver refers to a column of users.
func mailed(to string, change func(*datamap.CatalogForeignKey)) func(*world) {
	return func(w *world) {
		foreign := datamap.CatalogForeignKey{
			Name: "to_fkey", Columns: []string{"receiver"}, References: "users", Referenced: []string{to},
		}
		change(&foreign)
		w.addTable("mails", "receiver").ForeignKeys = []datamap.CatalogForeignKey{foreign}
	}
}

// The remedy of a finding must suggest NULL only for a column that accepts NULL.
func TestARemedySaysNullOnlyToColumnsThatTakeIt(t *testing.T) {
	for code, change := range map[string]func(*world){
		"check-violated":  constrain("CHECK ((email ~~ '%@%'::text))", "email"),
		"unique-violated": unique(of("code"), "gone"),
		"surrogate-type": func(w *world) {
			w.column("users", "email").Type, w.column("users", "email").Declared = datamap.TypeUUID, "uuid"
		},
		"enum-refuses": func(w *world) { w.column("users", "email").Values = []string{"none"} },
		"reference-overwritten": country(datamap.Column{
			Type: datamap.TypeText, Surrogate: "X{}", Personal: personal(anonymize),
		}),
	} {
		for _, nullable := range []bool{true, false} {
			w := newWorld()
			change(w)
			for i := range w.live("users").Columns {
				if column := &w.live("users").Columns[i]; column.Name != "nick" {
					column.Nullable = nullable
				}
			}
			seen := false
			for _, f := range w.findings(t) {
				if seen = seen || f.Code == code; f.Code == code && strings.Contains(f.Remedy, "erasure:null") != nullable {
					t.Errorf("%s, nullable %v: %s", code, nullable, f.Remedy)
				}
			}
			if !seen {
				t.Errorf("%s is not found", code)
			}
		}
	}
}
