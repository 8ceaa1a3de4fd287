//! The read API: what the projections know, as JSON, each tenant apart.
use super::{
    answer::{Answer, json, refused},
    cursor,
    receive::tenant_of,
    refusal::Refusal,
    state::State,
};
use crate::{
    service_usage::{ServiceDay, ServiceUsage, Usage},
    show::SummaryLine,
    spans::{SpanRow, Spans},
    trace_summary::TraceSummary,
};
use foldwright::{
    Reader,
    ports::{Cursor, Error, Kind, Limits},
    prelude::*,
};
use hyper::{StatusCode, http::request::Parts};
use serde::Serialize;

const DEFAULT_ITEMS: usize = 100;
const MOST_ITEMS: usize = 1_000;

/// A read request: who asks, and for which page.
pub(super) struct Ask<'a> {
    state: &'a State,
    head: &'a Parts,
}

impl<'a> Ask<'a> {
    pub(super) fn new(state: &'a State, head: &'a Parts) -> Self {
        Self { state, head }
    }

    /// Runs a read within the bounds of all reads.
    async fn run<T: Serialize>(&self, read: impl Future<Output = Result<T, Refusal>>) -> Answer {
        let Ok(_permit) = self.state.reads.try_acquire() else {
            return refused(&Refusal::busy("too many reads at once"));
        };
        let limit = self.state.settings.request_timeout;
        match tokio::time::timeout(limit, read).await {
            Ok(Ok(found)) => json(&found),
            Ok(Err(refusal)) => refused(&refusal),
            Err(_) => refused(&Refusal::too_slow(format!("the read took longer than {limit:?}"))),
        }
    }

    fn reader(&self) -> Reader {
        self.state.kernel.reader()
    }

    /// The tenant of the path. Where the header names one too, as a proxy that knows its callers makes sure of, they
    /// must be the same.
    fn tenant(&self, name: &str) -> Result<TenantId, Refusal> {
        let tenant = TenantId::parse(name).map_err(|_| {
            Refusal::bad("the path names no tenant: a tenant is 1-128 bytes of [A-Za-z0-9._-]")
        })?;
        match tenant_of(&self.head.headers)? {
            Some(caller) if caller != tenant => Err(Refusal::new(
                StatusCode::FORBIDDEN,
                "the path names another tenant than the header x-tenant-id",
            )),
            _ => Ok(tenant),
        }
    }

    /// `limit` and `cursor` of the query; anything else in it is refused.
    fn page(&self) -> Result<(Option<Cursor>, Limits), Refusal> {
        let (mut from, mut items) = (None, DEFAULT_ITEMS);
        let query = self.head.uri.query().unwrap_or_default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("cursor", text)) => from = Some(cursor::of_text(text)?),
                Some(("limit", text)) => {
                    items = text
                        .parse()
                        .ok()
                        .filter(|items| (1..=MOST_ITEMS).contains(items))
                        .ok_or_else(|| Refusal::bad(format!("limit is a number from 1 to {MOST_ITEMS}")))?;
                }
                _ => return Err(Refusal::bad("the query takes limit and cursor, nothing else")),
            }
        }
        Ok((from, Limits::items(items)))
    }
}

/// A cursor that the store cannot read came with the request; everything else is the store's.
fn store(error: Error, has_cursor: bool) -> Refusal {
    if has_cursor && error.kind() == Kind::Invalid {
        return Refusal::bad("the cursor is none: take it from `next` of the page before");
    }
    tracing::warn!(%error, "a read failed");
    Refusal::of_store(&error)
}

fn not_found(what: &str) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("{what} not found"))
}

#[derive(Serialize)]
struct Tenants {
    tenants: Vec<TenantId>,
}

/// All tenants; only the caller's own where the header names one.
pub(super) async fn tenants(ask: Ask<'_>) -> Answer {
    ask.run(async {
        let caller = tenant_of(&ask.head.headers)?;
        let mut tenants = ask.reader().tenants().await.map_err(|e| store(e, false))?;
        tenants.retain(|tenant| caller.as_ref().is_none_or(|caller| caller == tenant));
        Ok(Tenants { tenants })
    })
    .await
}

