package newsletter_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports/porttest"
	"github.com/habeas-data/habeas/tests/guide/internal/newsletter"
)

func TestConformance(t *testing.T) {
	porttest.TestResolver(t, porttest.ResolverHarness{Open: func(t testing.TB) porttest.ResolverSystem {
		t.Helper()
		s := &service{subscribers: map[string]string{"ada-ref": "ada@example.org", "bob-ref": "bob@example.org"}}
		server := httptest.NewServer(s)
		t.Cleanup(server.Close)
		t.Cleanup(s.heal) // the server waits for hanging requests when it closes
		resolver := newsletter.NewResolver(server.URL, "secret-token")
		return porttest.ResolverSystem{
			Resolver:  resolver,
			Populated: domain.SubjectRef{Kind: "newsletter", Value: "ada-ref"},
			Bystander: domain.SubjectRef{Kind: "newsletter", Value: "bob-ref"},
			Absent:    domain.SubjectRef{Kind: "newsletter", Value: "nobody-ref"},
			Excluded:  []string{"excluded-issue"},
			Secrets:   []string{"secret-token", "127.0.0.1", "what the service says"},
			Transient: []porttest.ResolverFault{s.fault(429), s.fault(503), s.fault(302)},
			Permanent: []porttest.ResolverFault{s.fault(401), s.fault(403)},
			Heal:      s.heal,
			Hang:      s.hang,
		}
	}})
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

// service is the newsletter service. It responds to every request with the status, unless the status is 0. After a call
// of hang, it does not respond.
type service struct {
	mu          sync.Mutex
	subscribers map[string]string // addresses by subscriber
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
	id := strings.TrimPrefix(r.URL.Path, "/subscribers/")
	address, known := s.subscribers[id]
	switch {
	case s.status != 0:
		w.Header().Set("Location", "/elsewhere")
		http.Error(w, "what the service says of "+address, s.status)
	case r.Header.Get("Authorization") != "Bearer secret-token":
		w.WriteHeader(http.StatusUnauthorized)
	case !known:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(s.subscribers, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		_, _ = fmt.Fprintf(w, `{"email": %q, "language": "fr", "opened": ["excluded-issue"]}`, address)
	}
}
