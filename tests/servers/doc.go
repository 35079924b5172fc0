// Package servers tests habeas on several servers: behind a proxy that pools by transaction, through the failover of a
// primary, and beside replicas. Each test starts the servers that it needs on the loopback interface, and stops them.
package servers
