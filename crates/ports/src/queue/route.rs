//! Where a job goes.
use std::{fmt, sync::Arc};

/// `<pipeline>/<kind>/<name>`, for example `traces/fold/trace_summary`, or below a projection
/// `<pipeline>/<fold|map>/<parent>/subscriber/<name>`. Each segment is `[a-z0-9_]{1,64}`.
///
/// Names are data: a route outlives the Rust type that it once came from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Route(Arc<str>);

impl Route {
    /// Checks the text of a route.
    ///
    /// # Errors
    /// [`RouteError`] unless it has three or five segments of `[a-z0-9_]{1,64}`.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, RouteError> {
        let text = text.into();
        let named = |s: &str| {
            (1..=64).contains(&s.len())
                && s.bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        if !matches!(text.split('/').count(), 3 | 5) || !text.split('/').all(named) {
            return Err(RouteError {
                text: text.to_string(),
            });
        }
        Ok(Self(text))
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The pipeline, the first segment.
    #[must_use]
    pub fn pipeline(&self) -> &str {
        self.0.split_once('/').map_or("", |(pipeline, _)| pipeline)
    }

    /// The kind: the second segment, but `subscriber` for a route below a projection.
    #[must_use]
    pub fn kind(&self) -> &str {
        let mut segments = self.0.split('/').skip(1);
        let kind = segments.next().unwrap_or("");
        segments.nth(1).unwrap_or(kind)
    }

    /// The last segment.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(_, name)| name)
    }

    /// What a group id carries: everything behind the pipeline.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.split_once('/').map_or("", |(_, path)| path)
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is no route.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{text:?} is no route: three or five segments of [a-z0-9_], 1-64 bytes each, joined by /")]
pub struct RouteError {
    /// The refused text.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_have_named_segments() {
        let route = Route::parse("traces/fold/summary/subscriber/settled").unwrap();
        assert_eq!(
            (route.pipeline(), route.path()),
            ("traces", "fold/summary/subscriber/settled")
        );
        assert_eq!((route.kind(), route.name()), ("subscriber", "settled"));
        let fold = Route::parse("traces/fold/summary").unwrap();
        assert_eq!((fold.kind(), fold.name()), ("fold", "summary"));
        for bad in ["", "a/b", "a/b/c/d", "a//c", "A/b/c", "a/b/c d", "a/b/c:d"] {
            assert!(Route::parse(bad).is_err(), "{bad}");
        }
    }
}
