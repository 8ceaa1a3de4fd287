//! W3C trace context, version 00.
use std::{fmt, str::FromStr, sync::Arc};

/// A `traceparent` header: which trace, which span of it, and whether it is recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceParent {
    /// The trace; never zero.
    pub trace_id: u128,
    /// The span that goes before; never zero.
    pub span_id: u64,
    /// Whether the trace is recorded.
    pub sampled: bool,
}

/// The text is no `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no traceparent: version-trace id-span id-flags in lower-case hexadecimal, neither id zero")]
pub struct NoTraceParent;

impl TraceParent {
    /// The first span of a new trace, from a number that was never given before.
    #[must_use]
    pub fn first(number: u128) -> Self {
        Self {
            trace_id: number.max(1),
            // The lower half differs between two numbers of one source, whatever that is.
            span_id: u64::try_from(number & u128::from(u64::MAX)).unwrap_or(1).max(1),
            sampled: true,
        }
    }

    /// As it goes into a job.
    #[must_use]
    pub fn to_text(self) -> Arc<str> {
        self.to_string().into()
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "00-{:032x}-{:016x}-{:02x}",
            self.trace_id,
            self.span_id,
            u8::from(self.sampled)
        )
    }
}

impl FromStr for TraceParent {
    type Err = NoTraceParent;

    /// Reads version 00, and what a later version has in common with it.
    fn from_str(text: &str) -> Result<Self, NoTraceParent> {
        let mut parts = text.split('-');
        let mut hex = |digits: usize| {
            let part = parts.next().filter(|part| part.len() == digits)?;
            let lower = part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if lower {
                u128::from_str_radix(part, 16).ok()
            } else {
                None
            }
        };
        let version = hex(2).filter(|version| *version != 0xff).ok_or(NoTraceParent)?;
        let trace_id = hex(32).filter(|id| *id != 0).ok_or(NoTraceParent)?;
        let span_id = hex(16).filter(|id| *id != 0).ok_or(NoTraceParent)?;
        let flags = hex(2).ok_or(NoTraceParent)?;
        if version == 0 && parts.next().is_some() {
            return Err(NoTraceParent);
        }
        Ok(Self {
            trace_id,
            span_id: u64::try_from(span_id).map_err(|_| NoTraceParent)?,
            sampled: flags & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_others_are_refused() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let parent: TraceParent = text.parse().unwrap();
        assert_eq!((parent.to_string(), parent.sampled), (text.to_owned(), true));
        assert!(
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"
                .parse::<TraceParent>()
                .is_ok()
        );
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(bad.parse::<TraceParent>(), Err(NoTraceParent), "{bad}");
        }
    }

    #[test]
    fn a_first_span_is_always_valid() {
        for number in [0, 1, 1 << 64, u128::MAX] {
            let text = TraceParent::first(number).to_text();
            assert!(text.parse::<TraceParent>().is_ok(), "{text}");
        }
    }
}
