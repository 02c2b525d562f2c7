CREATE TABLE skipstone_accounts (
    id BIGINT PRIMARY KEY,
    name VARCHAR(32) NOT NULL,
    score BIGINT NOT NULL,
    rating BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    INDEX skipstone_accounts_rating (rating, id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
