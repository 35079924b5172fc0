package httptestsuite

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
)

// raw writes an answer past the server, as it is, and closes the connection once the client has nothing more to say.
func raw(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	write(connection, answer)
	_, _ = io.Copy(io.Discard, buffered)
}

func write(to io.Writer, answer *httptest.ResponseRecorder) {
	_, _ = fmt.Fprintf(to, "HTTP/1.1 %d %s\r\n", answer.Code, http.StatusText(answer.Code))
	_ = answer.Header().Write(to)
	_, _ = fmt.Fprintf(to, "\r\n%s", answer.Body)
}

// leavesBodies is a handler behind a server that takes what is left of a body for the next request on the connection. It
// is one for those clients only that do not say who they are.
type leavesBodies struct{ http.Handler }

func (l leavesBodies) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.UserAgent() != "" {
		l.Handler.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	l.Handler.ServeHTTP(answer, r)
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer connection.Close()
	write(connection, answer)
	reader := bufio.NewReader(buffered)
	for {
		next, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		answer := httptest.NewRecorder()
		l.Handler.ServeHTTP(answer, next)
		write(connection, answer)
	}
}
