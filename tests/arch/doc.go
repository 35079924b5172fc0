// Package arch holds the rules of the module's architecture as tests: who may import whom, and what the core must not
// link. It has no code of its own.
package arch
