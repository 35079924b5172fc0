package memory

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/datamap"
)

// surrogate returns the value that overwrites a cell of the column. It is NULL or a constant if the data map says so.
// Otherwise it is a value of the column's type. For texts, UUIDs and constants with a placeholder, each call returns a
// different value.
func surrogate(column datamap.Column) any {
	if column.Personal != nil && column.Personal.Strategy == domain.StrategyNull {
		return nil
	}
	if _, ok := column.Constant(); ok {
		constant, _ := constantOf(column) // New has checked that the constant fits
		return constant
	}
	switch column.Type {
	case datamap.TypeText:
		return column.DefaultText(hex.EncodeToString(random()))
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		return int64(0)
	case datamap.TypeNumber:
		return float64(0)
	case datamap.TypeBoolean:
		return false
	case datamap.TypeTime:
		return time.Unix(0, 0).UTC()
	case datamap.TypeUUID:
		return randomUUID()
	case datamap.TypeJSON:
		return domain.JSON("{}")
	case datamap.TypeArray:
		return domain.JSON("[]")
	case datamap.TypeBytes:
		return []byte{}
	}
	return ""
}

// randomUUID returns a UUID of version 4 (RFC 9562, section 5.4).
func randomUUID() string {
	id := random()
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	digits := hex.EncodeToString(id)
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

func random() []byte {
	bits := make([]byte, 16)
	_, _ = rand.Read(bits) // never fails: it ends the process if the system has no randomness
	return bits
}

// checkConstants returns an error if a surrogate constant does not fit its column.
func checkConstants(dataMap datamap.DataMap) error {
	for _, table := range dataMap.Tables() {
		for _, column := range table.Personal() {
			if _, ok := constantOf(column); !ok {
				return manifestError("memory", table.Name+"."+column.Name+": its surrogate does not fit its type")
			}
		}
	}
	return nil
}

// constantOf returns the surrogate constant of a column, as a value of the column's type. A placeholder in the constant
// is replaced by random digits. constantOf returns nil if the column has no constant. ok is false if the constant does
// not fit the column.
func constantOf(column datamap.Column) (constant any, ok bool) {
	if _, ok := column.Constant(); !ok {
		return nil, true
	}
	var err error
	text := column.Filled(hex.EncodeToString(random()))
	switch column.Type { //nolint:exhaustive // the other types hold texts
	case datamap.TypeSmallInt, datamap.TypeInteger, datamap.TypeBigInt:
		constant, err = strconv.ParseInt(text, 10, 64)
	case datamap.TypeNumber:
		constant, err = strconv.ParseFloat(text, 64)
	case datamap.TypeBoolean:
		constant, err = strconv.ParseBool(text)
	case datamap.TypeTime:
		if constant, err = time.Parse(time.RFC3339, text); err != nil {
			constant, err = time.Parse(time.DateOnly, text)
		}
	case datamap.TypeJSON, datamap.TypeArray:
		constant = domain.JSON(text)
	case datamap.TypeBytes:
		constant = []byte(text)
	default:
		constant = text
	}
	if err != nil {
		return nil, false
	}
	return storable(column, constant)
}
