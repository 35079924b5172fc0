package httpapi

import (
	_ "embed" // for openapi.json
	"encoding/json"
	"maps"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

// fullDocument is the OpenAPI document of all endpoints, with paths relative to the prefix and without tags.
//
//go:embed openapi.json
var fullDocument []byte

// document is an OpenAPI document. The parts that do not depend on the prefix and the options stay raw JSON.
type document struct {
	OpenAPI    string              `json:"openapi"`
	Info       json.RawMessage     `json:"info"`
	Tags       []tag               `json:"tags,omitempty"`
	Paths      map[string]pathItem `json:"paths"`
	Components components          `json:"components"`
}

type tag struct {
	Name string `json:"name"`
}

type pathItem struct {
	Parameters []parameter `json:"parameters,omitempty"` // the parameters of the prefix
	Get        *described  `json:"get,omitempty"`
	Post       *described  `json:"post,omitempty"`
	Delete     *described  `json:"delete,omitempty"`
}

type described struct {
	Tags        []string        `json:"tags,omitempty"`
	OperationID string          `json:"operationId"`
	Summary     string          `json:"summary"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	RequestBody json.RawMessage `json:"requestBody,omitempty"`
	Responses   json.RawMessage `json:"responses"`
}

type parameter struct {
	Name     string            `json:"name"`
	In       string            `json:"in"`
	Required bool              `json:"required"`
	Schema   map[string]string `json:"schema"`
}

type components struct {
	Responses json.RawMessage            `json:"responses"`
	Schemas   map[string]json.RawMessage `json:"schemas"`
}

// OpenAPI returns the OpenAPI 3.1 document of the API as indented JSON. The prefix is the path under which the API is
// mounted. The same API and prefix always give the same bytes. The document does not describe the authentication,
// because the application authenticates requests.
//
// The prefix may be empty, "/" or a path such as "/me". Slashes at its start and end make no difference. It may have
// parameters in braces, as in "/{tenant}/me". OpenAPI returns domain.ErrConfiguration if a parameter lacks a brace,
// occurs twice or has the name purpose.
func (a *API) OpenAPI(prefix string) ([]byte, error) {
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix = "/" + prefix
	}
	parameters, err := prefixParameters(prefix)
	if err != nil {
		return nil, err
	}
	var all document
	if err := json.Unmarshal(fullDocument, &all); err != nil {
		return nil, err
	}
	mounted := all
	mounted.Paths = map[string]pathItem{}
	if !a.config.Consent.Purposes().Declared() {
		consent := all.Paths["/consent"]
		consent.Get = nil
		all.Paths["/consent"] = consent
		delete(mounted.Components.Schemas, "ConsentStatuses")
	}
	for _, endpoint := range a.endpoints {
		item := all.Paths[endpoint.Path]
		item.Parameters = parameters
		for _, operation := range []*described{item.Get, item.Post, item.Delete} {
			if operation != nil {
				operation.Tags = a.tags
			}
		}
		mounted.Paths[under(prefix, endpoint.Path)] = item
	}
	for _, name := range a.tags {
		mounted.Tags = append(mounted.Tags, tag{name})
	}
	if !a.hasRestriction {
		maps.DeleteFunc(mounted.Components.Schemas, func(name string, _ json.RawMessage) bool {
			return strings.HasPrefix(name, "Restriction")
		})
	}
	return json.MarshalIndent(mounted, "", "  ")
}

// under returns the complete path of an endpoint: the prefix and the path of the endpoint.
func under(prefix, path string) string {
	if path == "/" && prefix != "" {
		return prefix
	}
	return prefix + path
}

// prefixParameters returns the OpenAPI descriptions of the parameters in the prefix.
func prefixParameters(prefix string) ([]parameter, error) {
	var found []parameter
	seen := map[string]bool{"purpose": true} // reserved for the path parameter of the API
	for rest := prefix; strings.ContainsAny(rest, "{}"); {
		before, after, opened := strings.Cut(rest, "{")
		name, behind, closed := strings.Cut(after, "}")
		valid := opened && closed && name != "" && !strings.Contains(before, "}") && !strings.ContainsAny(name, "{/")
		if !valid || seen[name] {
			return nil, domain.Misconfigured("openapi", "the prefix has parameters that are not valid")
		}
		seen[name] = true
		found = append(found, parameter{name, "path", true, map[string]string{"type": "string"}})
		rest = behind
	}
	return found, nil
}
