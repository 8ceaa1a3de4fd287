-- Fairness between tenants ------------------------------------------------------------------------------------------

-- What a queue knows of a tenant. Rows are only added: its pass counts for as long as the queue lives.
CREATE TABLE fw_tenants (
    tenant INTEGER PRIMARY KEY,
    -- Its leases that were neither settled nor reaped; holds are none.
    in_flight INTEGER NOT NULL,
    -- How much service it has had, for its weight.
    pass INTEGER NOT NULL,
    -- Its jobs that are waiting, leased or blocked, and what they carry.
    jobs INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- Its limits, where it has limits of its own: the weight is null where it has none.
    weight INTEGER,
    cap INTEGER,
    most_jobs INTEGER,
    most_bytes INTEGER,
    paused INTEGER NOT NULL
) STRICT;

-- One row for the groups of one tenant that stand in the line of one slot. It follows from fw_groups and fw_tenants.
CREATE TABLE fw_lines (
    tenant INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    -- When the first due job of the first group came due.
    at INTEGER NOT NULL,
    -- Its turn; null while nothing of it may be handed out: the tenant is paused or at its cap, the route is closed for
    -- it, or the first job is not due yet.
    share INTEGER,
    pass INTEGER,
    -- When that ends by the passing of time alone.
    recheck INTEGER,
    PRIMARY KEY (tenant, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX fw_lines_turn ON fw_lines (slot, share, pass, at, tenant) WHERE share IS NOT NULL;
CREATE INDEX fw_lines_recheck ON fw_lines (recheck) WHERE recheck IS NOT NULL;

DROP INDEX fw_groups_line;
CREATE INDEX fw_groups_line ON fw_groups (slot, tenant, at) WHERE slot IS NOT NULL;

-- What the jobs of a group carry.
ALTER TABLE fw_groups ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE fw_groups SET bytes = (
    SELECT coalesce(sum(length(header) + coalesce(body_bytes, length(body), 0)
        + coalesce(context_bytes, length(context), 0)), 0)
    FROM fw_jobs WHERE gid = fw_groups.gid
);

INSERT INTO fw_tenants
    SELECT tenant, 0, 0, count(*),
        sum(length(header) + coalesce(body_bytes, length(body), 0) + coalesce(context_bytes, length(context), 0)),
        NULL, NULL, NULL, NULL, 0
    FROM fw_jobs WHERE gid IS NOT NULL GROUP BY tenant;
INSERT INTO fw_tenants
    SELECT tenant, count(*), 0, 0, 0, NULL, NULL, NULL, NULL, 0
    FROM fw_groups WHERE fence IS NOT NULL GROUP BY tenant
    ON CONFLICT DO UPDATE SET in_flight = excluded.in_flight;

-- The next claim gives each line its turn.
INSERT INTO fw_lines
    SELECT tenant, slot, min(at), NULL, NULL, min(at) FROM fw_groups WHERE slot IS NOT NULL GROUP BY tenant, slot;

-- All tenants together, so that a bound is checked without counting.
ALTER TABLE fw_queue ADD COLUMN jobs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fw_queue ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fw_queue ADD COLUMN tenants INTEGER NOT NULL DEFAULT 0;
-- The highest pass at which a tenant was served.
ALTER TABLE fw_queue ADD COLUMN pass INTEGER NOT NULL DEFAULT 0;
-- How many pauses cover routes, and until when a route is closed at the latest: mostly there is nothing to look up.
ALTER TABLE fw_queue ADD COLUMN pauses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fw_queue ADD COLUMN closed_until INTEGER NOT NULL DEFAULT 0;
-- How many recounts were written: one that another one has overtaken writes nothing.
ALTER TABLE fw_queue ADD COLUMN recounts INTEGER NOT NULL DEFAULT 0;
UPDATE fw_queue SET
    jobs = (SELECT coalesce(sum(jobs), 0) FROM fw_tenants),
    bytes = (SELECT coalesce(sum(bytes), 0) FROM fw_tenants),
    tenants = (SELECT count(*) FROM fw_tenants WHERE jobs > 0);

-- Pauses and outages ------------------------------------------------------------------------------------------------

CREATE TABLE fw_pauses (
    -- 0 all, 1 a pipeline, 2 a kind, 3 a route, 4 a tenant, 5 a group.
    kind INTEGER NOT NULL,
    -- Of a tenant or a group; 0 else.
    tenant INTEGER NOT NULL,
    -- Of a group; 0 else.
    path INTEGER NOT NULL,
    -- The pipeline, kind or route, or the key of a group.
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (kind, tenant, path, name)
) STRICT, WITHOUT ROWID;

-- Failures as the breaker counts them.
CREATE TABLE fw_troubles (
    tenant INTEGER NOT NULL,
    route INTEGER NOT NULL,
    -- Since its last closing.
    until INTEGER,
    fingerprint INTEGER,
    -- When nothing of it matters any more.
    over INTEGER NOT NULL,
    trouble BLOB NOT NULL,
    PRIMARY KEY (tenant, route)
) STRICT, WITHOUT ROWID;
CREATE INDEX fw_troubles_closed ON fw_troubles (route, fingerprint, until) WHERE until IS NOT NULL;
CREATE INDEX fw_troubles_over ON fw_troubles (over);

-- Routes that are closed for everybody.
CREATE TABLE fw_outages (
    route INTEGER PRIMARY KEY,
    fingerprint INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;

-- Workers -----------------------------------------------------------------------------------------------------------

ALTER TABLE fw_grants ADD COLUMN worker BLOB;

CREATE TABLE fw_workers (
    worker BLOB PRIMARY KEY,
    until INTEGER NOT NULL,
    -- How long its record was meant to live.
    ttl INTEGER NOT NULL,
    -- Since when a reap knows that it has fallen silent with leases in its hands.
    silent_since INTEGER,
    capabilities BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX fw_workers_until ON fw_workers (until);
CREATE INDEX fw_workers_silent ON fw_workers (silent_since) WHERE silent_since IS NOT NULL;

-- Groups whose lease lapsed under such a worker, until its death is confirmed or refuted.
CREATE TABLE fw_suspects (
    worker BLOB NOT NULL,
    gid INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    PRIMARY KEY (worker, gid)
) STRICT, WITHOUT ROWID;
