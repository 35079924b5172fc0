package stacks

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gofiber/fiber/v2"
	"github.com/labstack/echo/v4"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
)

func mountOnFiber(server *fiber.App, gdpr *app.Integration) {
	server.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) {
		return domain.NewSubject(c.Get("X-User")) // trusts a header: use your authentication instead
	}))
}

// signedIn is the subject provider of the routers for net/http.
func signedIn(r *http.Request) (domain.Subject, error) {
	id := r.Header.Get("X-User") // trusts a header: use your authentication instead
	if id == "" {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func mountOnNetHTTP(mux *http.ServeMux, gdpr *app.Integration) {
	gdpr.Mount(mux, "/me", signedIn)
}

func mountOnChi(router chi.Router, gdpr *app.Integration) {
	router.Mount("/me", gdpr.Handler("/me", signedIn))
}

func mountOnEcho(server *echo.Echo, gdpr *app.Integration) {
	rights := echo.WrapHandler(gdpr.Handler("/me", signedIn))
	server.Any("/me", rights)
	server.Any("/me/*", rights)
}

func mountOnGin(engine *gin.Engine, gdpr *app.Integration) {
	rights := gin.WrapH(gdpr.Handler("/me/privacy", signedIn))
	methods := []string{"GET", "HEAD", "POST", "DELETE"} // DELETE /me/privacy is the erasure
	engine.Match(methods, "/me/privacy", rights)
	engine.Match(methods, "/me/privacy/*path", rights)
}

func TestTheRightsOnEachRouter(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	for name, mount := range map[string]func(gdpr *app.Integration) (prefix string, server http.Handler){
		"net/http": func(gdpr *app.Integration) (string, http.Handler) {
			mux := http.NewServeMux()
			mountOnNetHTTP(mux, gdpr)
			return "/me", mux
		},
		"chi": func(gdpr *app.Integration) (string, http.Handler) {
			router := chi.NewRouter()
			mountOnChi(router, gdpr)
			return "/me", router
		},
		"echo": func(gdpr *app.Integration) (string, http.Handler) {
			server := echo.New()
			mountOnEcho(server, gdpr)
			return "/me", server
		},
		"gin": func(gdpr *app.Integration) (string, http.Handler) {
			engine := gin.New()
			mountOnGin(engine, gdpr)
			return "/me/privacy", engine
		},
		"Fiber": func(gdpr *app.Integration) (string, http.Handler) {
			server := fiber.New()
			mountOnFiber(server, gdpr)
			return "/me", inFiber{t, server}
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := withPgx(newShop(t))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			gdpr, err := newIntegration(db, personalData)
			if err != nil {
				t.Fatal(err)
			}
			if err := gdpr.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			prefix, server := mount(gdpr)
			for _, step := range []struct{ method, path, body, want string }{
				{http.MethodPost, "/consent", `{"purpose":"a/b","policy_version":"1","granted":true}`, `"granted":true`},
				{http.MethodGet, "/consent/a%2Fb", "", `"a/b"`},
				{http.MethodGet, "/export", "", "zoe@example.org"},
				{http.MethodDelete, "", "", `"anonymized":{"users":1}`},
			} {
				request := httptest.NewRequest(step.method, prefix+step.path, strings.NewReader(step.body))
				request.Header.Set("X-User", "1")
				request.Header.Set("Content-Type", "application/json")
				response := httptest.NewRecorder()
				server.ServeHTTP(response, request)
				if response.Code/100 != 2 || !strings.Contains(response.Body.String(), step.want) {
					t.Errorf("%s %s: %d %s", step.method, step.path, response.Code, response.Body)
				}
			}
		})
	}
}

// inFiber sends requests to a Fiber server.
type inFiber struct {
	t      *testing.T
	server *fiber.App
}

func (f inFiber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response, err := f.server.Test(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer response.Body.Close()
	w.WriteHeader(response.StatusCode)
	if _, err := io.Copy(w, response.Body); err != nil {
		f.t.Fatal(err)
	}
}
