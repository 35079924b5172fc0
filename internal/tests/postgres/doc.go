// Package postgres provides a PostgreSQL server for tests. By default, it starts a private server and removes the
// server afterwards. If HABEAS_TEST_DATABASE_URL is set, it uses the server in that variable.
//
//	func TestSomething(t *testing.T) {
//		db, err := sql.Open("pgx", postgres.NewDatabase(t))
//		...
//	}
//
// The first [NewDatabase] of a test process starts the server. A run without PostgreSQL tests therefore starts no
// server. If no server can be started, the test fails. It is not skipped. TestMain may call [Main], which stops the
// server after the tests. If a test process is killed, its server stops too, and the directory of the server is
// removed.
package postgres
