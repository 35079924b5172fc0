package porttest

import (
	"context"
	"testing"

	"github.com/habeas-data/habeas/ports"
)

func subjectValuesAreCopies(t testing.TB, h StoreHarness) {
	s := shopUnderTest{h.open(t)}
	s.seed(t, zoe, 1)
	right := []byte("right")
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) error {
		given := []byte("right")
		defer copy(given, "wrong")
		_, err := subjects.Rectify(ctx, zoe.id(t), corrects("people", "photo", given))
		return err
	})
	assert(t, same(s.Rows(t, "people")[0]["photo"], right), "a value in the table changed with the one that was given")
	for range 2 { // the second time after what was exported has been changed
		for _, record := range s.export(t, zoe) {
			if photo, isBytes := record.Value.([]byte); isBytes {
				assert(t, same(photo, right), "a value in the table changed with the one that was exported")
				copy(photo, "wrong")
			}
		}
	}
}
