package newsletter_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/examples/external/newsletter"
	"github.com/habeas-data/habeas/ports/porttest"
)

func TestConformance(t *testing.T) {
	porttest.TestResolver(t, porttest.ResolverHarness{Open: func(t testing.TB) porttest.ResolverSystem {
		t.Helper()
		s, resolver := open(t)
		return porttest.ResolverSystem{
			Resolver:  resolver,
			Populated: domain.SubjectRef{Kind: "newsletter", Value: "ada@example.org"},
			Bystander: domain.SubjectRef{Kind: "newsletter", Value: "bob@example.org"},
			Absent:    domain.SubjectRef{Kind: "newsletter", Value: "nobody@example.org"},
			Excluded:  []string{"excluded-issue"},
			Secrets:   []string{"secret-token", "127.0.0.1", "what the service says"},
			Keys: porttest.ResolverKeys{
				Populated: []string{"cy@example.org", "di@example.org"},
				Bystander: "di-2@example.org", Absent: "nobody@example.org",
			},
			Transient: []porttest.ResolverFault{s.fault(429), s.fault(503), s.fault(302), s.fault(404)},
			Permanent: []porttest.ResolverFault{s.fault(401), s.fault(403)},
			Heal:      s.heal,
			Hang:      s.hang,
		}
	}})
}

// since is the instant at which all have subscribed. The erasure of call was requested a second after it.
var (
	since = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	call  = domain.ErasureCall{EntryID: "entry", RequestedAt: since.Add(time.Second), Attempt: 1}
)

// open returns a resolver for a new service with five subscribers.
func open(t testing.TB) (*service, *newsletter.Resolver) {
	t.Helper()
	s := &service{keys: map[string]bool{}, subscribers: map[string]string{}, since: since}
	for _, address := range []string{"ada", "bob", "cy", "di", "di-2"} {
		s.subscribers[address+"@example.org"] = address + "@example.org"
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(s.heal) // the server waits for hanging requests when it closes
	return s, newsletter.NewResolver(server.URL, "secret-token")
}

func TestACorrectionChangesTheFieldOfItsCategory(t *testing.T) {
	s, resolver := open(t)
	for _, ref := range []string{"ada@example.org", "nobody@example.org"} {
		err := resolver.RectifySubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: ref}, call,
			domain.Corrections{domain.CategoryContact: "ada@example.com", domain.CategoryIdentity: "Ada"})
		if err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if s.subscribers["ada@example.org"] != "ada@example.com" || s.subscribers["bob@example.org"] != "bob@example.org" {
		t.Error(s.subscribers)
	}
}

func TestACorrectionOfAnUnknownCategorySendsNothing(t *testing.T) {
	s, resolver := open(t)
	err := resolver.RectifySubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: "ada@example.org"}, call,
		domain.Corrections{domain.CategoryIdentity: "Ada"})
	if err != nil || s.requests > 0 {
		t.Errorf("%v, %d requests", err, s.requests)
	}
}

func TestEachKeyHasItsOwnIdempotencyKey(t *testing.T) {
	s, resolver := open(t)
	absent, err := resolver.EraseKeys(t.Context(), []string{"cy@example.org", "nobody@example.org", "di@example.org"},
		call)
	if err != nil || absent != 1 || len(s.keys) != 2 {
		t.Errorf("%d absent, %v, idempotency keys %v", absent, err, s.keys)
	}
}

func TestTheRequestedWaitIsReported(t *testing.T) {
	s, resolver := open(t)
	s.fault(http.StatusTooManyRequests).Inject()
	_, err := resolver.EraseSubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: "ada@example.org"}, call)
	if later := new(domain.RetryLaterError); !errors.As(err, &later) || later.After != 90*time.Second {
		t.Errorf("%+v", err)
	}
}

func TestARefThatIsAPathIsRefused(t *testing.T) {
	for _, value := range []string{".", ".."} {
		_, err := newsletter.NewResolver("http://127.0.0.1:1", "").
			EraseSubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: value}, call)
		if refused := new(domain.ResolverError); !errors.As(err, &refused) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// A person was erased while the service was down, and another person has subscribed with the address since.
func TestANewSubscriberWithTheAddressIsSpared(t *testing.T) {
	ada := domain.SubjectRef{Kind: "newsletter", Value: "ada@example.org"}
	for age, spared := range map[time.Duration]bool{time.Hour: false, time.Hour + time.Second: true} {
		s, resolver := open(t)
		late := domain.ErasureCall{EntryID: "entry", RequestedAt: since.Add(-age), Attempt: 2}
		_, erasure := resolver.EraseSubject(t.Context(), ada, late)
		_, keys := resolver.EraseKeys(t.Context(), []string{"cy@example.org", "di@example.org"}, late)
		correction := resolver.RectifySubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: "bob@example.org"},
			late, domain.Corrections{domain.CategoryContact: "bob@example.com"})
		for _, err := range []error{erasure, keys, correction} {
			if spared != errors.Is(err, domain.ErrSpared) || !spared && err != nil {
				t.Errorf("%v later: %v", age, err)
			}
		}
		if left := len(s.subscribers); (left == 5) != spared ||
			(s.subscribers["bob@example.org"] == "bob@example.org") != spared {
			t.Errorf("%v later: %v", age, s.subscribers)
		}
	}
}

// service is a fake of the newsletter service. If the field status is not 0, it responds to every request with this
// status. After a call of the method hang, it does not respond.
type service struct {
	mu          sync.Mutex
	subscribers map[string]string // addresses by subscriber
	since       time.Time         // the instant at which all have subscribed
	keys        map[string]bool   // the idempotency keys of all requests
	requests    int
	status      int
	hanging     chan struct{}
}

func (s *service) fault(status int) porttest.ResolverFault {
	return porttest.ResolverFault{Name: fmt.Sprint(status), Inject: func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.status = status
	}}
}

func (s *service) hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = make(chan struct{})
}

func (s *service) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = 0
	if s.hanging != nil {
		close(s.hanging)
		s.hanging = nil
	}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hanging := s.hanging
	s.mu.Unlock()
	if hanging != nil {
		<-hanging
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		s.keys[key] = true
	}
	id := strings.TrimPrefix(r.URL.Path, "/subscribers/")
	address, known := s.subscribers[id]
	switch {
	case s.status != 0:
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Retry-After", "90")
		http.Error(w, "what the service says of "+address, s.status)
	case r.Header.Get("Authorization") != "Bearer secret-token":
		w.WriteHeader(http.StatusUnauthorized)
	case !known:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error": "unknown subscriber"}`)
	case r.Method == http.MethodPatch:
		var changes map[string]string
		if json.NewDecoder(r.Body).Decode(&changes) != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		s.subscribers[id] = changes["email"]
	case r.Method == http.MethodDelete:
		delete(s.subscribers, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		_, _ = fmt.Fprintf(w, `{"email": %q, "language": "fr", "opened": ["excluded-issue"], "subscribed_at": %q}`,
			address, s.since.Format(time.RFC3339))
	}
}
