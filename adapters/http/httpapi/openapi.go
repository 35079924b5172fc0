package httpapi

import (
	"bytes"
	_ "embed" // for openapi.json
	"encoding/json"
	"maps"
	"net/http"
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
	Responses map[string]json.RawMessage `json:"responses"`
	Schemas   map[string]json.RawMessage `json:"schemas"`
}

// OpenAPI returns the OpenAPI 3.1 document of the API as indented JSON. The prefix is the path under which the API is
// mounted. The same API and prefix always give the same bytes. The document does not describe the authentication,
// because the application authenticates requests.
//
// The prefix may be empty, "/" or a path such as "/me". Slashes at its start and end make no difference. It may have
// parameters in braces, as in "/{tenant}/me". OpenAPI returns domain.ErrConfiguration if a parameter lacks a brace,
// occurs twice or has the name of a parameter of an endpoint.
func (a *API) OpenAPI(prefix string) ([]byte, error) {
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix = "/" + prefix
	}
	parameters, err := a.prefixParameters(prefix)
	if err != nil {
		return nil, err
	}
	var all document
	if err := json.Unmarshal(fullDocument, &all); err != nil {
		return nil, err
	}
	mounted := all
	mounted.Paths = map[string]pathItem{}
	for _, endpoint := range a.endpoints {
		path := under(prefix, endpoint.Path)
		item := mounted.Paths[path]
		item.Parameters = parameters
		item.add(endpoint.Method, all.Paths[endpoint.Path], a.tags)
		mounted.Paths[path] = item
	}
	for _, name := range a.tags {
		mounted.Tags = append(mounted.Tags, tag{name})
	}
	if err := mounted.dropUnused(); err != nil {
		return nil, err
	}
	return json.MarshalIndent(mounted, "", "  ")
}

// add copies the operation of a method, with the tags.
func (i *pathItem) add(method string, from pathItem, tags []string) {
	switch method {
	case http.MethodGet:
		i.Get = from.Get
		i.Get.Tags = tags
	case http.MethodPost:
		i.Post = from.Post
		i.Post.Tags = tags
	case http.MethodDelete:
		i.Delete = from.Delete
		i.Delete.Tags = tags
	}
}

// dropUnused removes the responses and schemas of endpoints that are not mounted.
func (d *document) dropUnused() error {
	parts := &d.Components
	for before := -1; before != len(parts.Schemas)+len(parts.Responses); { // what is removed may have been the only user
		before = len(parts.Schemas) + len(parts.Responses)
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		drop := func(from map[string]json.RawMessage, kind string) {
			maps.DeleteFunc(from, func(name string, _ json.RawMessage) bool {
				return !bytes.Contains(text, []byte(`"#/components/`+kind+`/`+name+`"`))
			})
		}
		drop(parts.Responses, "responses")
		drop(parts.Schemas, "schemas")
	}
	return nil
}

// under returns the complete path of an endpoint: the prefix and the path of the endpoint.
func under(prefix, path string) string {
	if path == "/" && prefix != "" {
		return prefix
	}
	return prefix + path
}

// prefixParameters returns the OpenAPI descriptions of the parameters in the prefix.
func (a *API) prefixParameters(prefix string) ([]parameter, error) {
	var found []parameter
	seen := map[string]bool{}
	for _, endpoint := range a.endpoints {
		if _, name, ok := strings.Cut(endpoint.Path, "{"); ok {
			seen[strings.TrimSuffix(name, "}")] = true
		}
	}
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
