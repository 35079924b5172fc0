package growth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/habeas-data/habeas/tests/bench/process"
)

// statusOver sends a request for the consent status of a user, and checks that the consent is granted.
func statusOver(ctx context.Context, server *process.Server, user int64) (time.Duration, error) {
	body, took, err := send(ctx, server, http.MethodGet, "/me/consent/newsletter", user)
	if err != nil {
		return 0, err
	}
	var status struct{ Granted bool }
	if err := json.Unmarshal(body, &status); err != nil {
		return 0, err
	}
	if !status.Granted {
		return 0, errors.New("a consent was not found")
	}
	return took, nil
}

// exportOver sends a request for the export of a user, and checks that the export contains all rows. It returns the
// size of the export in bytes, and the duration.
func exportOver(ctx context.Context, server *process.Server, user int64, rows int) (int64, time.Duration, error) {
	body, took, err := send(ctx, server, http.MethodGet, "/me/export", user)
	if err != nil {
		return 0, 0, err
	}
	var bundle struct{ Records []struct{ Field string } }
	if err := json.Unmarshal(body, &bundle); err != nil {
		return 0, 0, fmt.Errorf("an export is broken: %w", err)
	}
	if got, want := len(bundle.Records), recordsOf(rows); got != want {
		return 0, 0, fmt.Errorf("an export has %d records, want %d", got, want)
	}
	return int64(len(body)), took, nil
}

// recordsOf returns the number of records in an export of a user who has the given number of rows in the shop. The row
// of the user and the two addresses have four records each, and the other rows have three. The export also has two rows
// of the consent ledger, with five records each.
func recordsOf(rows int) int { return 3*rows + 3 + 5*2 }

// eraseOver sends a request for the erasure of a user, and checks that all orders of the user were anonymized.
func eraseOver(ctx context.Context, server *process.Server, user int64, rows int) (time.Duration, error) {
	body, took, err := send(ctx, server, http.MethodDelete, "/me", user)
	if err != nil {
		return 0, err
	}
	var result struct{ Anonymized map[string]int }
	if err := json.Unmarshal(body, &result); err != nil {
		return 0, err
	}
	if got, want := result.Anonymized["orders"], rows-SmallestSubject+ordersOfUser; got != want {
		return 0, fmt.Errorf("%d orders were anonymized, want %d", got, want)
	}
	return took, nil
}

// send sends a request of a user to a server. It returns the body, and the time until the last byte of the response.
func send(ctx context.Context, server *process.Server, method, path string, user int64) ([]byte, time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+server.Address+path, http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+strconv.FormatInt(user, 10))
	begin := time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, 0, fmt.Errorf("the response to %s %s ended early: %w", method, path, err)
	}
	took := time.Since(begin)
	if response.StatusCode != http.StatusOK {
		return nil, 0, fmt.Errorf("the response to %s %s has status %d", method, path, response.StatusCode)
	}
	return body, took, nil
}
