package porttest

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/plan"
	"github.com/habeas-data/habeas/ports"
)

// media, atlas and cards are the names of resolvers whose keys are in columns of the shop. The keys of media are in
// messages.body, order_lines.engraving and invoices.address. The keys of atlas are in addresses.street, and those of
// cards in gifts.wish and gifts.thanks.
const (
	media = "media"
	atlas = "maps"
	cards = "cards"
)

// afterTheDuty is an instant after the end of the duty to retain the address of an invoice.
var afterTheDuty = time.Date(2035, 1, 1, 0, 0, 0, 0, time.UTC)

// keyShop opens a shop in which zoe's order lines hold keys. It returns these keys in the order of their bytes.
func (h StoreHarness) keyShop(t testing.TB) (s shopUnderTest, engraved []string) {
	t.Helper()
	s = h.shop(t)
	engraved = []string{"A/1", "a 'b' ?1 $1", "a/2", "a/2.jpg", "b_%", "É", "é", "🙂"}
	for i, key := range append(slices.Clone(engraved), "a/2", "a/2", "") {
		s.Insert(t, "order_lines", Row{"order_id": zoe.ids, "line": int64(10 + i), "engraving": key})
	}
	s.Insert(t, "order_lines", Row{"order_id": zoe.ids, "line": int64(50), "engraving": nil})
	return s, engraved
}

// keys returns the keys in zoe's rows. If query.ErasedAt is set, the session locks zoe first, as an erasure does.
func (s shopUnderTest) keys(t testing.TB, query plan.KeyQuery) (keys []string) {
	t.Helper()
	s.do(t, func(ctx context.Context, subjects ports.SubjectStore) (err error) {
		if !query.ErasedAt.IsZero() {
			if _, err := subjects.Lock(ctx, zoe.id(t), query.ErasedAt); err != nil {
				return err
			}
		}
		keys, err = subjects.Keys(ctx, zoe.id(t), query)
		return err
	})
	return keys
}

func expectKeys(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	assert(t, slices.Equal(got, want), "%s: %d keys are not the %d expected, in their order", what, len(got), len(want))
}

func subjectKeysAreRead(t testing.TB, h StoreHarness) {
	s, engraved := h.keyShop(t)
	want := slices.Concat(engraved, []string{zoe.says("body"), zoe.says("engraving"), zoe.says("address")})
	slices.Sort(want)
	expectKeys(t, media, s.keys(t, plan.KeyQuery{Resolver: media, Limit: 100}), want...)
	expectKeys(t, atlas, s.keys(t, plan.KeyQuery{Resolver: atlas, Limit: 100}), zoe.says("street"))
	for _, unknown := range []string{"", "Media"} {
		expectKeys(t, "no system", s.keys(t, plan.KeyQuery{Resolver: unknown, Limit: 100}))
	}
}

func subjectKeysComeInPages(t testing.TB, h StoreHarness) {
	s, _ := h.keyShop(t)
	for _, at := range []time.Time{{}, afterTheDuty} {
		all := s.keys(t, plan.KeyQuery{Resolver: media, ErasedAt: at, Limit: 100})
		expectKeys(t, "no limit", s.keys(t, plan.KeyQuery{Resolver: media, ErasedAt: at}))
		var pages []string
		for query := (plan.KeyQuery{Resolver: media, ErasedAt: at, Limit: 3}); len(pages) < len(all); {
			page := s.keys(t, query)
			must(t, len(page) == min(3, len(all)-len(pages)), "a page has %d keys", len(page))
			pages = append(pages, page...)
			query.After = page[len(page)-1]
		}
		expectKeys(t, "pages", pages, all...)
		last := plan.KeyQuery{Resolver: media, ErasedAt: at, After: all[len(all)-1], Limit: 3}
		expectKeys(t, "after the last one", s.keys(t, last))
	}
}

