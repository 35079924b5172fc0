package httpapi

import (
	"cmp"
	"net/http"

	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/domain/observation"
)

// ended returns the status and the outcome of a request, as the observer receives them.
func (r Response) ended() observation.ActivityEnd {
	return observation.ActivityEnd{Outcome: cmp.Or(r.outcome, domain.OutcomeOK), Status: r.Status}
}

// outcomeOf returns the outcome of a failed request. It is domain.ErrInvalid if the status means that the input of the
// request is not valid. It is domain.OutcomeRefused for any other status below 500.
func outcomeOf(status int, err error) domain.Outcome {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		return domain.Outcome(domain.ErrInvalid)
	}
	if status < http.StatusInternalServerError {
		return domain.OutcomeRefused
	}
	return domain.OutcomeOf(err)
}
