package domain

import (
	"slices"
)

// Category is the kind of personal data in a column, such as contact data or financial data.
type Category string

// The categories.
const (
	CategoryContact       Category = "contact"
	CategoryIdentity      Category = "identity"
	CategoryFinancial     Category = "financial"
	CategoryBehavioral    Category = "behavioral"
	CategoryTechnical     Category = "technical"
	CategoryLocation      Category = "location"
	CategoryCommunication Category = "communication"
	CategorySpecial       Category = "special" // Art. 9(1) GDPR
)

// Valid reports whether c is one of the categories.
func (c Category) Valid() bool { return slices.Contains(Categories(), c) }

// Categories returns the categories.
func Categories() []Category {
	return []Category{
		CategoryContact, CategoryIdentity, CategoryFinancial, CategoryBehavioral,
		CategoryTechnical, CategoryLocation, CategoryCommunication, CategorySpecial,
	}
}

// LegalBasis is the legal basis on which a value is processed.
type LegalBasis string

// The six legal bases of Art. 6(1)(a) to (f) GDPR.
const (
	BasisConsent             LegalBasis = "consent"
	BasisContract            LegalBasis = "contract"
	BasisLegalObligation     LegalBasis = "legal_obligation"
	BasisVitalInterests      LegalBasis = "vital_interests"
	BasisPublicTask          LegalBasis = "public_task"
	BasisLegitimateInterests LegalBasis = "legitimate_interests"
)

// Valid reports whether b is one of the six legal bases.
func (b LegalBasis) Valid() bool { return slices.Contains(LegalBases(), b) }

// LegalBases returns the six legal bases.
func LegalBases() []LegalBasis {
	return []LegalBasis{
		BasisConsent, BasisContract, BasisLegalObligation,
		BasisVitalInterests, BasisPublicTask, BasisLegitimateInterests,
	}
}
