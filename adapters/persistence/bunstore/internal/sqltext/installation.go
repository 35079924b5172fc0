package sqltext

import "github.com/habeas-data/habeas/adapters/persistence/bunstore/internal/syntax"

// Installation holds the statements on the installation, which identifies the tables of habeas and their data map.
type Installation struct {
	Key       string // reads the id and the recorded data map
	Announce  string // tells other sessions that this one will record the data map $1; "" if only one session writes
	Rivals    string // returns a row if an open session has announced another data map than $1
	Record    string // records the subject's table $1 and the key columns $2 if none are recorded
	Accept    string // records the subject's table $1 and the key columns $2
	Started   string // records the resolvers $1 of a worker, and whether hooks run $2
	Worker    string // reads what Started has recorded
	Ancestors string // reads the earlier ids
	Retire    string // adds the current id to the earlier ids
	Renew     string // sets a new random id
}

const (
	installationKey = `SELECT installation, subject_table, key_columns FROM {installation}`

	recordMap = `
		UPDATE {installation} SET subject_table = $1, key_columns = $2
		WHERE only_row IN (SELECT only_row FROM {installation} WHERE subject_table IS NULL{if free})`
	acceptMap = `UPDATE {installation} SET subject_table = $1, key_columns = $2`

	// announce takes a shared advisory lock, so that it never waits. rivals finds the locks of other data maps.
	announce = `SELECT pg_advisory_xact_lock_shared(` + oidClass + `, hashtext($1))`
	rivals   = `
		SELECT 1 FROM pg_catalog.pg_locks AS l
		WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND CAST(l.classid AS bigint) = ` + oidClass + `
			AND CAST(l.objid AS bigint) <> CAST(hashtext($1) AS bigint) & 4294967295
			AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())`

	recordWorker  = `UPDATE {installation} SET resolvers = $1, hooks = $2`
	startedWorker = `SELECT resolvers, hooks FROM {installation} WHERE resolvers IS NOT NULL`

	ancestors = `SELECT installation, until_intake FROM {ancestors} ORDER BY place`

	retire = `
		INSERT INTO {ancestors} (installation, until_intake)
		SELECT installation, COALESCE((SELECT max(intake) FROM {erasures} WHERE erasures > 0), 0) FROM {installation}`

	renew = `UPDATE {installation} SET installation = {id}`
)

// NewInstallation returns the statements on the installation.
func NewInstallation(w *Writer) Installation {
	announce, rivals, ifFree := w.Dialect.recording(w.Tables)
	return Installation{
		Key: w.Tables.Fill(installationKey), Announce: announce, Rivals: rivals,
		Record: w.Tables.Fill(recordMap, "if free", ifFree), Accept: w.Tables.Fill(acceptMap),
		Started: w.Tables.Fill(recordWorker), Worker: w.Tables.Fill(startedWorker), Ancestors: w.Tables.Fill(ancestors),
		Retire: w.Tables.Fill(retire), Renew: w.Tables.Fill(renew, "id", w.Dialect.randomID()),
	}
}

// recording returns the statements Announce and Rivals, and the clause that skips the row while another session records
// the data map. No session waits for another one that has not ended.
func (postgres) recording(tables syntax.Tables) (announceMap, rivalMaps, ifFree string) {
	table := syntax.Literal(tables.Installation)
	return tables.Fill(announce, "table", table), tables.Fill(rivals, "table", table), " FOR UPDATE SKIP LOCKED"
}

func (sqlite) recording(syntax.Tables) (announceMap, rivalMaps, ifFree string) { return "", "", "" }

func (postgres) randomID() string { return "CAST(gen_random_uuid() AS text)" }
func (sqlite) randomID() string   { return "lower(hex(randomblob(16)))" }
