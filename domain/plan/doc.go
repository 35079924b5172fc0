// Package plan is for authors of stores. It says what the steps of an erasure plan, an export and a verification mean
// for the rows of a table: which cells a step concerns, which values are surrogates, and what a row tells about the
// life of an id. Stores on different databases get the same results with it. The services of habeas use it, too. An
// application does not need this package: it describes its tables with package datamap.
package plan
