package supportdesk

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// field is a field of the desk's JSON that is exported.
type field struct {
	name     string // its name in the export; {id} is the conversation's id
	category domain.Category
	key      string // its name in the desk's JSON
	read     reader
}

type fields []field

// The covered surface. CoveredSurface says what is here, and ExportSubject walks it: there is no other list.
var (
	contactFields = fields{
		{"contact.email", domain.CategoryContact, "email", readScalar},
		{"contact.name", domain.CategoryIdentity, "name", readScalar},
		{"contact.phone", domain.CategoryContact, "phone", readScalar},
	}
	conversationFields = fields{
		{"conversation.{id}.created_at", domain.CategoryBehavioral, "created_at", readTime},
		{"conversation.{id}.updated_at", domain.CategoryBehavioral, "updated_at", readTime},
		{"conversation.{id}.state", domain.CategoryBehavioral, "state", readScalar},
	}
)

// CoveredSurface says what ExportSubject exports and what it leaves out.
func (r *Resolver) CoveredSurface() domain.CoveredSurface {
	var covered []domain.CoveredField
	for _, f := range slices.Concat(contactFields, conversationFields) {
		covered = append(covered, domain.CoveredField{Field: f.name, Category: f.category})
	}
	return domain.CoveredSurface{
		Fields: covered,
		Exclusions: []string{
			"conversation parts: messages, notes and attachments, the first message and its subject included",
			"custom attributes of contacts and conversations",
			"other attributes of contacts, such as location, devices, social profiles, tags, notes and companies",
		},
		Notes: []string{
			"the vendor can recover a deleted contact for 7 days",
			"the vendor keeps satisfaction ratings after a contact is deleted",
			"a contact that was merged lives on under another id: both the export and the erasure need that id",
			"for a contact that was merged, the vendor documents 410 for some versions of its API and 404 for others; with " +
				"410 the export is incomplete and the erasure is refused; with 404 for the deletion and for the contact it " +
				"cannot be told from a contact that was deleted: the export is empty and the erasure says already absent",
		},
	}
}

// records picks the fields out of an object. One that is absent or null has no record. The error is that of a value
// which the field cannot have.
func (all fields) records(row, id string, from object) ([]domain.ExportRecord, error) {
	var records []domain.ExportRecord
	for _, f := range all {
		value, err := f.read(from[f.key])
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		records = append(records, domain.ExportRecord{
			Field:    strings.Replace(f.name, "{id}", id, 1),
			Row:      row,
			Category: f.category,
			Value:    value,
		})
	}
	return records, nil
}
