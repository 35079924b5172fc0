package sqlitestore

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
)

// randomUUID is a UUID of version 4 (RFC 9562, section 5.4), another one for each cell.
const randomUUID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-' ||
	substr('89AB', 1 + (random() & 3), 1) || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`

// surrogate is the SQL of what anonymizes a cell, with its arguments: the constant that the data map has for the column,
// which has to fit, or else what its type allows.
func surrogate(column domain.Column) (expression string, args []any, ok bool) {
	if column.Surrogate != "" {
		constant, ok := constantOf(column)
		return `?`, []any{constant}, ok
	}
	switch column.Type {
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt, domain.TypeNumber, domain.TypeBoolean:
		return `0`, nil, true
	case domain.TypeTime:
		return `'` + stamp(time.Unix(0, 0)) + `'`, nil, true
	case domain.TypeUUID:
		return randomUUID, nil, true
	case domain.TypeJSON:
		return `'{}'`, nil, true
	case domain.TypeArray:
		return `'[]'`, nil, true
	case domain.TypeBytes:
		return `x''`, nil, true
	case domain.TypeText:
	}
	const prefix, least, digits = "anon-", 12, 32
	random := `lower(hex(randomblob(16)))`
	switch length := column.Length; {
	case length == 0 || length >= len(prefix)+digits:
		return `'anon-' || ` + random, nil, true
	case length >= len(prefix)+least:
		return `substr('anon-' || ` + random + `, 1, ` + strconv.Itoa(length) + `)`, nil, true
	default: // the digits make it unique
		return `substr(` + random + `, 1, ` + strconv.Itoa(length) + `)`, nil, true
	}
}

// constantOf reads the constant of a column, as its type has it.
func constantOf(column domain.Column) (any, bool) {
	var constant any = column.Surrogate
	var err error
	switch column.Type { //nolint:exhaustive // the others are texts
	case domain.TypeSmallInt, domain.TypeInteger, domain.TypeBigInt:
		constant, err = strconv.ParseInt(column.Surrogate, 10, 64)
	case domain.TypeNumber:
		constant, err = strconv.ParseFloat(column.Surrogate, 64)
	case domain.TypeBoolean:
		constant, err = strconv.ParseBool(column.Surrogate)
	case domain.TypeTime:
		if constant, err = time.Parse(time.RFC3339, column.Surrogate); err != nil {
			constant, err = time.Parse(time.DateOnly, column.Surrogate)
		}
	case domain.TypeJSON, domain.TypeArray:
		constant = domain.JSON(column.Surrogate)
	case domain.TypeBytes:
		constant = []byte(column.Surrogate)
	}
	if err != nil {
		return nil, false
	}
	if document, ok := constant.(domain.JSON); ok && !json.Valid([]byte(document)) {
		return nil, false
	}
	return encode(column, constant)
}
