// Package schemas tries habeas with schemas and databases that real applications have: rows in flight, triggers that
// keep old values, keys that compare loosely, retention that is over.
package schemas