#[derive(Serialize)]
struct Traces {
    traces: Vec<SummaryLine>,
    next: Option<String>,
}

/// The summaries of a tenant's traces, in order of their ids.
pub(super) async fn traces(ask: Ask<'_>, tenant: &str) -> Answer {
    ask.run(async {
        let (tenant, (from, limits)) = (ask.tenant(tenant)?, ask.page()?);
        let (is_first, reader) = (from.is_none(), ask.reader());
        let page = reader
            .states::<TraceSummary>(&tenant, from, limits)
            .await
            .map_err(|e| store(e, !is_first))?;
        if is_first && page.items.is_empty() && page.next.is_none() {
            must_be_known(&reader, &tenant).await?;
        }
        Ok(Traces {
            next: cursor::to_text(page.next.as_ref()),
            traces: page
                .items
                .into_iter()
                .map(|row| {
                    let row = row.map_err(|row| store(row.into(), false))?;
                    Ok(SummaryLine::new(&tenant, &row.key.key, row.state))
                })
                .collect::<Result<_, Refusal>>()?,
        })
    })
    .await
}

#[derive(Serialize)]
struct OneTrace {
    trace: SummaryLine,
    spans: Vec<SpanRow>,
    next: Option<String>,
}

/// One trace with a page of its spans, in order of their start.
pub(super) async fn trace(ask: Ask<'_>, tenant: &str, trace: &str) -> Answer {
    ask.run(async {
        let (tenant, (from, limits)) = (ask.tenant(tenant)?, ask.page()?);
        let is_hex = trace.len() == 32 && trace.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        let id = AggregateId::parse(trace)
            .ok()
            .filter(|_| is_hex)
            .ok_or_else(|| Refusal::bad("a trace id is 32 lower-case hex digits"))?;
        let (is_first, reader) = (from.is_none(), ask.reader());
        let row = reader
            .state::<TraceSummary, _>(&Key::new(tenant.clone(), id))
            .await
            .map_err(|e| store(e, false))?
            .ok_or_else(|| not_found(&format!("trace {trace} of tenant {tenant}")))?;
        let page = reader
            .records::<Spans>(&tenant, Some(trace), from, limits)
            .await
            .map_err(|e| store(e, !is_first))?;
        Ok(OneTrace {
            trace: SummaryLine::new(&tenant, trace, row.state),
            next: cursor::to_text(page.next.as_ref()),
            spans: page.items.into_iter().map(|record| record.record).collect(),
        })
    })
    .await
}

#[derive(Serialize)]
struct Services {
    services: Vec<ServiceRow>,
    next: Option<String>,
}

#[derive(Serialize)]
struct ServiceRow {
    #[serde(flatten)]
    key: ServiceDay,
    #[serde(flatten)]
    usage: Usage,
}

/// What each service of a tenant did on each day.
pub(super) async fn services(ask: Ask<'_>, tenant: &str) -> Answer {
    ask.run(async {
        let (tenant, (from, limits)) = (ask.tenant(tenant)?, ask.page()?);
        let (is_first, reader) = (from.is_none(), ask.reader());
        let page = reader
            .states::<ServiceUsage>(&tenant, from, limits)
            .await
            .map_err(|e| store(e, !is_first))?;
        if is_first && page.items.is_empty() && page.next.is_none() {
            must_be_known(&reader, &tenant).await?;
        }
        let rows = page.items.into_iter().map(|row| {
            let row = row.map_err(|row| store(row.into(), false))?;
            let key = serde_json::from_str(&row.key.key).map_err(|error| {
                tracing::error!(%error, "the key of a service's usage does not decode");
                let message = "the store failed, see the server's log";
                Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message)
            })?;
            Ok(ServiceRow {
                key,
                usage: row.state,
            })
        });
        Ok(Services {
            services: rows.collect::<Result<_, _>>()?,
            next: cursor::to_text(page.next.as_ref()),
        })
    })
    .await
}

async fn must_be_known(reader: &Reader, tenant: &TenantId) -> Result<(), Refusal> {
    if reader.knows(tenant).await.map_err(|e| store(e, false))? {
        return Ok(());
    }
    Err(not_found(&format!("tenant {tenant}")))
}
