-- These statements insert rows for the users 1 to :users. As in a real shop, the orders of one user are not next to each
-- other in the table: orders of other users are between them.
INSERT INTO users (id, email, name, phone, last_seen, theme, created_at)
SELECT n, 'user' || n || '@example.com', 'Erika Mustermann ' || n, '+49 30 ' || (1000000 + n),
       TIMESTAMPTZ '2026-01-01 00:00Z' + n * INTERVAL '1 second', 'dark',
       TIMESTAMPTZ '2020-01-01 00:00Z' + n * INTERVAL '1 minute'
FROM generate_series(1, :users) AS n;

INSERT INTO addresses (id, user_id, street, postcode, city, country)
SELECT n, 1 + (n - 1) % :users, 'Musterstraße ' || n % 200, (10000 + n % 89999)::text, 'Berlin', 'DE'
FROM generate_series(1, 2 * :users) AS n;

INSERT INTO logins (id, user_id, ip, user_agent, logged_in_at)
SELECT n, 1 + (n - 1) % :users, '192.0.2.' || n % 256, 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101',
       TIMESTAMPTZ '2026-01-01 00:00Z' + n * INTERVAL '1 second'
FROM generate_series(1, 5 * :users) AS n;

INSERT INTO orders (id, user_id, recipient, product, note, status, total, placed_at)
SELECT n, 1 + (n - 1) % :users, 'Erika Mustermann ' || n, 'Article no. ' || n % 5000,
       CASE WHEN n % 4 = 0 THEN 'Please leave it with the neighbours on the second floor' END, 'delivered',
       (n % 50000) / 100.0, TIMESTAMPTZ '2024-01-01 00:00Z' + n * INTERVAL '1 minute'
FROM generate_series(1, 20 * :users) AS n;

INSERT INTO invoices (id, user_id, address, total, sent_to, issued_at)
SELECT n, 1 + (n - 1) % :users, 'Erika Mustermann, Musterstraße ' || n % 200 || ', 10115 Berlin', (n % 50000) / 100.0,
       'user' || 1 + (n - 1) % :users || '@example.com', TIMESTAMPTZ '2024-01-01 00:00Z' + n * INTERVAL '1 minute'
FROM generate_series(1, 5 * :users) AS n;

-- Each user has made two decisions on consent. Each decision has an audit event.
INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
SELECT n, purpose, '2026-01', purpose = 'newsletter', TIMESTAMPTZ '2026-01-01 00:00Z' + n * INTERVAL '1 second', 'api'
FROM (VALUES ('newsletter'), ('analytics')) AS purposes (purpose), generate_series(1, :users) AS n;

INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)
SELECT gen_random_uuid(), CASE WHEN granted THEN 'consent_granted' ELSE 'consent_withdrawn' END, subject_id, recorded_at,
       '{"source": "api"}'
FROM habeas_consent_records;
