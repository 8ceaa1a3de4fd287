//! Answers as HTTP writes them.
use super::refusal::Refusal;
use crate::otlp::{Encoding, PartialSuccess, encode_failure, encode_success};
use http_body_util::Full;
use hyper::{
    Response, StatusCode,
    body::Bytes,
    header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use serde::Serialize;

pub(super) type Answer = Response<Full<Bytes>>;

pub(super) fn answer(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(body.into()));
    *answer.status_mut() = status;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// `ExportTraceServiceResponse`.
pub(super) fn exported(encoding: Encoding, partial: Option<PartialSuccess>) -> Answer {
    let body = encode_success(encoding, partial);
    answer(StatusCode::OK, encoding.content_type(), body)
}

/// `google.rpc.Status`, as OTLP wants it. JSON where the request had no encoding that is known.
pub(super) fn not_exported(encoding: Option<Encoding>, refusal: &Refusal) -> Answer {
    let encoding = encoding.unwrap_or(Encoding::Json);
    let body = encode_failure(encoding, refusal.code(), &refusal.message);
    waiting(answer(refusal.status, encoding.content_type(), body), refusal)
}

pub(super) fn json(body: &impl Serialize) -> Answer {
    match serde_json::to_vec(body) {
        Ok(body) => answer(StatusCode::OK, "application/json", body),
        Err(error) => {
            tracing::error!(%error, "an answer does not encode");
            let refusal = Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer does not encode");
            refused(&refusal)
        }
    }
}

/// An error of the read API.
pub(super) fn refused(refusal: &Refusal) -> Answer {
    let body = serde_json::json!({"error": refusal.message}).to_string();
    waiting(answer(refusal.status, "application/json", body), refusal)
}

fn waiting(mut answer: Answer, refusal: &Refusal) -> Answer {
    if let Some(wait) = refusal.retry_after {
        // Rounded up: whoever comes back too early is refused again.
        let seconds = wait.as_millis().div_ceil(1_000).min(3_600) as u64;
        answer.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    answer
}
