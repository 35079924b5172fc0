package datamap

import (
	"github.com/habeas-data/habeas/domain"
)

// SampledRow is a row of a subject in a preview.
type SampledRow struct {
	Key    []domain.PrivateValue // the primary key
	Values []domain.PrivateValue // in the order of SampleQuery.Columns
}

// StepSample is some rows that a step of an erasure affects, before and after the erasure.
type StepSample struct {
	Step    RehearsedStep
	Path    Path // from the rows to the subject; without relations for the subject's own row
	Columns []string
	Before  []SampledRow
	After   []*SampledRow // for each row of Before; nil if the erasure deletes it
}
