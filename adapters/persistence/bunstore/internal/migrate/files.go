package migrate

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

const (
	firstMigration = "0001_habeas.sql"
	oldLedgers     = "0001_ledgers.sql"
	oldOutboxStage = "0002_outbox_stage.sql"
)

// migrationFile is a file of the folder migrations.
type migrationFile struct {
	name, text string
	checksum   string // the SHA-256 of the text, in hexadecimal digits
}

// readMigrations returns the files of a database system in the order in which Migrate applies them.
func readMigrations(folder fs.FS) (files []migrationFile, err error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		files = append(files, migrationFile{name, string(text), hex.EncodeToString(sum[:])})
	}
	return files, nil
}

// named returns a text of a migration for the data map with the name of m: all names of objects in it begin with
// domain.ObjectPrefix.
func (m *Migration) named(text string) string {
	return strings.ReplaceAll(text, domain.ObjectPrefix(""), domain.ObjectPrefix(m.name))
}

// statementsOf returns the statements of a migration, which blank lines separate.
func (m *Migration) statementsOf(text string) []string {
	return strings.Split(strings.TrimSpace(m.named(text)), "\n\n")
}

var (
	tablePattern  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \(\n(.*?)^\)`)
	columnPattern = regexp.MustCompile(`(?m)^ {4}(\w+)`)
	addedPattern  = regexp.MustCompile(`(?m)^ALTER TABLE (\w+) ADD COLUMN (\w+)`)
	objectPattern = regexp.MustCompile(`(?m)^CREATE (?:INDEX|TRIGGER) (\w+)`)
)

// objectsOf returns the objects that the migrations create: table.column for each column, and the names of the indexes
// and triggers. It relies on the layout of the files, in which each column begins a line with four spaces.
func (m *Migration) objectsOf(files ...migrationFile) (objects []string) {
	for _, file := range files {
		text := m.named(file.text)
		for _, table := range tablePattern.FindAllStringSubmatch(text, -1) {
			for _, column := range columnPattern.FindAllStringSubmatch(table[2], -1) {
				objects = append(objects, table[1]+"."+column[1])
			}
		}
		for _, added := range addedPattern.FindAllStringSubmatch(text, -1) {
			objects = append(objects, added[1]+"."+added[2])
		}
		for _, object := range objectPattern.FindAllStringSubmatch(text, -1) {
			objects = append(objects, object[1])
		}
	}
	return objects
}

// missingAtFirst reports whether the tables of the first version of 0001_habeas.sql lacked an object that its current
// version creates. The tables of 0001_ledgers.sql and 0002_outbox_stage.sql lacked the same objects.
func (m *Migration) missingAtFirst(object string) bool {
	plain := strings.TrimPrefix(object, domain.ObjectPrefix(m.name))
	return strings.HasPrefix(plain, "consent_records_no_") || strings.HasPrefix(plain, "restriction_records_no_") ||
		strings.HasPrefix(plain, "positions.") || slices.Contains([]string{
		"outbox.operation_id", "outbox.tried_since", "outbox_tried", "subject_erasures.intake", "subject_erasures.swept_at",
		"subject_erasures_intake",
	}, plain)
}
