package domain

// MigrationState is the state of a migration of the tables of habeas.
type MigrationState string

// The states of a migration.
const (
	MigrationApplied MigrationState = "applied"
	MigrationPending MigrationState = "pending"
	// MigrationUnrecorded: tables of habeas exist without a record of migrations, for example because the application runs
	// the migrations with its own tool.
	MigrationUnrecorded MigrationState = "unrecorded"
	// MigrationNewer: a newer version of habeas has applied the migration, and this version can work with its tables.
	MigrationNewer MigrationState = "newer"
)

// Migration is a step that creates or updates the tables of habeas.
type Migration struct {
	Name  string         `json:"name"`
	State MigrationState `json:"state"`
}
