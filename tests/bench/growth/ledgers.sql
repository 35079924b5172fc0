-- These statements insert rows of habeas as after years of use: :size consent records, and :size outbox entries that
-- succeeded long ago, with their audit events and the rows that record the erasures. The consent records and entries
-- belong to former users with numbers from :users + 1. Like the ids that habeas creates, the ids grow with time.
INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
SELECT n, purpose, '2026-01', purpose = 'newsletter', TIMESTAMPTZ '2026-01-01 00:00Z' + n * INTERVAL '1 second', 'api'
FROM (VALUES ('newsletter'), ('analytics')) AS purposes (purpose), generate_series(:users + 1, :size / 2) AS n;

INSERT INTO habeas_outbox (entry_id, subject_id, resolver, operation, status, attempts, enqueued_at, last_attempt_at)
SELECT '01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'), :users + n, 'desk', 'erase', 'succeeded', 1, at, at
FROM generate_series(1, :size) AS n, LATERAL (SELECT TIMESTAMPTZ '2020-01-01 00:00Z' + n * INTERVAL '1 second' AS at) AS t;

INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)
SELECT '01900000-0000-7000-8000-' || lpad(to_hex(2 * n + event), 12, '0'), event_type, :users + n,
       TIMESTAMPTZ '2020-01-01 00:00Z' + n * INTERVAL '1 second', payload::jsonb
FROM generate_series(1, :size) AS n, (VALUES
    (0, 'erasure_step_succeeded', '{"target": "desk", "attempts": 1, "external": true, "already_absent": false}'),
    (1, 'erasure_completed', '{}')
) AS events (event, event_type, payload);

INSERT INTO habeas_subject_erasures (subject_id, erased_at, erasures)
SELECT :users + n, TIMESTAMPTZ '2020-01-01 00:00Z' + n * INTERVAL '1 second', 1
FROM generate_series(1, :size) AS n;
