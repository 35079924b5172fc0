// Package schemas tests habeas with schemas and databases of real applications: rows in flight, triggers that keep old
// values, keys that compare loosely, and expired retention periods.
package schemas
