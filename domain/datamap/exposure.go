package datamap

// Exposure is a way in which another role of the database, or code that habeas did not create, can change the tables of
// habeas or what happens at their statements.
type Exposure struct {
	Kind ExposureKind `json:"kind"`
	// Tables are names of tables of habeas, at least one, in alphabetical order. They have a schema if the connection does
	// not find them without one.
	Tables []string `json:"tables"`
	By     string   `json:"by"` // the role, or PUBLIC for all roles; for ExposureTrigger, the trigger or the rule
}

// ExposureKind is the kind of an Exposure.
type ExposureKind string

// The kinds of exposures. Only ExposureTrigger exists on a database without roles. A superuser is none, because no
// table can be protected from it.
const (
	ExposureOwned   ExposureKind = "owned"   // the role of the connection owns the tables, or is a member of their owner
	ExposureOwner   ExposureKind = "owner"   // another role owns these tables than the rest of the same data map
	ExposureGranted ExposureKind = "granted" // a role has the privilege TRIGGER, TRUNCATE or REFERENCES
	ExposureCreate  ExposureKind = "create"  // a role that the connection does not trust can create objects in the schema
	ExposureTrigger ExposureKind = "trigger" // a trigger or a rule that habeas did not create
)
