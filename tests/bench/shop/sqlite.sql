-- The same shop on SQLite, with rows for the users 1 to :users.
CREATE TABLE users (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, phone TEXT NOT NULL,
    last_seen TIMESTAMP NOT NULL, theme TEXT NOT NULL, created_at TIMESTAMP NOT NULL
);
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, street TEXT NOT NULL, postcode TEXT NOT NULL,
    city TEXT NOT NULL, country TEXT NOT NULL
);
CREATE TABLE logins (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, ip TEXT NOT NULL, user_agent TEXT NOT NULL,
    logged_in_at TIMESTAMP NOT NULL
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, recipient TEXT NOT NULL, product TEXT NOT NULL,
    note TEXT, status TEXT NOT NULL, total NUMERIC NOT NULL, placed_at TIMESTAMP NOT NULL
);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users, address TEXT NOT NULL, total NUMERIC NOT NULL,
    sent_to TEXT NOT NULL, issued_at TIMESTAMP NOT NULL
);

CREATE TEMPORARY TABLE numbers AS
WITH RECURSIVE all_numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM all_numbers WHERE n < 20 * :users)
SELECT n, datetime('2024-01-01', '+' || n || ' minutes') || '+00:00' AS instant FROM all_numbers;

INSERT INTO users
SELECT n, 'user' || n || '@example.com', 'Erika Mustermann ' || n, '+49 30 ' || (1000000 + n), instant, 'dark', instant
FROM numbers WHERE n <= :users;

INSERT INTO addresses
SELECT n, 1 + (n - 1) % :users, 'Musterstraße ' || n % 200, CAST(10000 + n % 89999 AS TEXT), 'Berlin', 'DE'
FROM numbers WHERE n <= 2 * :users;

INSERT INTO logins
SELECT n, 1 + (n - 1) % :users, '192.0.2.' || n % 256, 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101', instant
FROM numbers WHERE n <= 5 * :users;

INSERT INTO orders
SELECT n, 1 + (n - 1) % :users, 'Erika Mustermann ' || n, 'Article no. ' || n % 5000,
       CASE WHEN n % 4 = 0 THEN 'Please leave it with the neighbours on the second floor' END, 'delivered',
       (n % 50000) / 100.0, instant
FROM numbers;

INSERT INTO invoices
SELECT n, 1 + (n - 1) % :users, 'Erika Mustermann, Musterstraße ' || n % 200 || ', 10115 Berlin', (n % 50000) / 100.0,
       'user' || (1 + (n - 1) % :users) || '@example.com', instant
FROM numbers WHERE n <= 5 * :users;

INSERT INTO habeas_consent_records (subject_id, purpose, policy_version, granted, recorded_at, source)
SELECT n, purpose, '2026-01', purpose = 'newsletter', '2026-01-01T00:00:00.000000Z', 'api'
FROM (SELECT 'newsletter' AS purpose UNION ALL SELECT 'analytics'), numbers WHERE n <= :users;

INSERT INTO habeas_audit_events (event_id, event_type, subject_ref, occurred_at, payload)
SELECT lower(hex(randomblob(16))), CASE WHEN granted THEN 'consent_granted' ELSE 'consent_withdrawn' END, subject_id,
       recorded_at, '{"source": "api"}'
FROM habeas_consent_records;

DROP TABLE numbers;

CREATE INDEX addresses_user ON addresses (user_id);
CREATE INDEX logins_user ON logins (user_id);
CREATE INDEX orders_user ON orders (user_id);
CREATE INDEX invoices_user ON invoices (user_id);
ANALYZE;
