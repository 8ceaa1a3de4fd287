-- Names that come up again and again are stored once and referred to by number: tenants, routes, paths, projections,
-- event types. Rows are only added.
CREATE TABLE fw_names (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
) STRICT;

-- The log ---------------------------------------------------------------------------------------------------------

CREATE TABLE fw_streams (
    id INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    aggregate_type INTEGER NOT NULL,
    aggregate_id TEXT NOT NULL,
    -- How many events it has; a stream without events has no row.
    events INTEGER NOT NULL,
    UNIQUE (tenant, aggregate_type, aggregate_id)
) STRICT;

CREATE TABLE fw_events (
    seq INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    stream INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    -- Big endian, so that the order of the bytes is the order of the numbers.
    id BLOB NOT NULL,
    identity BLOB NOT NULL,
    accepted_at INTEGER NOT NULL,
    event_type INTEGER NOT NULL,
    version INTEGER NOT NULL,
    correlation_id BLOB NOT NULL,
    causation_id BLOB NOT NULL,
    idempotency_key TEXT,
    trace_context TEXT,
    data BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX fw_events_identity ON fw_events (tenant, identity);
CREATE INDEX fw_events_stream ON fw_events (stream, occurred_at, id);
CREATE INDEX fw_events_canonical ON fw_events (tenant, occurred_at, id);

-- Projections -----------------------------------------------------------------------------------------------------

-- `owner` repeats the tenant outside of the key, here and below: a row that was moved to another tenant's key is found
-- out when it is read.
CREATE TABLE fw_folds (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    projection INTEGER NOT NULL,
    key TEXT NOT NULL,
    owner INTEGER NOT NULL,
    fold_version INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    write INTEGER NOT NULL,
    events INTEGER NOT NULL,
    last_at INTEGER,
    last_id BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    state BLOB NOT NULL,
    ledger BLOB NOT NULL,
    UNIQUE (tenant, projection, key)
) STRICT;

CREATE TABLE fw_records (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    projection INTEGER NOT NULL,
    identity BLOB NOT NULL,
    owner INTEGER NOT NULL,
    version INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    id BLOB NOT NULL,
    aggregate_type INTEGER NOT NULL,
    aggregate_id TEXT NOT NULL,
    record BLOB NOT NULL,
    UNIQUE (tenant, projection, identity)
) STRICT;
CREATE INDEX fw_records_canonical ON fw_records (tenant, projection, occurred_at, id);
CREATE INDEX fw_records_aggregate ON fw_records (tenant, projection, aggregate_id, occurred_at, id);

CREATE TABLE fw_blobs (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    hash BLOB NOT NULL,
    owner INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    touched_at INTEGER NOT NULL,
    stored BLOB NOT NULL,
    UNIQUE (tenant, hash)
) STRICT;
CREATE INDEX fw_blobs_touched ON fw_blobs (touched_at);

-- The queue -------------------------------------------------------------------------------------------------------

-- One row: the last token, stage sequence and group number that were given.
CREATE TABLE fw_queue (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    fence INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    gid INTEGER NOT NULL
) STRICT;
INSERT INTO fw_queue VALUES (1, 0, 0, 0);

-- What a worker must know and meet to get a group's first due job. Rows are only added.
CREATE TABLE fw_slots (
    id INTEGER PRIMARY KEY,
    route INTEGER NOT NULL,
    format INTEGER NOT NULL,
    need INTEGER NOT NULL,
    UNIQUE (route, format, need)
) STRICT;

CREATE TABLE fw_groups (
    gid INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    path INTEGER NOT NULL,
    key TEXT NOT NULL,
    -- Its place in line: set while it has no lease, no block and no wait.
    slot INTEGER,
    at INTEGER,
    head INTEGER,
    score INTEGER,
    -- When its place in line has to be looked at again: a wait ends, or a delayed job comes due.
    recheck INTEGER,
    -- How many jobs it has, by route.
    counts BLOB NOT NULL,
    fence INTEGER,
    until INTEGER,
    leased BLOB,
    previous INTEGER NOT NULL,
    completed INTEGER,
    blocked_at INTEGER,
    more BLOB,
    UNIQUE (tenant, path, key)
) STRICT;
CREATE INDEX fw_groups_line ON fw_groups (slot, at) WHERE slot IS NOT NULL;
CREATE INDEX fw_groups_recheck ON fw_groups (recheck) WHERE recheck IS NOT NULL;
CREATE INDEX fw_groups_blocked ON fw_groups (blocked_at) WHERE blocked_at IS NOT NULL;
CREATE INDEX fw_groups_blocked_tenant ON fw_groups (tenant, blocked_at) WHERE blocked_at IS NOT NULL;

CREATE TABLE fw_jobs (
    seq INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    id BLOB NOT NULL,
    -- Null for a dead letter.
    gid INTEGER,
    score INTEGER NOT NULL,
    due INTEGER NOT NULL,
    staged_at INTEGER NOT NULL,
    route INTEGER NOT NULL,
    format INTEGER NOT NULL,
    position_at INTEGER,
    position_id BLOB,
    body_hash BLOB,
    body_bytes INTEGER,
    context_hash BLOB,
    context_bytes INTEGER,
    context_of BLOB,
    header BLOB NOT NULL,
    body BLOB,
    context BLOB
) STRICT;
CREATE UNIQUE INDEX fw_jobs_id ON fw_jobs (tenant, id);
CREATE INDEX fw_jobs_order ON fw_jobs (gid, score) WHERE gid IS NOT NULL;
CREATE INDEX fw_jobs_delayed ON fw_jobs (gid, due, score) WHERE gid IS NOT NULL AND due > staged_at;

CREATE TABLE fw_dead (
    seq INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    path INTEGER NOT NULL,
    key TEXT NOT NULL,
    since INTEGER NOT NULL,
    error TEXT NOT NULL
) STRICT;
CREATE INDEX fw_dead_since ON fw_dead (since);
CREATE INDEX fw_dead_tenant ON fw_dead (tenant, since);

CREATE TABLE fw_depths (
    route INTEGER PRIMARY KEY,
    waiting INTEGER NOT NULL,
    leased INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    dead INTEGER NOT NULL
) STRICT;

-- One row for the leases of one claim; their tokens follow on each other from `base`. It finds leases that lapse, and
-- remembers which tokens were settled.
CREATE TABLE fw_grants (
    base INTEGER PRIMARY KEY,
    touched_at INTEGER NOT NULL,
    -- When the next of its leases may have lapsed; null when none is open.
    check_at INTEGER,
    members BLOB NOT NULL
) STRICT;
CREATE INDEX fw_grants_check ON fw_grants (check_at) WHERE check_at IS NOT NULL;

CREATE TABLE fw_nonces (
    n INTEGER PRIMARY KEY,
    nonce BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    answer BLOB NOT NULL
) STRICT;

CREATE TABLE fw_answers (
    n INTEGER PRIMARY KEY,
    tenant INTEGER NOT NULL,
    id BLOB NOT NULL,
    owner INTEGER NOT NULL,
    at INTEGER NOT NULL,
    answer BLOB NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

-- A row per job and body, so that taking or releasing a hold twice changes nothing.
CREATE TABLE fw_holds (
    tenant INTEGER NOT NULL,
    hash BLOB NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE fw_released (
    tenant INTEGER NOT NULL,
    hash BLOB NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (tenant, hash)
) STRICT, WITHOUT ROWID;
