CREATE TABLE skipstone_runs (
    run INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL
);
CREATE TABLE skipstone_connections (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    account TEXT NOT NULL,
    carrier TEXT NOT NULL,
    began_ms INTEGER NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE skipstone_sessions (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    account TEXT NOT NULL,
    ended_ms INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    line_count INTEGER NOT NULL,
    code INTEGER NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE TABLE skipstone_daily_totals (
    day TEXT NOT NULL,
    account TEXT NOT NULL,
    session_count INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    line_count INTEGER NOT NULL,
    PRIMARY KEY (day, account)
);
