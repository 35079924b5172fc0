// Package servers tests habeas on several servers: behind a proxy that pools by transaction, through the failover of a
// primary, and with replicas. Each test starts its servers on the loopback interface and stops them.
package servers
