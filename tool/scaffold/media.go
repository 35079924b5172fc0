package scaffold

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
	"github.com/habeas-data/habeas/tool/internal/names"
)

// isMediaOf reports whether each row describes a file of one person: the table is named for files of people, as
// profile_photos is, or for uploads. The file of another thing, such as the picture of a product, is not the person's.
func (d *draft) isMediaOf(t *table) bool {
	isUpload := names.Is(t.Name, names.Uploads) && !t.paths[0].nullable()
	isOfPeople := d.isNamedFor(t) && !d.isNamedForOthers(t.base)
	return names.Is(t.Name, names.Media) && (isOfPeople || isUpload) &&
		d.otherParent(t) == nil && d.unknownParent(t) == "" && !d.hasOthers(t) &&
		!slices.ContainsFunc(t.Columns, func(c datamap.CatalogColumn) bool { return t.hasType(c.Name) })
}

// isNamedForOthers reports whether the first word of a name may mean a company or other people than those of the
// subject's table, such as the customers in customer_photos whom a user has photographed.
func (d *draft) isNamedForOthers(name string) bool {
	first, _, _ := strings.Cut(snakeCase(name), "_")
	return slices.Contains([]string{"account", "customer"}, first) && !d.meansSubject(first)
}

// guessMedia guesses that the key of a table of files that is named for people is the key of the person, as in
// user_avatars (id, image). A wrong guess must not delete rows of another person, so a number is not enough.
func (d *draft) guessMedia() {
	for _, t := range d.tables {
		if !names.Is(t.Name, names.Media) || d.refersToPerson(t) || !d.isNamedAfterPerson(t) {
			continue
		}
		key, _ := t.Column(t.key[0])
		if key.Default || family(key.Type) == datamap.TypeBigInt {
			continue
		}
		d.add(&reference{from: t, to: d.subject, columns: t.key, referenced: d.subjectID, guessed: true})
		t.out[len(t.out)-1].role = names.Holder
		t.ask(key.Name, "It has no foreign key, but the name of the table suggests that it is the key of a row of "+
			d.subject.Name+". Is it?", "yes: delete the row of the person", "no: leave the table out")
	}
}

// isPlaceOfFile reports whether a column of a table of files holds the name or the place of the stored file.
func (t *table) isPlaceOfFile(c datamap.Column) bool {
	parts := names.Words(c.Name)
	return names.Is(t.Name, names.Media) && c.Type == datamap.TypeText && len(parts) > 0 &&
		slices.Contains([]string{"key", "path", "url", "uri", "object"}, parts[len(parts)-1]) && !t.found[c.Name].Secret
}

// holdsFile reports whether a column of a table of files holds a file, or its name or place, and nothing shows that the
// file is that of a thing, as in product_images and in files with a site_id.
func (t *table) holdsFile(c datamap.CatalogColumn) bool {
	isOf := func(name string) bool {
		return name != "" && (names.Is(name, names.Records) || names.Is(name, names.Reference))
	}
	of := ""
	if parts := names.Words(t.base); len(parts) > 0 {
		of = strings.Join(parts[:len(parts)-1], " ")
	}
	isFile := slices.ContainsFunc(names.Words(c.Name), func(word string) bool {
		return slices.Contains(ofMedia, names.Singular(word))
	})
	return names.Is(t.Name, names.Media) && isFile && !slices.Contains(ofFiles, lastWord(c.Name)) && !isOf(of) &&
		!slices.ContainsFunc(t.Columns, func(other datamap.CatalogColumn) bool {
			stem, isReference := names.Stem(other.Name)
			return isReference && isOf(stem)
		})
}

// ofMedia are words in names of columns with a file, or with its name or place.
var ofMedia = strings.Fields("file filename image photo picture video data url path uri object")
