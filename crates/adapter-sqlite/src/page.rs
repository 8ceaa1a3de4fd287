//! Filling pages.
use crate::{codec, error::Outcome};
use foldwright_ports::{Cursor, Limits, Page};
use serde::{Serialize, de::DeserializeOwned};

/// A bound as SQLite takes it.
pub(crate) fn limit_of(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A page that takes items, each with the key behind which the next page would begin, until a limit is reached.
pub(crate) struct Filling<T, K> {
    limits: Limits,
    items: Vec<T>,
    bytes: usize,
    last: Option<K>,
    more: bool,
}

impl<T, K: Serialize + DeserializeOwned> Filling<T, K> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            items: Vec::new(),
            bytes: 0,
            last: None,
            more: false,
        }
    }

    /// Takes an item if it fits; the first one always does. `false`: the page is full.
    pub(crate) fn offer(&mut self, item: T, bytes: usize, key: K) -> bool {
        let first = self.items.is_empty();
        if !first
            && (self.items.len() >= self.limits.items || self.bytes.saturating_add(bytes) > self.limits.bytes)
        {
            self.more = true;
            return false;
        }
        self.items.push(item);
        self.bytes = self.bytes.saturating_add(bytes);
        self.last = Some(key);
        true
    }

    /// Notes that everything up to `key` was looked at without finding more.
    pub(crate) fn stop_at(&mut self, key: K) {
        self.last = Some(key);
        self.more = true;
    }

    pub(crate) fn finish(self) -> Outcome<Page<T>> {
        let next = match self.last {
            Some(last) if self.more => Some(Cursor(codec::encode(&last)?.into())),
            _ => None,
        };
        Ok(Page {
            items: self.items,
            next,
        })
    }
}
