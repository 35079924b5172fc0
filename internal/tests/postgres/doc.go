// Package postgres gives tests a real PostgreSQL: a private server that is thrown away afterwards, or the one that
// HABEAS_TEST_DATABASE_URL names.
//
// A test asks for a database and gets a URL; everything else happens by itself:
//
//	func TestSomething(t *testing.T) {
//		db, err := sql.Open("pgx", postgres.NewDatabase(t))
//		...
//	}
//
// The first NewDatabase of a test process starts the server, so a run that selects no PostgreSQL test starts none. A
// server that can't be had fails the test: nothing here ever skips. TestMain may call [Main] to stop the server in an
// orderly way, but even a test process that is killed leaves neither a server nor a directory behind.
package postgres
