//! What a body weighs once it is decoded.

/// Bytes of memory for a span, beside its text: as it came and as the service keeps it.
const SPAN: usize = 640;
/// The same for any other message.
const MESSAGE: usize = 192;
/// Deeper than the protobuf reader goes.
const MAX_DEPTH: usize = 100;

/// Every message of OTLP/JSON is an object, so every one of them has a `{`.
pub(super) fn of_json(body: &[u8]) -> usize {
    let objects = body.split(|byte| *byte == b'{').count();
    // Each may be an empty span.
    body.len()
        .saturating_mul(2)
        .saturating_add(objects.saturating_mul(SPAN))
}

/// Walks the messages by their lengths. Stops where the bytes are no protobuf: so does the reader.
pub(super) fn of_protobuf(body: &[u8]) -> usize {
    let mut weight = body.len().saturating_mul(2);
    walk(body, Level::Request, 0, &mut weight);
    weight
}

#[derive(Clone, Copy)]
enum Level {
    Request,
    ResourceSpans,
    Resource,
    ScopeSpans,
    Span,
    Event,
    Link,
    KeyValue,
    Value,
    Array,
    List,
}

impl Level {
    /// The message in a field of this one.
    fn below(self, field: u64) -> Option<Self> {
        Some(match (self, field) {
            (Self::Request, 1) => Self::ResourceSpans,
            (Self::ResourceSpans, 1) => Self::Resource,
            (Self::ResourceSpans, 2) => Self::ScopeSpans,
            (Self::ScopeSpans, 2) => Self::Span,
            (Self::Resource | Self::List, 1) | (Self::Span, 9) | (Self::Event, 3) | (Self::Link, 4) => {
                Self::KeyValue
            }
            (Self::Span, 11) => Self::Event,
            (Self::Span, 13) => Self::Link,
            (Self::KeyValue, 2) | (Self::Array, 1) => Self::Value,
            (Self::Value, 5) => Self::Array,
            (Self::Value, 6) => Self::List,
            _ => return None,
        })
    }
}

fn walk(mut bytes: &[u8], level: Level, depth: usize, weight: &mut usize) {
    if depth > MAX_DEPTH {
        return;
    }
    while let Some((field, content)) = next(&mut bytes) {
        let Some(below) = content.and_then(|_| level.below(field)) else {
            continue;
        };
        let own = if matches!(below, Level::Span) {
            SPAN
        } else {
            MESSAGE
        };
        *weight = weight.saturating_add(own);
        walk(content.unwrap_or_default(), below, depth + 1, weight);
    }
}

/// The number of the next field, and its bytes where it has a length.
fn next<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Option<&'a [u8]>)> {
    let key = varint(bytes)?;
    let content = match key & 7 {
        0 => {
            varint(bytes)?;
            None
        }
        1 => {
            skip(bytes, 8)?;
            None
        }
        2 => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            Some(skip(bytes, length)?)
        }
        5 => {
            skip(bytes, 4)?;
            None
        }
        // Groups are not used by OTLP; the reader skips them without memory, and what follows is still counted.
        3 | 4 => None,
        _ => return None,
    };
    Some((key >> 3, content))
}

fn skip<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (skipped, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(skipped)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..70).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
