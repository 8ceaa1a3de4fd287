//! Records in their first format, as files of the first schema hold them. They are read, never written.
use super::record::Block;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct More {
    pub(super) failures: u32,
    pub(super) need: Option<u32>,
    pub(super) blocked: Option<Block>,
    pub(super) last_error: Option<String>,
    pub(super) closed_until: Option<i64>,
    pub(super) windows: Vec<Window>,
    pub(super) delayed: bool,
}

#[derive(Deserialize)]
pub(super) struct Window {
    pub(super) route: i64,
    pub(super) seq: i64,
    pub(super) until: i64,
}

#[derive(Deserialize)]
pub(super) struct LeasedJobs(pub(super) Vec<LeasedJob>);

#[derive(Deserialize)]
pub(super) struct LeasedJob {
    pub(super) seq: i64,
    pub(super) route: i64,
    pub(super) holds: bool,
}
