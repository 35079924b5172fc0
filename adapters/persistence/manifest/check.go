package manifest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/habeas-data/habeas/domain"
)

var textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()

// check holds a JSON value against a type, and says where it does not fit. encoding/json alone would take members that
// are there twice or in another case, and null for everything.
func check(value json.RawMessage, t reflect.Type, where string) error {
	switch {
	case t.Kind() == reflect.Pointer:
		return check(value, t.Elem(), where)
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(textUnmarshaler):
		return checkObject(value, t, where)
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if err := json.Unmarshal(value, &elements); err != nil || elements == nil {
			return fault(where, "must be a list")
		}
		for i, element := range elements {
			if err := check(element, t.Elem(), where+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		return nil
	}
	err := json.Unmarshal(value, reflect.New(t).Interface())
	var own *domain.Error
	switch {
	case errors.As(err, &own):
		return fault(where, own.Message)
	case err != nil || string(value) == "null":
		return fault(where, "has a value of the wrong type")
	}
	return nil
}

func checkObject(value json.RawMessage, t reflect.Type, where string) error {
	members := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		members[name] = t.Field(i).Type
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	if opening, err := decoder.Token(); err != nil || opening != json.Delim('{') {
		return fault(where, "must be an object")
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, _ := decoder.Token() // the value has been parsed before
		name, _ := token.(string)
		place := strings.TrimPrefix(where+"."+name, ".")
		var member json.RawMessage
		_ = decoder.Decode(&member)
		if members[name] == nil || seen[name] {
			return fault(place, map[bool]string{true: "is there twice", false: "is unknown"}[seen[name]])
		}
		seen[name] = true
		if err := check(member, members[name], place); err != nil {
			return err
		}
	}
	return nil
}
