CREATE TABLE people (
	tenant TEXT NOT NULL, number INTEGER NOT NULL, name TEXT CHECK (length(name) <= 40), email TEXT, nickname TEXT,
	born TEXT, score REAL, level INTEGER, visits INTEGER, active INTEGER, token TEXT, settings TEXT, photo BLOB,
	remark TEXT, PRIMARY KEY (tenant, number)
) STRICT;
CREATE TABLE addresses (
	id INTEGER PRIMARY KEY, tenant TEXT, person INTEGER, street TEXT,
	FOREIGN KEY (tenant, person) REFERENCES people (tenant, number)
) STRICT;
CREATE TABLE messages (
	id INTEGER PRIMARY KEY, tenant TEXT, person INTEGER, reply_to INTEGER REFERENCES messages (id), body TEXT,
	FOREIGN KEY (tenant, person) REFERENCES people (tenant, number)
) STRICT;
CREATE TABLE orders (
	id INTEGER PRIMARY KEY, tenant TEXT, person INTEGER, note TEXT, status TEXT,
	FOREIGN KEY (tenant, person) REFERENCES people (tenant, number)
) STRICT;
CREATE TABLE order_lines (
	order_id INTEGER NOT NULL REFERENCES orders (id), line INTEGER NOT NULL, engraving TEXT, PRIMARY KEY (order_id, line)
) STRICT;
CREATE TABLE invoices (
	id INTEGER PRIMARY KEY, tenant TEXT, person INTEGER, address TEXT, phone TEXT, issued_at TEXT,
	FOREIGN KEY (tenant, person) REFERENCES people (tenant, number)
) STRICT;
