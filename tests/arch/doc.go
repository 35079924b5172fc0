// Package arch tests the rules of the module's architecture: the allowed imports of each package, and the packages that
// the core must not link. It contains only tests.
package arch
