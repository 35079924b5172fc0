// Package cli is the command line tool of operators, such as support staff, a data protection officer or the engineer
// on call. It is a cobra command tree for the application's own program:
//
//	func main() { os.Exit(cli.Main(cli.New(gdpr))) }
//
// gdpr is an [Application], which *app.Integration implements. If the application has a command tree, add the command
// of [New] to it and pass the error of its execution to [ExitCode]. To open the database only for commands that need
// it, call [Open] instead of New.
//
// Commands write results to the standard output. The results are text for people, or with --output json one JSON
// document per line with the names of package domain. Everything else goes to the standard error.
//
// The exit code is 0 on success, 1 if there are findings, and 2 if the command failed or was called incorrectly. An
// error is one line that says what to do. It holds no value, id, database address, SQL or driver message.
package cli
