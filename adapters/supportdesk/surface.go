package supportdesk

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// field describes a field in the JSON of the desk that is exported.
type field struct {
	name     string // the name in the export, where {id} is a placeholder for the id of the conversation
	category domain.Category
	key      string // the name in the desk's JSON
	read     reader
}

type fields []field

// These fields are the covered surface: the data that the resolver exports. CoveredSurface and ExportSubject both use
// them.
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

// CoveredSurface returns the fields that ExportSubject exports. It also describes the data that ExportSubject does not
// export.
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
			"the data of a merged contact remains under another id: the export and the erasure need that id",
			"for a merged contact, the vendor documents status 410 in some versions of its API and 404 in others; with 410, " +
				"the export is incomplete and the erasure is refused; with 404 for the deletion and for the contact, a " +
				"merged contact cannot be distinguished from a deleted contact: the export is empty and the erasure reports " +
				"already absent",
		},
	}
}

// records returns an export record for each field of an object. It returns no record for a field that is absent or
// null. It returns an error if the value of a field has an unexpected type.
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
