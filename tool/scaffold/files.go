package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

func (t *table) askForFile(column string) {
	t.ask(column, "Does it hold the name of a file in an external system that an erasure has to delete?", "no",
		"yes: add ref with the name of the resolver")
}

// askForStored asks about the first column that seems to name a stored file, in rows that an erasure deletes.
func (t *table) askForStored() {
	i := slices.IndexFunc(t.columns, func(c datamap.Column) bool { return isStored(c) || t.isPlaceOfFile(c) })
	if i >= 0 && t.rowsDeleted && !slices.ContainsFunc(t.asked, func(d Decision) bool {
		return d.Column == t.columns[i].Name
	}) {
		t.askForFile(t.columns[i].Name)
	}
}

// isFile reports whether the name of the column suggests the name of a file, such as avatar. The initials in place of
// an avatar are no file.
func isFile(c datamap.CatalogColumn) bool {
	isWord := func(word string) bool {
		return slices.Contains([]string{"avatar", "photo", "picture", "image", "file", "header", "portrait"}, word)
	}
	return c.Type == datamap.TypeText && lastWord(c.Name) != "initial" && slices.ContainsFunc(names.Words(c.Name), isWord)
}

// isStored reports whether the name of the column suggests the name of a stored file, such as storage_key, or
// of the place of a file, such as latest_bucket.
func isStored(c datamap.Column) bool {
	parts := names.Words(c.Name)
	if len(parts) == 0 || c.Type != datamap.TypeText || slices.Contains(ofFiles, parts[len(parts)-1]) {
		return false
	}
	if strings.HasSuffix(flat(c.Name), "objectkey") || strings.HasPrefix(strings.ToLower(c.Name), "s3") {
		return true
	}
	return parts[len(parts)-1] == "bucket" || slices.ContainsFunc(parts, func(word string) bool {
		return slices.Contains([]string{"file", "filename", "filepath", "blob", "storage"}, word)
	})
}

// ofFiles are the last words of names of columns that only describe a file.
var ofFiles = []string{
	"type", "format", "size", "hash", "extension", "ext", "mime", "class", "status", "encoding", "provider",
}
