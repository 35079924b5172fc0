-- These indexes and constraints are created after the rows, because this is faster.
ALTER TABLE users ADD UNIQUE (email);

ALTER TABLE addresses ADD FOREIGN KEY (user_id) REFERENCES users;
ALTER TABLE logins ADD FOREIGN KEY (user_id) REFERENCES users;
ALTER TABLE orders ADD FOREIGN KEY (user_id) REFERENCES users;
ALTER TABLE invoices ADD FOREIGN KEY (user_id) REFERENCES users;

CREATE INDEX addresses_user ON addresses (user_id);
CREATE INDEX logins_user ON logins (user_id);
CREATE INDEX orders_user ON orders (user_id);
CREATE INDEX invoices_user ON invoices (user_id);
