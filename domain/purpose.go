package domain

import "slices"

// Purpose is a purpose of processing that the application declares, so that decisions about any other one are refused.
type Purpose struct {
	// Name is the purpose as clients send it: 1 to MaxTextLength characters, compared exactly.
	Name string
}

// Purposes are the purposes that an application has declared, in its order. The zero value declares none, and then
// every purpose will do. It is immutable and safe for concurrent use.
//
// A purpose must stay declared for as long as consents for it may be in force: a withdrawal for any other purpose is
// refused, too.
type Purposes struct {
	names []string
	known map[string]bool
}

// NewPurposes declares purposes. A name that CheckPurpose refuses, or that is given twice, is ErrConfiguration. Without
// any purpose the result is the zero value.
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

// Declared reports whether any purpose is declared, so that all others are unknown.
func (p Purposes) Declared() bool { return len(p.names) > 0 }

// Names returns the declared purposes in their order, as a copy.
func (p Purposes) Names() []string { return slices.Clone(p.names) }

// Check returns what is wrong with a purpose, or nothing: what CheckPurpose finds, or, where purposes are declared and
// it is none of them, the code FieldUnknown.
func (p Purposes) Check(purpose string) []FieldError {
	if faults := CheckPurpose(purpose); len(faults) > 0 {
		return faults
	}
	if p.Declared() && !p.known[purpose] {
		return []FieldError{{Field: "purpose", Code: FieldUnknown, Message: "must be a purpose that is declared"}}
	}
	return nil
}

// ConsentPayload is what an audit event says of a consent decision: its source and, of a declared purpose, the purpose
// and the policy version, too.
func (p Purposes) ConsentPayload(decision ConsentDecision) Payload {
	payload := Payload{"source": decision.Source}
	if p.known[decision.Purpose] {
		payload["purpose"], payload["policy_version"] = decision.Purpose, decision.PolicyVersion
	}
	return payload
}
