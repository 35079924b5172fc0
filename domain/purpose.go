package domain

import (
	"slices"
)

// Purpose is a purpose of processing that the application declares. If purposes are declared, a subject cannot grant
// consent for any other purpose or place a restriction for it. A subject can always withdraw a consent in force and
// lift a restriction in force, also if the application no longer declares the purpose.
type Purpose struct {
	// Name is the purpose as clients send it. It has 1 to MaxTextLength characters, and is compared exactly.
	Name string
}

// Purposes are the purposes that an application has declared, in the order of the declaration. The zero value declares
// no purposes, and accepts every purpose. Purposes is immutable and safe for concurrent use.
type Purposes struct {
	names []string
	known map[string]bool
}

// NewPurposes declares the purposes. Called without arguments, it returns the zero value. NewPurposes returns
// ErrConfiguration if CheckPurpose refuses a name, or if a name occurs twice.
func NewPurposes(purposes ...Purpose) (Purposes, error) {
	if len(purposes) == 0 {
		return Purposes{}, nil
	}
	declared := Purposes{known: map[string]bool{}}
	for _, purpose := range purposes {
		switch faults := CheckPurpose(purpose.Name); {
		case len(faults) > 0:
			return Purposes{}, Misconfigured("purposes", "the name of a purpose "+faults[0].Message)
		case declared.known[purpose.Name]:
			return Purposes{}, Misconfigured("purposes", "a purpose is declared twice")
		}
		declared.names = append(declared.names, purpose.Name)
		declared.known[purpose.Name] = true
	}
	return declared, nil
}

// Declared reports whether the application has declared any purpose.
func (p Purposes) Declared() bool { return len(p.names) > 0 }

// Names returns a copy of the declared names, in the order of the declaration.
func (p Purposes) Names() []string { return slices.Clone(p.names) }

// Check returns the errors of CheckPurpose for the purpose, or nil. If purposes are declared and the purpose is not one
// of them, Check returns an error with the code FieldUnknown.
func (p Purposes) Check(purpose string) []FieldError {
	if faults := CheckPurpose(purpose); len(faults) > 0 {
		return faults
	}
	if p.Declared() && !p.known[purpose] {
		return []FieldError{{Field: "purpose", Code: FieldUnknown, Message: "must be a declared purpose"}}
	}
	return nil
}

// ConsentPayload returns the payload of the audit event of a consent decision. The payload always has the source. If
// the purpose is declared, the payload also has the purpose and the policy version.
func (p Purposes) ConsentPayload(decision ConsentDecision) Payload {
	payload := Payload{"source": decision.Source}
	if p.known[decision.Purpose] {
		payload["purpose"], payload["policy_version"] = decision.Purpose, decision.PolicyVersion
	}
	return payload
}
