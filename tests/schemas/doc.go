// Package schemas tests habeas with schemas and databases of real applications. They have concurrent inserts, triggers
// that keep old values, keys that ignore case or trailing blanks, and values whose retention period has ended.
package schemas
