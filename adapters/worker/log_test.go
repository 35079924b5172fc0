package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/habeas-data/habeas/adapters/worker"
	"github.com/habeas-data/habeas/domain"
)

const secret = "jane@example.org"

func TestAFailureIsLoggedByItsClass(t *testing.T) {
	foreign := errors.New("insert " + secret)
	for name, c := range map[string]struct {
		err   error
		level string
		class string
		text  any
	}{
		"foreign": {foreign, "ERROR", "internal", nil},
		"timeout": {fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), "WARN", "timeout", nil},
		"unavailable": {
			&domain.Error{Code: domain.ErrUnavailable, Op: "claim", Message: "too busy", Err: foreign},
			"WARN", "unavailable", "habeas: claim: too busy",
		},
		"conflict": {
			&domain.Error{Code: domain.ErrConflict, Op: "settle", Err: foreign},
			"ERROR", "conflict", "habeas: settle: conflict",
		},
		"several": {
			errors.Join(foreign, &domain.Error{Code: domain.ErrSession, Op: "settle", Err: foreign}),
			"ERROR", "session", "habeas: settle: session",
		},
		"canceled without a Stop": {context.Canceled, "ERROR", "canceled", nil},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var log records
				runner := newFake(func(context.Context, int) (int, error) { return 7, c.err })
				started(t, runner, worker.Options{Logger: log.logger()})
				pass(0)
				all := log.Records(t)
				if len(all) != 1 {
					t.Fatalf("%d records", len(all))
				}
				record := all[0]
				if record["level"] != c.level || record["class"] != c.class || record["error"] != c.text ||
					record["settled"] != 7. || record["retry_in"] != float64(5*time.Second) {
					t.Errorf("record %v", record)
				}
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log holds %s", log.String())
				}
			})
		})
	}
}

func TestItSurvivesARunnerThatPanicsOrEndsItsGoroutine(t *testing.T) {
	type personal struct{ mail string }
	bubble(t, func(t *testing.T) {
		var log records
		runner := newFake(func(_ context.Context, n int) (int, error) {
			switch n {
			case 1:
				panic(personal{secret})
			case 2:
				runtime.Goexit()
			case 3:
				panic(errors.New(secret))
			}
			return 0, nil
		})
		w := started(t, runner, worker.Options{Logger: log.logger()})
		for range 170 {
			w.Wake() // no wake shortens the pause
			pass(100 * time.Millisecond)
			if len(log.Records(t)) == 3 {
				break
			}
		}
		runner.wantAt(t, 0, 5*time.Second, 10*time.Second)
		pass(5 * time.Second)
		all := log.Records(t)
		if len(all) != 3 || len(runner.at) < 4 {
			t.Fatalf("%d records, %d batches", len(all), len(runner.at))
		}
		for i, kind := range []string{"worker_test.personal", "<nil>", "*errors.errorString"} {
			stack, _ := all[i]["stack"].(string)
			if all[i]["level"] != "ERROR" || all[i]["class"] != "panic" || all[i]["panic"] != kind ||
				!strings.Contains(stack, "TestItSurvivesARunner") {
				t.Errorf("record %v", all[i])
			}
		}
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %s", log.String())
		}
	})
}

func TestABatchThatEndedBecauseOfAStopIsNotLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log records
		w := newWorker(t, newFake(func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			return 0, &domain.Error{Op: "claim", Message: "ended by its context", Err: ctx.Err()}
		}), worker.Options{Logger: log.logger()})
		w.Start()
		pass(time.Second)
		must(t, w.Stop(0))
		if log.String() != "" {
			t.Errorf("the log holds %s", log.String())
		}
	})
}

func TestAFailureToSettleDuringAStopIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log records
		w := newWorker(t, newFake(func(ctx context.Context, _ int) (int, error) {
			<-ctx.Done()
			return 0, &domain.Error{Code: domain.ErrUnavailable, Op: "settle"}
		}), worker.Options{Logger: log.logger()})
		w.Start()
		pass(time.Second)
		must(t, w.Stop(0))
		if all := log.Records(t); len(all) != 1 || all[0]["class"] != "unavailable" {
			t.Errorf("the log holds %s", log.String())
		}
	})
}

func TestTheDefaultLoggerIsReadForEachRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var log records
		started(t, newFake(func(context.Context, int) (int, error) { return 0, errBroken }), worker.Options{})
		defer slog.SetDefault(slog.Default())
		slog.SetDefault(log.logger())
		pass(6 * time.Second)
		if !strings.Contains(log.String(), "habeas: outbox batch failed") {
			t.Errorf("the log holds %q", log.String())
		}
	})
}
