// Package postgres provides a PostgreSQL server for tests. By default, it starts a private server and removes it
// afterwards. If HABEAS_TEST_DATABASE_URL is set, it uses that server.
//
//	func TestSomething(t *testing.T) {
//		db, err := sql.Open("pgx", postgres.NewDatabase(t))
//		...
//	}
//
// The first [NewDatabase] of a test process starts the server. A run without PostgreSQL tests therefore starts no
// server. If no server can be started, the test fails. It is not skipped. TestMain may call [Main] to stop the server
// in order. If a test process is killed, the server stops too, and its directory is removed.
package postgres
