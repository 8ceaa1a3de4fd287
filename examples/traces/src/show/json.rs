//! One trace as a line of JSON.
use crate::trace_summary::Summary;
use foldwright::prelude::TenantId;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::{collections::BTreeSet, io, io::Write};

/// The fields of a summary, in the order in which they are written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SummaryLine {
    pub(super) tenant: String,
    pub(super) trace_id: String,
    pub(super) span_count: usize,
    pub(super) error_count: u64,
    pub(super) services: BTreeSet<String>,
    pub(super) root_name: Option<String>,
    pub(super) root_span_id: Option<String>,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) llm_calls: u64,
    pub(super) tool_calls: u64,
    /// The first 16 hex digits of SHA-256 over the sorted, concatenated hex span ids.
    pub(super) span_ids_sha256: String,
}

impl SummaryLine {
    /// The line of one trace.
    #[must_use]
    pub fn new(tenant: &TenantId, trace_id: &str, summary: Summary) -> Self {
        let mut digest = Sha256::new();
        summary.span_ids.iter().for_each(|id| digest.update(id));
        let mut span_ids_sha256 = hex::encode(digest.finalize());
        span_ids_sha256.truncate(16);
        let (root_name, root_span_id) = summary.root.map(|root| (root.name, root.span_id)).unzip();
        Self {
            tenant: tenant.to_string(),
            trace_id: trace_id.to_owned(),
            span_count: summary.span_ids.len(),
            error_count: summary.errors,
            services: summary.services,
            root_name,
            root_span_id,
            start_ns: summary.start_ns,
            end_ns: summary.end_ns,
            input_tokens: summary.input_tokens,
            output_tokens: summary.output_tokens,
            llm_calls: summary.llm_calls,
            tool_calls: summary.tool_calls,
            span_ids_sha256,
        }
    }
}

pub(super) fn line(out: &mut impl Write, line: &SummaryLine) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
