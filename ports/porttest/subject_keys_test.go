package porttest

import (
	"slices"
	"time"

	"github.com/habeas-data/habeas/domain/datamap"
)

// changesKeys returns a function that makes a store defective: its Keys passes the keys through fn before it returns
// them.
func changesKeys(fn func(keys []string) []string) func(*Store) {
	return brokenSubjects{keys: func(c subjectCall) ([]string, error) {
		keys, err := c.readKeys()
		return fn(keys), err
	}}.breaks
}

// changesKeyQuery returns a function that makes a store defective: its Keys passes its query through fn before it uses
// the query.
func changesKeyQuery(fn func(c *subjectCall)) func(*Store) {
	return brokenSubjects{keys: func(c subjectCall) ([]string, error) {
		fn(&c)
		return c.readKeys()
	}}.breaks
}

// withHeldKeys is a defective Keys. In an erasure, it also returns the keys in messages that retained cells hold.
func withHeldKeys(c subjectCall) ([]string, error) {
	keys, err := c.readKeys()
	if err != nil || c.query.ErasedAt.IsZero() {
		return keys, err
	}
	c.query.ErasedAt, c.query.Cells = time.Time{}, &datamap.KeyCells{Table: "messages", Column: "body"}
	held, err := c.readKeys()
	keys = append(keys, held...)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return keys[:min(len(keys), c.query.Limit)], err
}

func keyDefects() defects {
	const differ = "are not the"
	return defects{
		"a key twice": {changesKeys(func(keys []string) []string {
			if len(keys) == 0 {
				return keys
			}
			return append(keys[:1:1], keys...)
		}), found{differ: {subjectKeysAreRead, subjectKeysOmitRetainedCells}, "a page has": {subjectKeysComeInPages}}},
		"an empty key": {changesKeys(func(keys []string) []string {
			return append([]string{""}, keys...)
		}), found{differ: {subjectKeysAreRead, subjectKeysOmitRetainedCells, subjectKeysComeInPages}}},
		"keys in another order": {changesKeys(func(keys []string) []string {
			keys = slices.Clone(keys)
			slices.Reverse(keys)
			return keys
		}), found{differ: {subjectKeysAreRead, subjectKeysOmitRetainedCells}, "a page has": {subjectKeysComeInPages}}},
		"the keys of all systems": {changesKeyQuery(func(c *subjectCall) {
			c.query.Resolver = media
		}), found{differ: {subjectKeysAreRead}}},
		"a page that begins again": {changesKeyQuery(func(c *subjectCall) {
			c.query.After = ""
		}), found{"a page has": {subjectKeysComeInPages}}},
		"no limit": {changesKeyQuery(func(c *subjectCall) { c.query.Limit = 100 }), found{
			differ: {subjectKeysComeInPages},
		}},
		"the keys of all cells": {changesKeyQuery(func(c *subjectCall) { c.query.Cells = nil }), found{
			differ: {subjectKeysOfCells},
		}},
		"the keys of all rows": {changesKeyQuery(func(c *subjectCall) {
			if c.query.Cells != nil {
				c.query.Cells = &datamap.KeyCells{Table: c.query.Cells.Table, Column: c.query.Cells.Column}
			}
		}), found{differ: {subjectKeysOfCells}}},
		"the keys of retained cells": {changesKeyQuery(func(c *subjectCall) { c.query.ErasedAt = time.Time{} }), found{
			differ: {subjectKeysOmitRetainedCells, subjectKeysOmitHeldKeys, subjectKeysOfSharedRows},
		}},
		"keys that retained cells hold": {brokenSubjects{keys: withHeldKeys}.breaks, found{
			"while the duty goes on": {subjectKeysOmitHeldKeys},
		}},
		"pages without the keys that retained cells hold": {brokenSubjects{keys: func(c subjectCall) ([]string, error) {
			page, err := withHeldKeys(c)
			if err != nil || c.query.Limit > 1 {
				return c.readKeys()
			}
			c.query.Limit = 100
			right, err := c.readKeys()
			return slices.DeleteFunc(page, func(key string) bool { return !slices.Contains(right, key) }), err
		}}.breaks, found{"the first page": {subjectKeysOmitHeldKeys}}},
		"the keys of other people": {changesKeyQuery(func(c *subjectCall) { c.query.Held = true }), found{
			"in an export": {subjectKeysOfSharedRows},
		}},
		"no keys of other people": {changesKeyQuery(func(c *subjectCall) { c.query.Held = false }), found{
			"after a rectification": {subjectKeysOfSharedRows},
		}},
		"no keys of rows that have two paths to the subject": {changesKeys(func(keys []string) []string {
			return slices.DeleteFunc(keys, func(key string) bool { return key == "d" && !slices.Contains(keys, "a") })
		}), found{"in an erasure": {subjectKeysOfSharedRows}}},
		"duties that never end for keys": {changesKeyQuery(func(c *subjectCall) {
			if !c.query.ErasedAt.IsZero() {
				c.query.ErasedAt = issued
			}
		}), found{differ: {subjectKeysOmitRetainedCells}}},
		"the keys of another subject": {brokenSubjects{keys: func(c subjectCall) ([]string, error) {
			keys, err := c.readKeys()
			if err != nil || len(keys) == 0 {
				return keys, err
			}
			keys = append(keys, others[0].says("engraving"))
			slices.Sort(keys)
			return keys[:min(len(keys), c.query.Limit)], nil
		}}.breaks, found{differ: {subjectKeysAreRead, subjectKeysOmitRetainedCells, subjectKeysComeInPages}}},
	}
}
