package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// client sends HTTP requests as a user. It prints each request and each response.
type client struct {
	base   string
	http   *http.Client
	output io.Writer
	quiet  bool // if true, nothing is printed
}

func newClient(address string, output io.Writer) *client {
	return &client{base: "http://" + address, http: &http.Client{Timeout: 30 * time.Second}, output: output}
}

// exchange sends a request as a user and decodes the response into result, unless result is nil. It returns an error if
// the response has another status than the expected one.
func (c *client) exchange(ctx context.Context, user, method, path string, body any, status int, result any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+user)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	c.printf("\n-> %s %s  (as %s)\n", method, path, user)
	if body != nil {
		c.printf("   %s\n", sent)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	c.printf("<- %s\n", response.Status)
	c.printBody(received)
	if response.StatusCode != status {
		return fmt.Errorf("%s %s: the response has status %s, expected %d", method, path, response.Status, status)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(received, result); err != nil {
		return fmt.Errorf("the response to %s %s cannot be decoded: %w", method, path, err)
	}
	return nil
}

func (c *client) printf(format string, args ...any) {
	if !c.quiet {
		fmt.Fprintf(c.output, format, args...)
	}
}

// printBody prints the body of an export as a table, and any other body as indented JSON.
func (c *client) printBody(body []byte) {
	var export bundle
	if json.Unmarshal(body, &export) == nil && export.Records != nil {
		c.printf("%s", export.table())
		return
	}
	var indented bytes.Buffer
	if json.Indent(&indented, bytes.TrimSpace(body), "   ", "  ") == nil {
		body = indented.Bytes()
	}
	c.printf("   %s\n", body)
}
