package saga

import (
	"time"

	"github.com/habeas-data/habeas/domain"
)

// outcome is the result of the processing of one claimed outbox entry.
type outcome struct {
	settlement    domain.Settlement
	alreadyAbsent bool
	ifYoung       *domain.Settlement // replaces settlement if the first attempt was more recent than GiveUpAfter
	cause         error              // the error of the attempt; nil if there was no error
}

// outcomeOf decides about an entry after an attempt: it has succeeded, it is spared, it is retried after a wait, it is
// abandoned, or it returns to the outbox.
func (r *Runner) outcomeOf(a attempted) outcome {
	switch {
	case a.lost:
		return abandoned(a.entry, "lost", nil)
	case !a.called:
		return outcome{settlement: domain.Settlement{Entry: a.entry, Status: domain.OutboxPending}}
	case a.answer.spared:
		return outcome{settlement: domain.Settlement{Entry: a.entry, Status: domain.OutboxSpared}}
	case a.answer.err == nil:
		return outcome{
			settlement:    domain.Settlement{Entry: a.entry, Status: domain.OutboxSucceeded},
			alreadyAbsent: a.answer.alreadyAbsent,
		}
	case a.answer.refused:
		return abandoned(a.entry, a.answer.class, a.answer.err)
	default:
		return r.fail(a.entry, a.answer)
	}
}

// fail returns the outcome of a failed attempt. The entry is abandoned if this was its last attempt, and otherwise
// retried. No entry is older than its intake, so fail compares the intake first. The runner reads the first attempt
// only if the intake is too old (see spareYoung). A first attempt is never too old.
func (r *Runner) fail(entry domain.OutboxEntry, a answer) outcome {
	retryAt := domain.Instant(r.config.Clock.Now().Add(r.backoff(entry.Attempts, a.after)))
	failed := outcome{settlement: domain.Settlement{
		Entry: entry, Status: domain.OutboxFailed, LastError: a.class, NextAttemptAt: &retryAt,
	}, cause: a.err}
	tooOften := r.config.MaxAttempts > 0 && entry.Attempts >= r.config.MaxAttempts
	if !tooOften && (entry.Attempts <= 1 || !r.isTooOld(entry.EnqueuedAt)) {
		return failed
	}
	given := abandoned(entry, a.class, a.err)
	if !tooOften {
		given.ifYoung = &failed.settlement
	}
	return given
}

func abandoned(entry domain.OutboxEntry, class string, cause error) outcome {
	return outcome{
		settlement: domain.Settlement{Entry: entry, Status: domain.OutboxAbandoned, LastError: class}, cause: cause,
	}
}

// isTooOld reports whether to give up an entry whose first attempt was at the given time.
func (r *Runner) isTooOld(since time.Time) bool {
	return r.config.Clock.Now().Sub(since) >= r.config.GiveUpAfter
}
