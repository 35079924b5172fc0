package acceptance_test

import (
	"testing"

	"github.com/habeas-data/habeas/tests/conformance"
	"github.com/habeas-data/habeas/tests/story"
)

func TestTheStoryIsTheSameOnEveryAdapter(t *testing.T) { story.Play(t, conformance.Kinds()...) }
