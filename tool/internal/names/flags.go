package names

import (
	"slices"
	"strings"

	"github.com/habeas-data/habeas/domain/datamap"
)

// IsFlag reports whether a text column holds yes or no, because its default is one of them.
func IsFlag(c datamap.CatalogColumn) bool {
	return c.Type == datamap.TypeText && len(c.Values) == 0 && slices.Contains(flags, strings.ToLower(c.Initial))
}

var flags = []string{"true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "0", "1"}
