// Package arch tests the rules of the module's architecture. They concern the imports of each package, and the packages
// that the core must not link. The package contains only tests.
package arch
