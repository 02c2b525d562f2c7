CREATE TABLE skipstone_accounts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    score INTEGER NOT NULL,
    rating INTEGER NOT NULL,
    balance INTEGER NOT NULL
);
CREATE INDEX skipstone_accounts_rating ON skipstone_accounts (rating, id);
