// Package gin declares the parts of github.com/gin-gonic/gin that docs/integration.md uses. The code of the page
// compiles with this package, so that the module does not require gin.
package gin

import (
	"net/http"
	"slices"
)

// HandlerFunc handles a request.
type HandlerFunc func(*Context)

// Context has a request and its response.
type Context struct {
	Request *http.Request
	Writer  http.ResponseWriter
}

// GetHeader returns a header of the request.
func (c *Context) GetHeader(key string) string { return c.Request.Header.Get(key) }

// Engine has the routes of an application.
type Engine struct{ routes map[string][]HandlerFunc }

// Group returns a group of routes below the prefix, with the middleware.
func (e *Engine) Group(prefix string, middleware ...HandlerFunc) *RouterGroup {
	return &RouterGroup{e, prefix, middleware}
}

// Handle calls the handlers for the pattern in order. RouterGroup.Any registers them.
func (e *Engine) Handle(pattern string, w http.ResponseWriter, r *http.Request) {
	c := &Context{r, w}
	for _, handler := range e.routes[pattern] {
		handler(c)
	}
}

// RouterGroup has routes with a common prefix.
type RouterGroup struct {
	engine     *Engine
	prefix     string
	middleware []HandlerFunc
}

// Any registers handlers for all methods.
func (g *RouterGroup) Any(path string, handlers ...HandlerFunc) {
	if g.engine.routes == nil {
		g.engine.routes = map[string][]HandlerFunc{}
	}
	g.engine.routes[g.prefix+path] = append(slices.Clone(g.middleware), handlers...)
}

// WrapH returns a handler that passes the request to the net/http handler h.
func WrapH(h http.Handler) HandlerFunc {
	return func(c *Context) { h.ServeHTTP(c.Writer, c.Request) }
}
