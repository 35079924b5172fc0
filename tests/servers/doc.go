// Package servers tests habeas with several PostgreSQL servers: behind a proxy with transaction pooling, during the
// failover of a primary, and with replicas. Each test starts its servers on the loopback interface and stops them.
package servers
