package migrate

// dialect builds the SQL texts that find, create and update the tables of habeas.
type dialect interface {
	// folder returns the name of the folder with the migrations.
	folder() string

	// ownTables returns the statement that finds the tables of habeas for the data map with the given name in a schema.
	// If schema is "", the statement finds the tables of habeas in all schemas of the search path, in the order of that
	// path. The columns of the result are:
	//
	//   - the schema and the table
	//   - the names of the columns, as a JSON array
	//   - the privileges that the role has on the table or on one of its columns, separated by commas
	//   - whether the database can only be read
	ownTables(schema, name string) string

	// ownObjects returns the statement that lists the columns of the tables of habeas, in the form table.column, and the
	// names of their indexes and triggers.
	ownObjects(schema, name string) string

	// otherSets returns the statement that lists the schemas outside the given one that have tables of habeas for the
	// data map with the given name. It returns "" if the database has no schemas.
	otherSets(schema, name string) string

	// erasedFunction returns the statement that finds the function Tables.IsErased in the schema. The columns of the
	// result are whether the function reads the table of the same schema, and whether the role may call it. It returns ""
	// if the database has no such function.
	erasedFunction(schema, name string) string

	// installations returns the statement that lists the tables called habeas_…installation in a schema, or in the
	// search path of the connection if schema is "".
	installations(schema string) string

	// addChecksum returns the statements that add the column checksum to the table of migrations that an earlier version
	// created. The parameter create is the statement that creates the table of this version.
	addChecksum(prefix, create string) []string

	canMigrate(schema string) bool

	// beforeMigration returns the first statements of the transaction that applies migrations.
	beforeMigration() []string

	// lockMigrations returns the statements that follow beforeMigration if there are migrations to apply. They take a
	// lock, so that only one process applies migrations at a time.
	lockMigrations() []string

	// prepareMigration returns the statements that follow lockMigrations, immediately before the migrations. They create
	// the schema if it does not exist, and make names without a schema refer to this schema.
	prepareMigration(schema string) []string
}
