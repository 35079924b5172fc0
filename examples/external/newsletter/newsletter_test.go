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
			Populated: domain.SubjectRef{Kind: "newsletter", Value: "ada-ref"},
			Bystander: domain.SubjectRef{Kind: "newsletter", Value: "bob-ref"},
			Absent:    domain.SubjectRef{Kind: "newsletter", Value: "nobody-ref"},
			Excluded:  []string{"excluded-issue"},
			Secrets:   []string{"secret-token", "127.0.0.1", "what the service says"},
			Keys: porttest.ResolverKeys{
				Populated: []string{"cy-key", "di-key"}, Bystander: "di-key-2", Absent: "nobody-key",
			},
			Transient: []porttest.ResolverFault{s.fault(429), s.fault(503), s.fault(302), s.fault(404)},
			Permanent: []porttest.ResolverFault{s.fault(401), s.fault(403)},
			Heal:      s.heal,
			Hang:      s.hang,
		}
	}})
}

// open returns a resolver for a new service with five subscribers.
func open(t testing.TB) (*service, *newsletter.Resolver) {
	t.Helper()
	s := &service{keys: map[string]bool{}, subscribers: map[string]string{
		"ada-ref": "ada@example.org", "bob-ref": "bob@example.org",
		"cy-key": "cy@example.org", "di-key": "di@example.org", "di-key-2": "di2@example.org",
	}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Cleanup(s.heal) // the server waits for hanging requests when it closes
	return s, newsletter.NewResolver(server.URL, "secret-token")
}

func TestACorrectionChangesTheFieldOfItsCategory(t *testing.T) {
	s, resolver := open(t)
	for _, ref := range []string{"ada-ref", "nobody-ref"} {
		err := resolver.RectifySubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: ref}, "entry",
			domain.Corrections{domain.CategoryContact: "ada@example.com", domain.CategoryIdentity: "Ada"})
		if err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if s.subscribers["ada-ref"] != "ada@example.com" || s.subscribers["bob-ref"] != "bob@example.org" {
		t.Error(s.subscribers)
	}
}

func TestACorrectionOfAnUnknownCategorySendsNothing(t *testing.T) {
	s, resolver := open(t)
	err := resolver.RectifySubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: "ada-ref"}, "entry",
		domain.Corrections{domain.CategoryIdentity: "Ada"})
	if err != nil || len(s.keys) > 0 {
		t.Errorf("%v, %d requests", err, len(s.keys))
	}
}

func TestEachKeyHasItsOwnIdempotencyKey(t *testing.T) {
	s, resolver := open(t)
	absent, err := resolver.EraseKeys(t.Context(), []string{"cy-key", "nobody-key", "di-key"}, "entry")
	if err != nil || absent != 1 || len(s.keys) != 3 {
		t.Errorf("%d absent, %v, idempotency keys %v", absent, err, s.keys)
	}
}

func TestTheRequestedWaitIsReported(t *testing.T) {
	s, resolver := open(t)
	s.fault(http.StatusTooManyRequests).Inject()
	_, err := resolver.EraseSubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: "ada-ref"}, "entry")
	if later := new(domain.RetryLaterError); !errors.As(err, &later) || later.After != 90*time.Second {
		t.Errorf("%+v", err)
	}
}

func TestARefThatIsAPathIsRefused(t *testing.T) {
	for _, value := range []string{".", ".."} {
		_, err := newsletter.NewResolver("http://127.0.0.1:1", "").
			EraseSubject(t.Context(), domain.SubjectRef{Kind: "newsletter", Value: value}, "entry")
		if refused := new(domain.ResolverError); !errors.As(err, &refused) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

// service is a fake of the newsletter service. If the field status is not 0, it responds to every request with this
// status. After a call of the method hang, it does not respond.
type service struct {
	mu          sync.Mutex
	subscribers map[string]string // addresses by subscriber
	keys        map[string]bool   // the idempotency keys of all requests
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
	s.keys[r.Header.Get("Idempotency-Key")] = true
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
		_, _ = fmt.Fprintf(w, `{"email": %q, "language": "fr", "opened": ["excluded-issue"]}`, address)
	}
}
