package schemas

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/domain"
)

// These are the models of an application with files in external systems.

type uploader struct {
	bun.BaseModel `bun:"table:uploaders"`
	ID            int64   `bun:"id,pk" subject:"id"`
	Avatar        string  `bun:"avatar" pii:"identity,erasure:anonymize,surrogate:'avatars/default.png',ref:media"`
	Banner        *string `bun:"banner" pii:"identity,erasure:null,ref:media,export:no"`
}

type upload struct {
	bun.BaseModel `bun:"table:uploads" subject:"owned"`
	ID            int64     `bun:"id,pk"`
	UploaderID    int64     `bun:"uploader_id"`
	Uploader      *uploader `bun:"rel:belongs-to,join:uploader_id=id"`
	File          string    `bun:"file" pii:"communication,ref:media"`
}

type receipt struct {
	bun.BaseModel `bun:"table:receipts"`
	ID            int64     `bun:"id,pk"`
	UploaderID    int64     `bun:"uploader_id"`
	Uploader      *uploader `bun:"rel:belongs-to,join:uploader_id=id"`
	Scan          string    `bun:"scan" pii:"financial,erasure:retain,reason:'books',retain:10y,since:issued_at,ref:scans"`
	IssuedAt      time.Time `bun:"issued_at"`
}

// present is a row that belongs to two people. An erasure of the giver deletes the row. An erasure of the taker
// overwrites only the column "thanks".
type present struct {
	bun.BaseModel `bun:"table:presents"`
	ID            int64     `bun:"id,pk"`
	GiverID       int64     `bun:"giver_id"`
	TakerID       int64     `bun:"taker_id"`
	Giver         *uploader `bun:"rel:belongs-to,join:giver_id=id" subject:"path,erasure:delete"`
	Taker         *uploader `bun:"rel:belongs-to,join:taker_id=id" subject:"path"`
	Card          string    `bun:"card" pii:"communication,via:Giver,ref:media"`
	Thanks        string    `bun:"thanks" pii:"communication,via:Taker,ref:media"`
}

// archivist has vouchers that must be kept, and annexes of letters. An annex may have the same file as a voucher.
type archivist struct {
	bun.BaseModel `bun:"table:archivists"`
	ID            int64  `bun:"id,pk" subject:"id"`
	Name          string `bun:"name" pii:"identity,erasure:anonymize"`
}

type voucher struct {
	bun.BaseModel `bun:"table:vouchers"`
	ID            int64      `bun:"id,pk"`
	ArchivistID   int64      `bun:"archivist_id"`
	Archivist     *archivist `bun:"rel:belongs-to,join:archivist_id=id"`
	Scan          string     `pii:"financial,erasure:retain,reason:'books',retain:10y,since:issued_at,ref:scans"`
	IssuedAt      time.Time  `bun:"issued_at"`
}

type annex struct {
	bun.BaseModel `bun:"table:annexes" subject:"owned"`
	ID            int64      `bun:"id,pk"`
	ArchivistID   int64      `bun:"archivist_id"`
	Archivist     *archivist `bun:"rel:belongs-to,join:archivist_id=id"`
	File          string     `bun:"file" pii:"communication,ref:scans"`
}

var mediaModels = []any{(*uploader)(nil), (*upload)(nil), (*receipt)(nil), (*present)(nil)}

func mediaTables() []string {
	return []string{
		"CREATE TABLE uploaders (id bigint PRIMARY KEY, avatar text NOT NULL, banner text)",
		"CREATE TABLE uploads (id bigint PRIMARY KEY, uploader_id bigint REFERENCES uploaders, file text)",
		"CREATE TABLE receipts (id bigint PRIMARY KEY, uploader_id bigint REFERENCES uploaders, scan text, " +
			"issued_at timestamp)",
		"CREATE TABLE presents (id bigint PRIMARY KEY, giver_id bigint REFERENCES uploaders, " +
			"taker_id bigint REFERENCES uploaders, card text, thanks text)",
		"INSERT INTO uploaders VALUES (1, 'avatars/1', 'banners/1'), (2, 'avatars/2', NULL)",
		"INSERT INTO uploads VALUES (1, 1, 'u/1'), (2, 1, 'u/2'), (3, 1, 'u/1'), (4, 1, NULL), (5, 1, ''), (6, 2, 'u/6')",
		"INSERT INTO receipts VALUES (1, 1, 'old', '2001-01-01 00:00:00'), (2, 1, 'new', '2099-01-01 00:00:00')",
		"INSERT INTO presents VALUES (1, 1, 2, 'card/1', 'thanks/1'), (2, 2, 1, 'card/2', 'thanks/2')",
	}
}

// shelf is an external system for files, such as a bucket. It records the keys of each call. A call with the key
// failingKey returns a *domain.RetryLaterError.
type shelf struct {
	name       string
	mu         sync.Mutex
	calls      [][]string
	failingKey string
}

func (s *shelf) Name() string { return s.name }

func (s *shelf) CoveredSurface() domain.CoveredSurface { return domain.CoveredSurface{} }

func (s *shelf) ExportSubject(context.Context, domain.SubjectRef) ([]domain.ExportRecord, error) {
	return nil, nil
}

func (s *shelf) EraseSubject(context.Context, domain.SubjectRef, domain.ErasureCall) (bool, error) {
	return false, nil
}

func (s *shelf) ExportKeys(_ context.Context, keys []string) (records []domain.ExportRecord, err error) {
	for _, key := range keys {
		records = append(records, domain.ExportRecord{
			Field: "content", Row: key, Category: domain.CategoryIdentity, Value: []byte("of " + key),
		})
	}
	return records, s.call(keys)
}

func (s *shelf) EraseKeys(_ context.Context, keys []string, _ domain.ErasureCall) (int, error) {
	return 0, s.call(keys)
}

func (s *shelf) call(keys []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, slices.Clone(keys))
	if slices.Contains(keys, s.failingKey) {
		return &domain.RetryLaterError{Resolver: s.name, Message: "not now"}
	}
	return nil
}

// keys returns the keys of all recorded calls in sorted order, and deletes the records.
func (s *shelf) keys() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys = slices.Concat(s.calls...)
	slices.Sort(keys)
	s.calls = nil
	return keys
}