func subjectKeysOfCells(t testing.TB, h StoreHarness) {
	s, engraved := h.keyShop(t)
	all := append(slices.Clone(engraved), zoe.says("engraving"))
	slices.Sort(all)
	engravings := plan.KeyCells{Table: "order_lines", Column: "engraving"}
	line := func(order int64, number string) plan.KeyCells {
		cells := engravings
		cells.Row = domain.CanonicalTuple([]string{strconv.FormatInt(order, 10), number})
		return cells
	}
	misnamed := engravings
	misnamed.Row = "11"
	for what, c := range map[string]struct {
		cells plan.KeyCells
		want  []string
	}{
		"a column":                        {engravings, all},
		"another column":                  {plan.KeyCells{Table: "messages", Column: "body"}, []string{zoe.says("body")}},
		"a column of another system":      {plan.KeyCells{Table: "addresses", Column: "street"}, nil},
		"a column of another table":       {plan.KeyCells{Table: "orders", Column: "engraving"}, nil},
		"a row":                           {line(zoe.ids, "11"), engraved[1:2]},
		"a row without a key":             {line(zoe.ids, "50"), nil},
		"a row that does not exist":       {line(zoe.ids, "51"), nil},
		"a row of another subject":        {line(others[0].ids, "1"), nil},
		"a row whose name is not a tuple": {misnamed, nil},
	} {
		expectKeys(t, what, s.keys(t, plan.KeyQuery{Resolver: media, Cells: &c.cells, Limit: 100}), c.want...)
	}
}

func subjectKeysOmitRetainedCells(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	erased := []string{zoe.says("body"), zoe.says("engraving")}
	query := plan.KeyQuery{Resolver: media, Limit: 100, ErasedAt: time.Date(2034, 2, 1, 0, 0, 0, 0, time.UTC)}
	expectKeys(t, "while the duty goes on", s.keys(t, query), erased...)
	query.ErasedAt = afterTheDuty
	expectKeys(t, "once it is over", s.keys(t, query), append([]string{zoe.says("address")}, erased...)...)
	s.Insert(t, "invoices", zoe.row(zoe.ids+500, Row{"address": "a", "phone": "1", "issued_at": nil}))
	expectKeys(t, "without a beginning", s.keys(t, query), append([]string{zoe.says("address")}, erased...)...)
}

func subjectKeysOmitHeldKeys(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	address, rest := zoe.says("address"), []string{zoe.says("body"), zoe.says("engraving")}
	s.Insert(t, "messages", zoe.row(zoe.ids+500, Row{"body": address}))
	s.Insert(t, "order_lines", Row{"order_id": zoe.ids, "line": int64(10), "engraving": address})
	query := plan.KeyQuery{Resolver: media, Limit: 100, ErasedAt: afterTheDuty.AddDate(-2, 0, 0)}
	expectKeys(t, "while the duty goes on", s.keys(t, query), rest...)
	page := query
	page.Limit = 1
	expectKeys(t, "the first page", s.keys(t, page), rest[0])
	page.After = rest[0]
	expectKeys(t, "the second page", s.keys(t, page), rest[1])
	query.ErasedAt = afterTheDuty
	expectKeys(t, "after the duty", s.keys(t, query), append([]string{address}, rest...)...)
	s.Insert(t, "invoices", zoe.row(zoe.ids+500, Row{"address": address, "phone": "1", "issued_at": afterTheDuty}))
	expectKeys(t, "during another duty", s.keys(t, query), rest...)
	query.ErasedAt = afterTheDuty.AddDate(11, 0, 0)
	expectKeys(t, "after both duties", s.keys(t, query), append([]string{address}, rest...)...)
}

func subjectKeysOfSharedRows(t testing.TB, h StoreHarness) {
	s := h.shop(t)
	ann, bob := others[0], others[2]
	for i, gift := range []struct {
		giver, receiver customer
		wish, thanks    string
	}{
		{zoe, ann, "a", "b"}, {ann, zoe, "a", "c"}, {zoe, zoe, "d", "e"}, {bob, zoe, "f", "b"}, {ann, bob, "c", "g"},
	} {
		s.Insert(t, "gifts", Row{
			"id": int64(i + 1), "tenant": zoe.tenant, "giver": gift.giver.number, "receiver": gift.receiver.number,
			"wish": gift.wish, "thanks": gift.thanks,
		})
	}
	query := plan.KeyQuery{Resolver: cards, Limit: 100}
	expectKeys(t, "in an export", s.keys(t, query), "a", "b", "c", "d", "e")
	query.Held = true
	expectKeys(t, "after a rectification", s.keys(t, query), "a", "b", "c", "d", "e", "f")
	expectKeys(t, "in an erasure", s.keys(t, plan.KeyQuery{Resolver: cards, Limit: 100, ErasedAt: noon}), "c", "d", "e")
}
