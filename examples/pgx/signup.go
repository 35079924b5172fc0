package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"

	"github.com/habeas-data/habeas/app"
	"github.com/habeas-data/habeas/domain"
	"github.com/habeas-data/habeas/ports"
)

// signUp inserts a user with pgx, and records the consent of the user with habeas. Both are in one transaction.
func signUp(ctx context.Context, db *bun.DB, gdpr *app.Integration, email string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // has no effect after the commit
	var id int64
	err = conn.Raw(func(driver any) error { // do not use tx in this function: the statement would wait forever
		connection, ok := driver.(*stdlib.Conn)
		if !ok {
			return errors.New("the driver is not pgx")
		}
		const insert = "INSERT INTO users (email) VALUES ($1) RETURNING id"
		return connection.Conn().QueryRow(ctx, insert, email).Scan(&id) // with sqlc: store.New(connection.Conn())
	})
	if err != nil {
		return err
	}
	user, err := domain.NewSubjectID(strconv.FormatInt(id, 10))
	if err != nil {
		return err
	}
	joined, err := gdpr.Join(tx)
	if err != nil {
		return err
	}
	err = joined.Do(ctx, func(ctx context.Context, s ports.Session) error {
		_, err := gdpr.Stack().Consent.Record(ctx, s, user, domain.ConsentDecision{
			Purpose: "newsletter", PolicyVersion: "2026-01", Granted: true, Source: "sign-up form",
		})
		return err
	})
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	joined.Committed(ctx) // calls the hooks that run after a commit
	return nil
}
