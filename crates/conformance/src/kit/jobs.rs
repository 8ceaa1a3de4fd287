//! Jobs to stage.
use super::tenant;
use bytes::Bytes;
use foldwright_domain::{EventId, Millis, Position};
use foldwright_ports::{
    BlobHash, BlobRef, Body, Context, Dedup, GroupId, JobId, MergeWindow, NewJob, Rest, Route,
};
use std::time::Duration;

/// Routes that the workers of the suites know.
pub(crate) const FOLD: &str = "shop/fold/totals";
pub(crate) const MAP: &str = "shop/map/rows";
pub(crate) const COMMAND: &str = "shop/command/decide";
pub(crate) const SUBSCRIBER: &str = "shop/fold/totals/subscriber/mail";

/// A route.
pub(crate) fn route(text: &str) -> Route {
    Route::parse(text).unwrap()
}

/// A group of `acme` in the lane of [`FOLD`].
pub(crate) fn group(key: &str) -> GroupId {
    group_of("acme", FOLD, key)
}

/// A group in the lane of a route.
pub(crate) fn group_of(owner: &str, of: &str, key: &str) -> GroupId {
    GroupId {
        tenant: tenant(owner),
        path: route(of).path().into(),
        key: key.into(),
    }
}

/// Job number `n`, staged into a group, on the route of the group's lane, due at once, without a place of its own.
pub(crate) fn job(n: u64, group: &GroupId) -> NewJob {
    let route = route(&format!("shop/{}", group.path));
    NewJob {
        id: JobId::of_event(event(n), &route),
        route,
        group: group.clone(),
        position: None,
        delay: Duration::ZERO,
        replace: false,
        dedup: None,
        format: 1,
        header: Bytes::from(format!("header {n}")),
        body: Body::Inline(Bytes::from(format!("body {n}"))),
        context: None,
    }
}

fn event(n: u64) -> EventId {
    EventId::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0000 | u128::from(n) << 12)
}

/// The name of a body.
pub(crate) fn hash_of(text: &str) -> BlobHash {
    BlobHash::of(text.as_bytes())
}

/// A body of `acme`.
pub(crate) fn blob(text: &str) -> BlobRef {
    BlobRef {
        tenant: tenant("acme"),
        hash: hash_of(text),
    }
}

/// The state of the one thing that most jobs are about.
pub(crate) fn context(body: Body) -> Context {
    Context { body, of: [1; 16] }
}

/// A failed attempt.
pub(crate) fn retry(error: &str) -> Rest {
    Rest::Retry {
        floor: None,
        error: error.into(),
    }
}

/// Changes to a job, one at a time.
pub(crate) trait JobExt {
    /// Its canonical place: the business time, then its event's id.
    fn at(self, occurred_at: Millis) -> NewJob;
    fn delayed(self, delay: Duration) -> NewJob;
    fn replacing(self) -> NewJob;
    fn dedup(self, ttl: Duration, extend: bool, replace: bool) -> NewJob;
    /// At most one run per window.
    fn throttled(self, ttl: Duration, replace: bool) -> NewJob;
    fn with_body(self, text: &str) -> NewJob;
    /// Its body lies in a blob, as does the context when one is named.
    fn in_blob(self, text: &str, bytes: u64) -> NewJob;
    fn on(self, route: &str) -> NewJob;
}

impl JobExt for NewJob {
    fn at(mut self, occurred_at: Millis) -> NewJob {
        let mut id = [0; 16];
        id.copy_from_slice(&self.id.0[..16]);
        self.position = Some(Position {
            occurred_at,
            id: EventId::from_u128(u128::from_be_bytes(id)),
        });
        self
    }

    fn delayed(mut self, delay: Duration) -> NewJob {
        self.delay = delay;
        self
    }

    fn replacing(mut self) -> NewJob {
        self.replace = true;
        self
    }

    fn dedup(mut self, ttl: Duration, extend: bool, replace: bool) -> NewJob {
        let window = if extend {
            MergeWindow::Sliding
        } else {
            MergeWindow::Fixed
        };
        self.dedup = Some(Dedup { ttl, window, replace });
        self
    }

    fn throttled(mut self, ttl: Duration, replace: bool) -> NewJob {
        let window = MergeWindow::Throttled;
        self.dedup = Some(Dedup { ttl, window, replace });
        self
    }

    fn with_body(mut self, text: &str) -> NewJob {
        self.body = Body::Inline(Bytes::copy_from_slice(text.as_bytes()));
        self
    }

    fn in_blob(mut self, text: &str, bytes: u64) -> NewJob {
        self.body = Body::Blob {
            hash: hash_of(text),
            bytes,
        };
        self
    }

    fn on(mut self, to: &str) -> NewJob {
        let mut id = [0; 16];
        id.copy_from_slice(&self.id.0[..16]);
        self.route = route(to);
        self.id = JobId::of_event(EventId::from_u128(u128::from_be_bytes(id)), &self.route);
        self
    }
}
