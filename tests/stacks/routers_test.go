package stacks

import (
	"context"
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
	// import "github.com/gofiber/fiber/v2", "github.com/habeas-data/habeas/domain"
	server.Route("/me", gdpr.Router(func(c *fiber.Ctx) (domain.Subject, error) {
		return domain.NewSubject(c.Get("X-User")) // trusts a header: use your authentication instead
	}))
}

// signedIn is the subject provider of the routers for net/http.
//
// import "net/http", "github.com/habeas-data/habeas/adapters/http/httpapi", "github.com/habeas-data/habeas/domain"
func signedIn(r *http.Request) (domain.Subject, error) {
	id := r.Header.Get("X-User") // trusts a header: use your authentication instead
	if id == "" {
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized}
	}
	return domain.NewSubject(id)
}

func mountOnNetHTTP(mux *http.ServeMux, gdpr *app.Integration) {
	// import "net/http"
	gdpr.Mount(mux, "/me", signedIn)
}

func mountOnChi(router chi.Router, gdpr *app.Integration) {
	// import "github.com/go-chi/chi/v5"
	router.Mount("/me", gdpr.Handler("/me", signedIn))
}

func mountOnEcho(server *echo.Echo, gdpr *app.Integration) {
	// import "github.com/labstack/echo/v4"
	rights := echo.WrapHandler(gdpr.Handler("/me", signedIn))
	server.Any("/me", rights)
	server.Any("/me/*", rights)
}

// import "context", "net/http", "github.com/labstack/echo/v4", "github.com/habeas-data/habeas/domain"
func mountWithUser(server *echo.Echo, gdpr *app.Integration) {
	type key struct{}
	rights := gdpr.Handler("/me", func(r *http.Request) (domain.Subject, error) {
		id, _ := r.Context().Value(key{}).(string)
		return domain.NewSubject(id) // fails for an empty id
	})
	serve := func(c echo.Context) error {
		ctx := context.WithValue(c.Request().Context(), key{}, c.Get("user")) // set by your authentication
		rights.ServeHTTP(c.Response(), c.Request().WithContext(ctx))
		return nil
	}
	server.Any("/me", serve)
	server.Any("/me/*", serve)
}

// import "net/http", "github.com/labstack/echo/v4"
func mountWithToken(server *echo.Echo, gdpr *app.Integration, userOf func(token string) string) {
	rights := gdpr.Handler("/me", signedIn)
	serve := func(c echo.Context) error {
		r := c.Request().Clone(c.Request().Context())
		r.Header.Set("X-User", userOf(c.Param("token"))) // replaces what the client has sent
		http.StripPrefix("/t/"+c.Param("token"), rights).ServeHTTP(c.Response(), r)
		return nil
	}
	server.Any("/t/:token/me", serve)
	server.Any("/t/:token/me/*", serve)
}

func mountOnGin(engine *gin.Engine, gdpr *app.Integration) {
	// import "github.com/gin-gonic/gin"
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
		"echo with its own user": func(gdpr *app.Integration) (string, http.Handler) {
			server := echo.New()
			server.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
				return func(c echo.Context) error {
					c.Set("user", c.Request().Header.Get("X-User"))
					return next(c)
				}
			})
			mountWithUser(server, gdpr)
			return "/me", server
		},
		"echo with a token in the path": func(gdpr *app.Integration) (string, http.Handler) {
			server := echo.New()
			mountWithToken(server, gdpr, func(token string) string { return map[string]string{"s3cret": "1"}[token] })
			return "/t/s3cret/me", server
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
