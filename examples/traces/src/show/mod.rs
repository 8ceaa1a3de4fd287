//! `traces show`: what the projections know.
mod json;
mod table;
mod tree;

pub use json::SummaryLine;

use crate::{spans::Spans, trace_summary::TraceSummary};
use foldwright::{
    Reader,
    ports::{Error, Limits},
    prelude::*,
};
use std::io::{self, Write};

const PAGE: Limits = Limits::items(500);

/// What to show, and how.
#[derive(Clone, Debug)]
pub struct Query {
    /// Of this tenant alone.
    pub tenant: Option<TenantId>,
    /// This trace alone.
    pub trace: Option<String>,
    /// As JSON lines instead of text for people.
    pub json: bool,
}

/// Why nothing, or not everything, was shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// A store failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The output could not be written.
    #[error("writing the output")]
    Write(#[from] io::Error),
    /// The store has no such trace.
    #[error("trace {0} not found")]
    UnknownTrace(String),
    /// The store has nothing of this tenant.
    #[error("tenant {0} not found")]
    UnknownTenant(TenantId),
}

/// Writes what was asked for, ordered by tenant and trace id.
pub async fn show(reader: &Reader, query: &Query, out: &mut (impl Write + Send)) -> Result<(), ShowError> {
    let known = reader.tenants().await?;
    let tenants = match &query.tenant {
        Some(tenant) if !known.contains(tenant) => return Err(ShowError::UnknownTenant(tenant.clone())),
        Some(tenant) => vec![tenant.clone()],
        None => known,
    };
    match &query.trace {
        Some(trace) => one(reader, &tenants, trace, query.json, out).await,
        None => all(reader, &tenants, query.json, out).await,
    }
}

async fn all(
    reader: &Reader,
    tenants: &[TenantId],
    json: bool,
    out: &mut (impl Write + Send),
) -> Result<(), ShowError> {
    if !json {
        table::header(out)?;
    }
    for tenant in tenants {
        let mut from = None;
        loop {
            let page = reader.states::<TraceSummary>(tenant, from, PAGE).await?;
            for row in page.items {
                let row = row.map_err(foldwright::ports::Error::from)?;
                let line = SummaryLine::new(tenant, &row.key.key, row.state);
                if json {
                    json::line(out, &line)?;
                } else {
                    table::row(out, &line)?;
                }
            }
            from = page.next;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(())
}

/// Different tenants may have a trace of the same id; each of them is shown.
async fn one(
    reader: &Reader,
    tenants: &[TenantId],
    trace: &str,
    json: bool,
    out: &mut (impl Write + Send),
) -> Result<(), ShowError> {
    let unknown = || ShowError::UnknownTrace(trace.to_owned());
    let id = AggregateId::parse(trace).map_err(|_| unknown())?;
    let mut found = false;
    for tenant in tenants {
        let key = Key::new(tenant.clone(), id.clone());
        let Some(row) = reader.state::<TraceSummary, _>(&key).await? else {
            continue;
        };
        found = true;
        let line = SummaryLine::new(tenant, trace, row.state);
        if json {
            json::line(out, &line)?;
            continue;
        }
        let (mut spans, mut from) = (Vec::new(), None);
        loop {
            let page = reader.records::<Spans>(tenant, Some(trace), from, PAGE).await?;
            spans.extend(page.items.into_iter().map(|record| record.record));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        tree::write(out, &line, &spans)?;
    }
    if found { Ok(()) } else { Err(unknown()) }
}
