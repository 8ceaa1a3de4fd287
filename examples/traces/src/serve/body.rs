//! The body of a request, within bounds.
use super::{budget::Share, refusal::Refusal};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http_body_util::BodyExt;
use hyper::{
    HeaderMap, StatusCode,
    body::{Body as _, Incoming},
    header::CONTENT_ENCODING,
};
use std::{io::Read, time::Duration};

/// How much is decompressed between two looks at the bounds.
const STEP: usize = 64 << 10;

/// How a body is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Compression {
    None,
    Gzip,
    /// Zlib, which HTTP calls `deflate`.
    Deflate,
}

impl Compression {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let mut values = headers.get_all(CONTENT_ENCODING).iter();
        let value = values.next().map(|value| value.to_str().unwrap_or("?").trim());
        let known = match value {
            None | Some("") => Some(Self::None),
            Some(name) if name.eq_ignore_ascii_case("identity") => Some(Self::None),
            Some(name) if name.eq_ignore_ascii_case("gzip") => Some(Self::Gzip),
            Some(name) if name.eq_ignore_ascii_case("deflate") => Some(Self::Deflate),
            Some(_) => None,
        };
        known.filter(|_| values.next().is_none()).ok_or_else(|| {
            Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the Content-Encoding is none of gzip, deflate and identity",
            )
        })
    }

    /// The bytes that were compressed. Works step by step, so that a bomb costs no more than the bound.
    pub(super) fn undo(self, body: Vec<u8>, limit: usize, share: &mut Share) -> Result<Vec<u8>, Refusal> {
        match self {
            Self::None => Ok(body),
            Self::Gzip => inflate(MultiGzDecoder::new(body.as_slice()), limit, share),
            Self::Deflate => inflate(ZlibDecoder::new(body.as_slice()), limit, share),
        }
    }
}

fn inflate(mut compressed: impl Read, limit: usize, share: &mut Share) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    loop {
        // What the buffer may hold is paid for before it is filled.
        share.grow(STEP)?;
        let read = compressed
            .by_ref()
            .take(STEP as u64)
            .read_to_end(&mut out)
            .map_err(|error| Refusal::bad(format!("the body does not decompress: {error}")))?;
        if out.len() > limit {
            return Err(Refusal::too_large(format!(
                "the decompressed body has more than {limit} bytes; send smaller batches"
            )));
        }
        if read < STEP {
            return Ok(out);
        }
    }
}

/// Reads a body that may be this long and take this long.
pub(super) async fn read(
    mut body: Incoming,
    limit: usize,
    time: Duration,
    share: &mut Share,
) -> Result<Vec<u8>, Refusal> {
    let too_large = || {
        Refusal::too_large(format!(
            "the body has more than {limit} bytes; send smaller batches"
        ))
    };
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large());
    }
    let reading = async {
        let mut out = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Refusal::bad(format!("the body broke off: {error}")))?;
            let Some(data) = frame.data_ref() else { continue };
            if out.len() + data.len() > limit {
                return Err(too_large());
            }
            share.grow(data.len())?;
            out.extend_from_slice(data);
        }
        Ok(out)
    };
    match tokio::time::timeout(time, reading).await {
        Ok(read) => read,
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {time:?}"),
        )),
    }
}

/// Takes the rest of a body off the wire, so that a sender that is still writing sees the answer and not a reset.
/// Gives up where that would cost more than the body itself was allowed to.
pub(super) async fn discard(mut body: Incoming, limit: usize, time: Duration) {
    if body.size_hint().lower() > limit as u64 {
        return;
    }
    let discarding = async {
        let mut seen = 0;
        while let Some(Ok(frame)) = body.frame().await {
            seen += frame.data_ref().map_or(0, hyper::body::Bytes::len);
            if seen > limit {
                return;
            }
        }
    };
    // Out of time is a reason to stop, nothing more.
    let _ = tokio::time::timeout(time, discarding).await;
}
