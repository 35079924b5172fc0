package request

import "slices"

// Ground is the ground of a refusal.
type Ground string

// The grounds of a refusal, with their articles of the GDPR.
const (
	NotIdentifiable      Ground = "not_identifiable"      // Art. 11(2), 12(2)
	ManifestlyUnfounded  Ground = "manifestly_unfounded"  // Art. 12(5)
	Excessive            Ground = "excessive"             // Art. 12(5)
	ConditionsNotMet     Ground = "conditions_not_met"    // the article of the right does not apply
	OthersRights         Ground = "others_rights"         // Art. 15(4), 20(4)
	Expression           Ground = "expression"            // Art. 17(3)(a)
	LegalObligation      Ground = "legal_obligation"      // Art. 17(3)(b)
	PublicHealth         Ground = "public_health"         // Art. 17(3)(c)
	Archiving            Ground = "archiving"             // Art. 17(3)(d)
	LegalClaims          Ground = "legal_claims"          // Art. 17(3)(e), 21(1)
	CompellingGrounds    Ground = "compelling_grounds"    // Art. 21(1)
	StatutoryRestriction Ground = "statutory_restriction" // Art. 23
	NotARequest          Ground = "not_a_request"
)

// fits has the kinds of those grounds that do not fit every kind.
var fits = map[Ground][]Kind{
	OthersRights:      {Access, Portability},
	Expression:        {Erasure},
	LegalObligation:   {Erasure},
	PublicHealth:      {Erasure},
	Archiving:         {Erasure},
	LegalClaims:       {Erasure, Objection},
	CompellingGrounds: {Objection},
}

// Grounds returns the grounds on which a request of the kind can be refused.
func Grounds(kind Kind) []Ground {
	all := []Ground{
		NotIdentifiable, ManifestlyUnfounded, Excessive, ConditionsNotMet, OthersRights, Expression, LegalObligation,
		PublicHealth, Archiving, LegalClaims, CompellingGrounds, StatutoryRestriction, NotARequest,
	}
	return slices.DeleteFunc(all, func(g Ground) bool {
		kinds, limited := fits[g]
		return limited && !slices.Contains(kinds, kind)
	})
}

// HandCode says what an operator did by hand for a request that no engine can fulfil.
type HandCode string

// The codes of what an operator did.
const (
	Corrected          HandCode = "corrected"
	ObjectionRespected HandCode = "objection_respected"
	SentByPost         HandCode = "sent_by_post"
	NothingHeld        HandCode = "nothing_held" // the controller holds nothing of the person
)

// HandCodes returns all codes.
func HandCodes() []HandCode {
	return []HandCode{Corrected, ObjectionRespected, SentByPost, NothingHeld}
}
