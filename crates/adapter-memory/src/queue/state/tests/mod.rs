//! Random walks through the state machine, each step checked, and what no suite can see from outside.
mod cases;
mod fairness;
mod steps;
mod walks;

use super::State;
use bytes::Bytes;
use foldwright_domain::{CommandId, EventId, Millis, Position, TenantId};
use foldwright_ports::{
    BlobHash, Body, BreakerSettings, Capabilities, Capability, Context, Dedup, Fence, GroupFilter, GroupId,
    GroupState, Hold, JobId, Kind, Ladder, Lease, LeaseRef, MergeWindow, NewJob, Nonce, Outcome, QueueBounds,
    QueueSettings, Rest, Room, Route, Scope, Settlement, TenantLimits, Verb, Verdict, Want, WorkerId,
};
use proptest::prelude::*;
use std::{collections::BTreeSet, sync::Arc, time::Duration};

const START: Millis = Millis(1_764_500_000_000);
const ROUTES: [&str; 3] = ["shop/fold/totals", "shop2/fold/totals", "shop/map/rows"];

const WORKERS: [WorkerId; 3] = [WorkerId(1), WorkerId(2), WorkerId(3)];
const TENANTS: [&str; 2] = ["acme", "globex"];

fn hashes() -> [BlobHash; 4] {
    [1, 2, 3, 4].map(|n| BlobHash([n; 32]))
}

fn settings() -> QueueSettings {
    QueueSettings {
        ladder: Ladder {
            base: Duration::from_millis(100),
            cap: Duration::from_secs(1),
            attempts: 3,
        },
        nonce_ttl: Duration::from_secs(20),
        streak: 5,
        deaths: 2,
        breaker: BreakerSettings {
            groups: 2,
            window: Duration::from_secs(2),
            tenants: 2,
            first: Duration::from_millis(300),
            longest: Duration::from_secs(1),
        },
        bounds: QueueBounds {
            group_jobs: Some(12),
            tenant_jobs: Some(30),
            jobs: Some(50),
            bytes: Some(2_000_000),
            ..QueueBounds::NONE
        },
        ..QueueSettings::default()
    }
}

fn group(tenant: &str, key: u8) -> GroupId {
    GroupId {
        tenant: TenantId::parse(tenant).unwrap(),
        path: "fold/totals".into(),
        key: key.to_string().into(),
    }
}

fn job(n: u8, route: &str, group: GroupId) -> NewJob {
    let route = Route::parse(route).unwrap();
    NewJob {
        id: JobId::of_command(CommandId::from_u128(u128::from(n) << 12), &route),
        route,
        group,
        position: None,
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::from_static(b"header"),
        body: Body::Inline(Bytes::from_static(b"body")),
        context: None,
    }
}

fn want(routes: &[(&str, u32)], format: u8) -> Want {
    let routes = routes
        .iter()
        .map(|(route, version)| (Route::parse(*route).unwrap(), Capability { version: *version }));
    Want {
        capabilities: Arc::new(Capabilities {
            routes: routes.collect(),
            format,
        }),
        max_groups: 3,
        max_jobs_per_group: 3,
        max_bytes: 1 << 20,
        lease: Duration::from_millis(700),
    }
}

fn open() -> State {
    let mut state = State::new(&settings());
    state.at(START);
    state
}
