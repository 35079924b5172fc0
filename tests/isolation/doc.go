// Package isolation holds the promise that matters most as properties: what is done about one subject touches no
// other. They generate an application (tables, foreign keys, a data map, rows of several subjects), erase or export one
// subject on a real database, and compare every cell with what the generator knows. It has no code of its own.
package isolation
