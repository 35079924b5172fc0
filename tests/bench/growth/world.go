package growth

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/internal/system"
	"github.com/habeas-data/habeas/ports"
	"github.com/habeas-data/habeas/tests/bench/endpoints"
	"github.com/habeas-data/habeas/tests/bench/habeas"
	"github.com/habeas-data/habeas/tests/bench/process"
	"github.com/habeas-data/habeas/tests/bench/shop"
)

//go:embed ledgers.sql
var ledgers string

// SmallestSubject is the number of rows of each user in a new shop. ordersOfUser of these rows are orders.
const (
	SmallestSubject = 33
	ordersOfUser    = 20
)

// world is a shop whose large tables all have the same number of rows, which is in the field size.
type world struct {
	size   int
	url    string
	db     *bun.DB
	stack  app.Stack
	random *rand.Rand
	users  []int64 // users who are not erased, in random order
	ids    system.IDs

	servers map[string]*process.Server // by name: endpoints.Floor and endpoints.Habeas

	due      int // due outbox entries, without the entries of erasures
	enqueued int // outbox entries added so far, without the entries of erasures
}

func (c Config) newWorld(ctx context.Context, size int) (*world, error) {
	w := &world{size: size, random: rand.New(rand.NewPCG(uint64(size), 0))}
	users := size / ordersOfUser
	var err error
	if w.url, err = shop.CreateAs(ctx, c.ServerURL, fmt.Sprintf("growth_%d", size), users); err != nil {
		return nil, err
	}
	filled := strings.NewReplacer(":users", strconv.Itoa(users), ":size", strconv.Itoa(size)).Replace(ledgers)
	for _, statements := range []string{filled, "VACUUM ANALYZE"} {
		if err := shop.Execute(ctx, w.url, statements); err != nil {
			return nil, err
		}
	}
	for _, user := range w.random.Perm(users) {
		w.users = append(w.users, int64(user)+1)
	}
	if err := c.open(ctx, w); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// open opens the database, and starts the hand-written server and the server with habeas.
func (c Config) open(ctx context.Context, w *world) (err error) {
	if w.db, err = habeas.Open(w.url, c.Driver, c.Pool); err != nil {
		return err
	}
	gdpr, err := app.New(habeas.Config(w.db)) //nolint:contextcheck // app.New takes no context
	if err != nil {
		return err
	}
	w.stack = gdpr.Stack()
	w.servers = map[string]*process.Server{}
	for _, side := range []string{endpoints.Floor, endpoints.Habeas} {
		if w.servers[side], err = c.Start(ctx, side, w.url); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) close() (err error) {
	for _, server := range w.servers {
		if server != nil {
			err = errors.Join(err, server.Stop())
		}
	}
	if w.db != nil {
		err = errors.Join(err, w.db.Close())
	}
	return err
}

// someone returns a random user with records in the consent ledger.
func (w *world) someone() int64 { return 1 + w.random.Int64N(int64(w.size/2)) }

// user returns a random user who was not erased.
func (w *world) user() int64 { return w.users[w.random.IntN(len(w.users))] }

// lastUser returns the last of the users who were not erased, and removes the user from w.users.
func (w *world) lastUser() int64 {
	last := w.users[len(w.users)-1]
	w.users = w.users[:len(w.users)-1]
	return last
}

// provide adds outbox entries until the given number of entries is due. It then vacuums the outbox, because a real
// server also removes the old row versions of earlier claims from time to time.
func (w *world) provide(ctx context.Context, due int) error {
	err := w.stack.Sessions.Do(ctx, func(ctx context.Context, s ports.Session) error {
		for i := range due - w.due {
			subject, err := habeas.Subject(int64(10*w.size + w.enqueued + i)) // a subject without other entries
			if err != nil {
				return err
			}
			if err := s.Outbox().Enqueue(ctx, domain.OutboxEntry{
				EntryID: w.ids.NewID(), SubjectID: subject.ID, Resolver: subject.Refs[0].Kind, Ref: subject.Refs[0],
				Operation: domain.OperationErase, Status: domain.OutboxPending, EnqueuedAt: domain.Instant(time.Now()),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if added := due - w.due; added > 0 {
		w.due, w.enqueued = due, w.enqueued+added
	}
	return shop.Execute(ctx, w.url, "VACUUM ANALYZE habeas_outbox")
}
