package acceptance_test

import (
	"testing"

	"github.com/habeas-data/habeas/tests/internal/conformance"
	"github.com/habeas-data/habeas/tests/internal/story"
)

func TestTheStoryIsTheSameOnEveryAdapter(t *testing.T) { story.Play(t, conformance.Kinds()...) }
