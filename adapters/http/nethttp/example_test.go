package nethttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/habeas-data/habeas/adapters/http/httpapi"
	"github.com/habeas-data/habeas/adapters/http/nethttp"
	"github.com/habeas-data/habeas/adapters/persistence/memory"
	"github.com/habeas-data/habeas/app/stack"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// users is the application's only table.
var users = datamap.Table{
	Name: "users", PrimaryKey: []string{"id"}, SubjectKey: []string{"id"},
	Columns: []datamap.Column{
		{Name: "id", Type: datamap.TypeBigInt},
		{Name: "email", Type: datamap.TypeText, Personal: &datamap.Annotation{
			Category: domain.CategoryContact, Strategy: domain.StrategyAnonymize,
		}},
	},
}

// currentSubject trusts a cookie. A real application takes the user from its session or from a verified token.
func currentSubject(r *http.Request) (domain.Subject, error) {
	session, err := r.Cookie("user")
	if err != nil {
		challenge := http.Header{"WWW-Authenticate": {"Bearer"}}
		return domain.Subject{}, &httpapi.StatusError{Status: http.StatusUnauthorized, Header: challenge}
	}
	return domain.NewSubject(session.Value)
}

func ExampleHandler() {
	dataMap, err := datamap.NewDataMap(users)
	check(err)
	store, err := memory.New(dataMap, memory.Options{})
	check(err)
	engines, err := stack.New(stack.Config{Sessions: store, DataMap: dataMap})
	check(err)
	api, err := engines.API(httpapi.Config{})
	check(err)

	rights := nethttp.Handler("/me", api, currentSubject)
	mux := http.NewServeMux()
	mux.Handle("/me", rights)
	mux.Handle("/me/", rights)

	for _, user := range []string{"", "42"} {
		request := httptest.NewRequest(http.MethodGet, "/me/consent/newsletter", nil)
		if user != "" {
			request.AddCookie(&http.Cookie{Name: "user", Value: user})
		}
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		fmt.Println(response.Code)
		fmt.Print(response.Body)
	}
	// Output:
	// 401
	// {"type":"about:blank","title":"Unauthorized","status":401,"detail":"The request was refused."}
	// 200
	// {"subject_id":"42","purpose":"newsletter","granted":false,"policy_version":null,"recorded_at":null,"source":null}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
