package ports

// CascadeCounter is a Session that counts the rows which the database deletes or changes besides the steps of an
// erasure. The sessions of the stores of this module implement CascadeCounter.
type CascadeCounter interface {
	Session

	// Cascaded returns the number of rows that the database has deleted or changed besides the steps in the last call of
	// SubjectStore.Apply, by table. The result has a row for each table with such rows:
	//
	//   - A foreign key (ON DELETE CASCADE) or a trigger has deleted rows of a table that is not in the data map.
	//   - A foreign key (ON DELETE SET NULL or SET DEFAULT) has set its columns in rows of any table.
	//
	// Such rows in a table of the data map, which no step deletes, make Apply fail with domain.ErrConflict, and the error
	// names the table and their number. Apply also fails if a foreign key would set a retained column.
	Cascaded() map[string]int64
}

// Cascaded returns the number of rows that the database has deleted or changed besides the steps of an erasure. See
// CascadeCounter. It returns nil if the session does not implement CascadeCounter.
func Cascaded(s Session) map[string]int64 {
	if counter, ok := s.(CascadeCounter); ok {
		return counter.Cascaded()
	}
	return nil
}
