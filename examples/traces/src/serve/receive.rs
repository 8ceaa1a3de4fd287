//! `POST /v1/traces`.
use super::{
    answer::{Answer, exported, not_exported},
    body::{Compression, discard, read},
    refusal::Refusal,
    state::State,
    telemetry,
};
use crate::{
    intake::{RefusedSpan, intent, offer},
    otlp::{Decoded, Encoding, FaultySpan, PartialSuccess},
};
use foldwright::{TraceParent, prelude::TenantId};
use hyper::{HeaderMap, StatusCode, body::Incoming, header::CONTENT_TYPE};
use std::{fmt::Write as _, sync::Arc};

/// The header that says whose spans they are.
pub(super) const TENANT_HEADER: &str = "x-tenant-id";

/// The header that says of which trace the request is.
const TRACE_HEADER: &str = "traceparent";

/// How many refused spans an answer names.
const NAMED: usize = 10;
/// How long the reason of one may be, in bytes: it may quote what the sender wrote.
const REASON_BYTES: usize = 300;

/// What the headers say, before a byte of the body is read.
struct Export {
    tenant: TenantId,
    trace: Option<Arc<str>>,
    encoding: Encoding,
    compression: Compression,
}

/// Accepts the spans of one request. 200 says that every span but the named ones is durable.
pub(super) async fn receive(state: &State, headers: &HeaderMap, body: Incoming) -> Answer {
    let encoding = encoding_of(headers);
    let export = match export(state, headers, encoding) {
        Ok(export) => export,
        Err(refusal) => {
            let settings = &state.settings;
            discard(body, settings.max_body, settings.body_timeout).await;
            return not_exported(encoding, &refusal);
        }
    };
    let limit = state.settings.request_timeout;
    let accepted = tokio::time::timeout(limit, accept(state, export, body)).await;
    match accepted.unwrap_or_else(|_| {
        Err(Refusal::too_slow(format!(
            "the request took longer than {limit:?}; send it again"
        )))
    }) {
        Ok(answer) => answer,
        Err(refusal) => not_exported(encoding, &refusal),
    }
}

fn encoding_of(headers: &HeaderMap) -> Option<Encoding> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Encoding::of_content_type(value)
}

fn export(state: &State, headers: &HeaderMap, encoding: Option<Encoding>) -> Result<Export, Refusal> {
    let encoding = encoding.ok_or_else(|| {
        Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the Content-Type is neither application/x-protobuf nor application/json",
        )
    })?;
    Ok(Export {
        tenant: tenant_of(headers)?
            .or_else(|| state.settings.default_tenant.clone())
            .ok_or_else(|| {
                Refusal::bad("the header x-tenant-id is missing: it says whose spans these are")
            })?,
        trace: trace_of(headers),
        encoding,
        compression: Compression::of(headers)?,
    })
}

/// The tenant that the header names, if there is one.
pub(super) fn tenant_of(headers: &HeaderMap) -> Result<Option<TenantId>, Refusal> {
    let mut values = headers.get_all(TENANT_HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    // Two of them would be a question of who reads which.
    let value = value.to_str().ok().filter(|_| values.next().is_none());
    value
        .and_then(|name| TenantId::parse(name).ok())
        .map(Some)
        .ok_or_else(|| {
            Refusal::bad(
                "the header x-tenant-id names no tenant: it is one value of 1-128 bytes of [A-Za-z0-9._-]",
            )
        })
}

/// The trace of the request itself, which what follows from its spans goes on. A header that is none is left out.
fn trace_of(headers: &HeaderMap) -> Option<Arc<str>> {
    let context = headers.get(TRACE_HEADER)?.to_str().ok()?;
    let parent: TraceParent = context.parse().ok()?;
    Some(parent.to_text())
}

async fn accept(state: &State, export: Export, body: Incoming) -> Result<Answer, Refusal> {
    let settings = &state.settings;
    let mut share = state.budget.admit()?;
    let body = read(body, settings.max_body, settings.body_timeout, &mut share).await?;
    let limit = settings.max_decompressed;
    let Export {
        tenant,
        trace,
        encoding,
        compression,
    } = export;
    // Up to some 100 ms of work: the threads that serve sockets are not kept from it. The share goes along, so that
    // memory is accounted for even where nobody waits for the outcome any more.
    let decoding = tokio::task::spawn_blocking(move || {
        let body = compression.undo(body, limit, &mut share)?;
        share.grow(encoding.weigh(&body))?;
        let decoded = encoding
            .decode(&body)
            .map_err(|error| Refusal::bad(with_causes(&error)))?;
        Ok((decoded, share))
    });
    let (decoded, _share) = decoding.await.unwrap_or_else(|error| {
        tracing::error!(%error, "decoding a request ended badly");
        let message = "the request could not be decoded, see the server's log";
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, message))
    })?;
    let Decoded { spans, faulty } = decoded;
    let total = spans.len() + faulty.len();
    let traced = |span| {
        let mut intent = intent(&tenant, span);
        intent.origin.trace_context.clone_from(&trace);
        intent
    };
    let intents: Vec<_> = spans.into_iter().map(traced).collect();
    let refused = if intents.is_empty() {
        Vec::new()
    } else {
        offer(&state.kernel, state.clock.now(), intents)
            .await
            .map_err(|refused| {
                tracing::warn!(%tenant, error = %refused, "spans were not accepted");
                Refusal::of_send(&refused)
            })?
    };
    telemetry::spans(total - faulty.len() - refused.len(), faulty.len() + refused.len());
    Ok(exported(encoding, partial(total, &faulty, &refused)))
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        let _ = write!(text, ": {one}");
        cause = one.source();
    }
    cut(&text)
}

/// Names what was refused; nothing where all was accepted.
fn partial(total: usize, faulty: &[FaultySpan], refused: &[RefusedSpan]) -> Option<PartialSuccess> {
    let rejected_spans = faulty.len() + refused.len();
    if rejected_spans == 0 {
        return None;
    }
    let mut message = format!("{rejected_spans} of {total} spans are refused, do not send them again");
    let faulty = faulty.iter().map(|span| {
        let FaultySpan {
            index,
            trace_id,
            span_id,
            error,
        } = span;
        format!(
            "span {index} (trace id {trace_id:?}, span id {span_id:?}): {}",
            cut(&error.to_string())
        )
    });
    let refused = refused.iter().map(|span| {
        format!(
            "trace {} span {}: {}",
            span.trace_id,
            span.span_id,
            cut(&span.reason)
        )
    });
    for named in faulty.chain(refused).take(NAMED) {
        let _ = write!(message, "; {named}");
    }
    if rejected_spans > NAMED {
        let _ = write!(message, "; and {} more", rejected_spans - NAMED);
    }
    Some(PartialSuccess {
        rejected_spans,
        message,
    })
}

fn cut(text: &str) -> String {
    if text.len() <= REASON_BYTES {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(REASON_BYTES)])
}
