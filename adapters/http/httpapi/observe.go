package httpapi

import (
	"cmp"
	"net/http"

	"github.com/habeas-data/habeas/domain"
)

// ended is what the observer is told at the end of a request.
func (r Response) ended() domain.Ended {
	return domain.Ended{Outcome: cmp.Or(r.outcome, domain.OutcomeOK), Status: r.Status}
}

// outcomeOf is the outcome of a request that failed with an error and a status. The fault is the client's below 500: of
// its input where the API has checked that, else the application has refused it.
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
