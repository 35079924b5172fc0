// Package dictionary recognizes personal data by the names of tables and columns. Its words are in one file of at most
// 300 words. They sort questions and name columns. No word alone decides that a row or a value goes, or that it stays.
package dictionary

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/internal/words"
)

//go:embed dictionary.txt
var file string

// class is a line of the file: words with one meaning.
type class struct {
	name  string
	holds string // the columns that can have this meaning: text, number, time or any
	words []string
}

var classes = parse(file)

func parse(text string) map[string]class {
	read := map[string]class{}
	for line := range strings.Lines(text) {
		head, list, _ := strings.Cut(line, ":")
		name, holds, _ := strings.Cut(head, " ")
		read[name] = class{name, holds, strings.Fields(list)}
	}
	return read
}

// Closing is a kind of column of a person's row that an application may read when it decides whether the person may
// use it.
type Closing string

// The kinds of closing columns.
const (
	Password Closing = "password"
	Session  Closing = "session" // also tokens
	State    Closing = "state"   // such as status and is_active: the account is open
	End      Closing = "end"     // such as deleted_at and is_blocked: the account is closed
	Rights   Closing = "rights"  // such as role and is_admin
)

// Entry is what the name of a column suggests.
type Entry struct {
	Category domain.Category
	Secret   bool // an export must not show it
	Closes   bool // it lets a person in, as a password or a token does
	Word     string
}

// personal are the classes of columns that mean personal data, in the order in which they are tried.
var personal = []string{
	"special", "identity", "contact", "location", "financial", "technical", "behavioral", "communication",
}

// Column returns what the name of a column of any table suggests. ok is false if the name suggests no personal data.
// The type may be empty, for a type that a data map does not know.
func Column(name string, t datamap.ColumnType) (entry Entry, ok bool) {
	parts := words.Lower(name)
	if isAside(parts, t) {
		return Entry{}, false
	}
	if _, word, ok := secret(parts, t); ok {
		return Entry{domain.CategoryTechnical, true, true, word}, true
	}
	if isText(t) && isName(parts) {
		return Entry{Category: domain.CategoryIdentity, Word: "name"}, true
	}
	for _, class := range personal {
		if word, ok := find(class, parts, t); ok {
			return Entry{Category: domain.Category(class), Word: word}, true
		}
	}
	return Entry{}, false
}

// Person returns what the name of a column in the row of a person suggests. It also knows the names that mean personal
// data only there, such as city and api_key.
func Person(name string, t datamap.ColumnType) (Entry, bool) {
	if entry, ok := Column(name, t); ok {
		return entry, true
	}
	parts := words.Lower(name)
	if isText(t) && words.IsSecret(name) && !isAside(parts, t) {
		return Entry{domain.CategoryTechnical, true, true, parts[len(parts)-1]}, true
	}
	if word, ok := find("own", parts, t); ok && !isAside(parts, t) {
		return Entry{Category: domain.CategoryIdentity, Word: word}, true
	}
	return Entry{}, false
}

// Closes returns the kind of a column of a person's row that decides whether the person may use the application. It
// is empty for other columns.
func Closes(name string, t datamap.ColumnType) Closing {
	parts := words.Lower(name)
	if closing, _, ok := secret(parts, t); ok && !isAside(parts, t) {
		return closing
	}
	if entry, ok := Person(name, t); ok && entry.Secret {
		return Session
	}
	for _, closing := range []Closing{Rights, End, State} {
		isKind := closing == End || t != datamap.TypeTime
		if _, ok := find(string(closing), parts, t); ok && isKind && !endsWith(parts, "key") {
			return closing
		}
	}
	return ""
}

// secret reports whether a name means a secret that lets a person in.
func secret(parts []string, t datamap.ColumnType) (kind Closing, word string, ok bool) {
	if !isText(t) {
		return "", "", false
	}
	for _, kind := range []Closing{Password, Session} {
		if word, ok := find(string(kind), parts, t); ok {
			return kind, word, true
		}
	}
	if i := slices.IndexFunc(parts, words.MeansSecret); i >= 0 {
		return Session, parts[i], true
	}
	return "", "", false
}

// IsDocument reports whether a column of the type can hold a document with any content.
func IsDocument(t datamap.ColumnType) bool { return t == datamap.TypeJSON || t == datamap.TypeBytes }

// People reports whether the name of a table names a group of people, such as auth_user.
func People(table string) bool { return Rank(table) > 0 }

// Rank returns how clearly the name of a table names the people who use an application: a higher number for a clearer
// name, and 0 for other tables.
func Rank(table string) int {
	people := classes["people"].words
	parts := words.Lower(Base(table))
	if len(parts) == 0 {
		return 0
	}
	i := slices.Index(people, Singular(parts[len(parts)-1]))
	if i < 0 {
		return 0
	}
	return 2*(len(people)-i) - min(1, len(parts)-1)
}

