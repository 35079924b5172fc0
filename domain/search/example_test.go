package search_test

import (
	"errors"
	"fmt"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/search"
)

// A short value would occur in many rows by chance. The error names the field, and never the value.
func ExampleCheckSearchValues() {
	err := search.CheckSearchValues([]string{"zoe@example.org", "zo"})
	var invalid *domain.Error
	if errors.As(err, &invalid) {
		for _, field := range invalid.Fields {
			fmt.Println(field.Field, field.Message)
		}
	}
	// Output: values[1] must have at least 3 characters
}
