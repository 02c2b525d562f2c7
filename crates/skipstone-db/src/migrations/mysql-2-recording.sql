CREATE TABLE skipstone_runs (
    run BIGINT PRIMARY KEY,
    batch BIGINT NOT NULL
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE skipstone_connections (
    run BIGINT NOT NULL,
    number BIGINT NOT NULL,
    account VARCHAR(64) NOT NULL,
    carrier VARCHAR(16) NOT NULL,
    began_ms BIGINT NOT NULL,
    PRIMARY KEY (run, number)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE skipstone_sessions (
    run BIGINT NOT NULL,
    number BIGINT NOT NULL,
    account VARCHAR(64) NOT NULL,
    ended_ms BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    line_count BIGINT NOT NULL,
    code BIGINT NOT NULL,
    PRIMARY KEY (run, number)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE skipstone_daily_totals (
    day VARCHAR(16) NOT NULL,
    account VARCHAR(64) NOT NULL,
    session_count BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    line_count BIGINT NOT NULL,
    PRIMARY KEY (day, account)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
