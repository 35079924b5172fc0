package bunstore

import (
	"context"
	"slices"
)

// The values of Options.SynchronousCommit.
const (
	// CommitOn waits until synchronous standbys have the commit on their disks.
	CommitOn = "on"
	// CommitRemoteWrite waits until they have written it, which a crash of their machine may lose.
	CommitRemoteWrite = "remote_write"
	// CommitRemoteApply waits until those who read from them see it.
	CommitRemoteApply = "remote_apply"
)

// checkDurability refuses what the database does not have, or what would not wait.
func checkDurability(d sqlDialect, value string) error {
	switch {
	case value == "":
		return nil
	case !d.hasStandbys():
		return configurationError("SynchronousCommit is for PostgreSQL")
	case !slices.Contains([]string{CommitOn, CommitRemoteWrite, CommitRemoteApply}, value):
		return configurationError("SynchronousCommit must be on, remote_write or remote_apply")
	}
	return nil
}

// makeDurable lets the commit of the transaction wait as Options.SynchronousCommit says. It begins the transaction.
func (s *session) makeDurable(ctx context.Context) error {
	value := s.store.synchronousCommit
	if value == "" {
		return nil
	}
	if err := s.usable(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	_, err := exec(ctx, s.store.db, s.tx.conn(), "SET LOCAL synchronous_commit TO "+value)
	return s.fail(ctx, "lock subject", err)
}
