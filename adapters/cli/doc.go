// Package cli is the command of operators: support, a data protection officer, the engineer on call. It is a command
// tree on cobra, with a verb for each thing that an operator does, for an application's own program:
//
//	func main() { os.Exit(cli.Main(cli.New(gdpr))) }
//
// An application that has a command tree adds the command to it, and passes its error to ExitCode. An application that
// opens its database only for the verbs that need it calls Open in place of New.
//
// Verbs write results to the standard output, as text for people or with --output json for scripts: JSON documents, one
// a line, with the names of package domain. Everything else goes to the standard error. The exit code is 0 if all is
// well, 1 if there are findings, and 2 if the verb could not do its work. An error is one line that says what to do. It
// holds no value, no id, no address of a database, no SQL and no message of a driver.
package cli