// Names reports whether the name of a column names a person, such as author_id, assigned_to and user.
func Names(column string) bool {
	stem, _ := Stem(column)
	for _, name := range []string{column, stem} {
		parts := words.Lower(name)
		if n := len(parts); n > 1 && (parts[n-1] == "by" || slices.Contains(classes["toward"].words, parts[n-1])) {
			return true
		}
	}
	parts := singular(stem)
	return len(parts) > 0 && (slices.Contains(classes["people"].words, parts[len(parts)-1]) ||
		slices.Contains(classes["role"].words, parts[len(parts)-1]))
}

// Stem returns the name of a column without a last word such as id, and whether it had one.
func Stem(column string) (stem string, isKey bool) {
	parts := words.Split(column)
	if n := len(parts); n > 0 && slices.Contains(classes["key"].words, strings.ToLower(parts[n-1])) {
		return strings.Join(parts[:n-1], "_"), true
	}
	return column, false
}

// Same reports whether the stem of a column names a table: the words of the stem are the last words of the table's
// name, as in project and lm_Projects.
func Same(stem, table string) bool {
	one, other := singular(stem), singular(Base(table))
	return len(one) > 0 && len(one) <= len(other) && slices.Equal(one, other[len(other)-len(one):])
}

func singular(name string) []string {
	parts := words.Lower(name)
	if n := len(parts); n > 0 {
		parts[n-1] = Singular(parts[n-1])
	}
	return parts
}

// Base returns the name of a table without its schema.
func Base(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// Singular returns a word without the ending of its plural.
func Singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us") && len(word) > 3:
		return word[:len(word)-1]
	default:
		return word
	}
}

// Asks returns the word of the name of a table, or of the names of its columns, for which a person must be asked about
// its rows: it means bookkeeping, a group, or a key of another system. It returns "" if there is none.
func Asks(table string, columns ...string) string {
	for _, class := range []string{"book", "group"} {
		if word, ok := find(class, words.Lower(Base(table)), ""); ok {
			return word
		}
	}
	for _, column := range columns {
		parts := words.Lower(column)
		if word, ok := find("elsewhere", parts, ""); ok && endsWith(parts, "key") {
			return word
		}
	}
	return ""
}

// IsBook reports whether the name of a table means records of bookkeeping.
func IsBook(table string) bool {
	_, ok := find("book", words.Lower(Base(table)), "")
	return ok
}

// IsNeutral reports whether a value reveals nothing about a person, such as unknown. A lower rank is better.
func IsNeutral(value string) (rank int, ok bool) {
	rank = slices.Index(classes["neutral"].words, strings.ToLower(value))
	return rank, rank >= 0
}

// find returns the word of the class that is among the parts of a name, or that a part is the plural of. The parts may
// also be written together, as in firstname.
func find(name string, parts []string, t datamap.ColumnType) (word string, ok bool) {
	class := classes[name]
	if !isOfType(class.holds, t) {
		return "", false
	}
	for _, part := range parts {
		if slices.Contains(class.words, part) {
			return part, true
		}
		if slices.Contains(class.words, Singular(part)) {
			return Singular(part), true
		}
	}
	joined := strings.Join(parts, "")
	return joined, len(parts) > 1 && slices.Contains(class.words, joined)
}

func isOfType(holds string, t datamap.ColumnType) bool {
	switch holds {
	case "text":
		return isText(t)
	case "number":
		return isText(t) || isNumber(t)
	case "time":
		return t == datamap.TypeTime
	default:
		return true
	}
}

func isText(t datamap.ColumnType) bool {
	return !isNumber(t) && t != datamap.TypeTime && t != datamap.TypeBoolean
}

func isNumber(t datamap.ColumnType) bool {
	return slices.Contains([]datamap.ColumnType{
		datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt, datamap.TypeNumber,
	}, t)
}

// isName reports whether the parts are those of the name of a person, such as first_name.
func isName(parts []string) bool {
	n := len(parts)
	return n > 1 && parts[n-1] == "name" &&
		(slices.Contains(classes["before-name"].words, parts[n-2]) || Names(parts[n-2]))
}

// isAside reports whether a name describes personal data and does not mean it, such as email_verified and phone_type.
func isAside(parts []string, t datamap.ColumnType) bool {
	return len(parts) == 0 || endsWith(parts, "aside") || endsWith(parts, "key") || t == datamap.TypeBoolean
}

func endsWith(parts []string, class string) bool {
	return len(parts) > 1 && slices.Contains(classes[class].words, parts[len(parts)-1])
}
