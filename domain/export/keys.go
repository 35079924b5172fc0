package export

import (
	"context"
	"errors"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/internal/resolvers"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// maxKeyRecords is the maximum size in bytes of the records that one external system returns for keys. It limits the
// memory, because all records of external systems are held in memory.
const maxKeyRecords = 64 << 20

// keyExport calls external systems with the keys in a subject's rows, such as the names of files.
type keyExport struct {
	*Exporter
	session    ports.Session
	id         domain.SubjectID
	records    []domain.ExportRecord
	incomplete []string // the systems with incomplete records
	systems    []string // the systems for which there are keys
}

// errStopCalls ends the calls of one system after a failed call, or after its records have exceeded maxKeyRecords. The
// caller of the exporter does not receive this error.
var errStopCalls = errors.New("habeas: stop the calls of this system: its records are incomplete or too large")

// export calls the systems one after the other. It returns the error of the store or of ctx.
func (k *keyExport) export(ctx context.Context) error {
	for _, name := range k.dataMap.Refs() {
		if err := ctx.Err(); err != nil {
			return &domain.Error{Op: "export", Message: "the context ended", Err: err}
		}
		size, called := 0, false
		query := plan.KeyQuery{Resolver: name}
		err := resolvers.KeyCalls(ctx, k.session, k.dataMap, k.resolvers, k.id, query, func(call resolvers.Call) error {
			called = true
			records, incomplete := k.callSystems(ctx, []resolvers.Call{call})
			size += sizeOf(records)
			if size > maxKeyRecords || len(incomplete) > 0 {
				return errStopCalls
			}
			k.records = append(k.records, records...)
			return nil
		})
		if called {
			k.systems = append(k.systems, name)
		}
		switch {
		case errors.Is(err, errStopCalls):
			k.incomplete = append(k.incomplete, name)
		case err != nil:
			return err
		}
	}
	return nil
}

func sizeOf(records []domain.ExportRecord) (size int) {
	const ofRecord = 100 // estimated size of the fields that are not counted
	for _, record := range records {
		size += ofRecord + len(record.Field) + len(record.Row)
		switch value := record.Value.(type) {
		case string:
			size += len(value)
		case []byte:
			size += len(value)
		case domain.JSON:
			size += len(value)
		}
	}
	return size
}

func export(ctx context.Context, call resolvers.Call) ([]domain.ExportRecord, error) {
	if len(call.Ref.Keys) == 0 {
		return call.Resolver.ExportSubject(ctx, call.Ref)
	}
	ofKeys, ok := call.Resolver.(ports.KeyResolver)
	if !ok {
		return nil, &domain.ResolverError{Resolver: call.Ref.Kind, Message: "does not take keys"}
	}
	return ofKeys.ExportKeys(ctx, call.Ref.Keys)
}
