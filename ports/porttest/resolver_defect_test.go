package porttest

import (
	"context"

	"github.com/habeas-data/habeas/domain"
)

// changesRecords is a defect of what is exported of the populated subject.
func changesRecords(change func([]domain.ExportRecord)) func(*fake) {
	return func(f *fake) {
		export := f.export
		f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
			records, err := export(ctx, ref)
			if err == nil && ref.Value == f.system.Populated.Value && len(records) > 0 {
				change(records)
			}
			return records, err
		}
	}
}

// exportsAlso is the defect of one record too many.
func exportsAlso(record domain.ExportRecord) func(*fake) {
	return func(f *fake) {
		export := f.export
		f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
			records, err := export(ctx, ref)
			if err == nil && len(records) > 0 {
				records = append(records, record)
			}
			return records, err
		}
	}
}

// answersErasure is a defect of what an erasure returns; of one that failed, too, if failures is set.
func answersErasure(change func(alreadyAbsent bool, err error) (bool, error), failures bool) func(*fake) {
	return func(f *fake) {
		erase := f.erase
		f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
			absent, err := erase(ctx, ref, id)
			if err != nil && !failures {
				return absent, err
			}
			return change(absent, err)
		}
	}
}

// changesErrors is a defect of every error.
func changesErrors(change func(error) error) func(*fake) {
	return func(f *fake) {
		export, erase := f.export, f.erase
		f.export = func(ctx context.Context, ref domain.SubjectRef) ([]domain.ExportRecord, error) {
			records, err := export(ctx, ref)
			if err != nil {
				err = change(err)
			}
			return records, err
		}
		f.erase = func(ctx context.Context, ref domain.SubjectRef, id string) (bool, error) {
			absent, err := erase(ctx, ref, id)
			if err != nil {
				err = change(err)
			}
			return absent, err
		}
	}
}
