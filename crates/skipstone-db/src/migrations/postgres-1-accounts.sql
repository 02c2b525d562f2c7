CREATE TABLE skipstone_accounts (
    id BIGINT PRIMARY KEY,
    name VARCHAR(32) NOT NULL,
    score BIGINT NOT NULL,
    rating BIGINT NOT NULL,
    balance BIGINT NOT NULL
);
CREATE INDEX skipstone_accounts_rating ON skipstone_accounts (rating, id);
