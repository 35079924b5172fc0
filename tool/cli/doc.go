// Package cli is the command line tool for the operators of an application, such as support staff, a data protection
// officer or the engineer on call. The tool is a tree of cobra commands that the application adds to a program of its
// own:
//
//	func main() { os.Exit(cli.Main(cli.New(gdpr.Operator()))) }
//
// In this example, gdpr is an *app.Integration. Its Operator implements [Application]. If the program already has a
// command tree, add the result of [New] to that tree, and pass the error of its execution to [ExitCode]. To open the
// database only for the commands that need it, call [Open] instead of New.
//
// A command writes its results to the standard output. By default, the results are text for people. With --output json,
// they are one JSON document per line, with the JSON names of package domain. All other output goes to the standard
// error.
//
// The exit code is 0 on success, 1 if there are findings, and 2 if the command failed or was called incorrectly. The
// text of an error is one line that describes a remedy. It contains no value, id, database address, SQL or message of a
// driver.
package cli
