package httpapi

import (
	"cmp"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// ended returns the result of a request for the observer.
func (r Response) ended() domain.Ended {
	return domain.Ended{Outcome: cmp.Or(r.outcome, domain.OutcomeOK), Status: r.Status}
}

// outcomeOf returns the outcome of a request that failed with an error and a status. If the API has found the input
// invalid, the outcome is invalid. For another status below 500, the application has refused the request.
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
