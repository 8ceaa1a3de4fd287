//! Settings by name. Destructured whole, so that a new one cannot be left out.
use crate::{fold::RefoldBudget, worker::WorkerSettings};
use foldwright_ports::Ports;
use std::{collections::BTreeMap, fmt::Display};

pub(super) fn of_worker(settings: &WorkerSettings, into: &mut BTreeMap<String, String>) {
    let WorkerSettings {
        bulk_lanes,
        effect_lanes,
        max_groups,
        max_jobs_per_group,
        max_bytes,
        lease,
        idle,
        liveness: _,
        splits,
        body_bytes,
        effect_timeout,
        effect_slow,
        sweep,
        check,
    } = settings;
    let mut add = |name: &str, value: &dyn Display| into.insert(format!("worker.{name}"), value.to_string());
    add("bulk_lanes", bulk_lanes);
    add("effect_lanes", effect_lanes);
    add("max_groups", max_groups);
    add("max_jobs_per_group", max_jobs_per_group);
    add("max_bytes", max_bytes);
    add("splits", splits);
    add("body_bytes", body_bytes);
    for (name, time) in [
        ("lease", lease),
        ("idle", idle),
        ("liveness", &settings.liveness()),
        ("effect_timeout", effect_timeout),
        ("effect_slow", effect_slow),
        ("sweep", sweep),
        ("check", check),
    ] {
        add(name, &format!("{time:?}"));
    }
}

pub(super) fn of_refolds(budget: &RefoldBudget, into: &mut BTreeMap<String, String>) {
    let RefoldBudget {
        events_per_second,
        burst,
        defer,
    } = budget;
    let mut add = |name: &str, value: String| into.insert(format!("refolds.{name}"), value);
    add("events_per_second", events_per_second.to_string());
    add("burst", burst.to_string());
    add("defer", format!("{defer:?}"));
}

/// The adapter of each port.
pub(super) fn adapters(ports: &Ports) -> BTreeMap<String, String> {
    [
        ("log", ports.log.adapter()),
        ("queue", ports.queue.adapter()),
        ("folds", ports.folds.adapter()),
        ("records", ports.records.adapter()),
        ("hot_blobs", ports.hot_blobs.adapter()),
        ("cold_blobs", ports.cold_blobs.adapter()),
    ]
    .into_iter()
    .map(|(port, adapter)| (port.to_owned(), adapter.to_owned()))
    .collect()
}

/// How many calls each store serves at a time, where it says so.
pub(super) fn connections(ports: &Ports) -> [(&'static str, Option<usize>); 4] {
    [
        ("log", ports.log.connections()),
        ("queue", ports.queue.connections()),
        ("fold store", ports.folds.connections()),
        ("append store", ports.records.connections()),
    ]
}
