//! Reading in pages.
use bytes::Bytes;

/// Where the next page begins. Opaque: only the adapter that made it can read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursor(pub Bytes);

/// One page of a longer list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page<T> {
    /// What the page holds; may be empty although more follows.
    pub items: Vec<T>,
    /// Where to go on; `None` is the one sign of the end.
    pub next: Option<Cursor>,
}

impl<T> Page<T> {
    /// A page after which nothing follows.
    #[must_use]
    pub fn last(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

/// How much one page may hold. A first item that is larger than `bytes` comes alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// At most this many items; at least 1.
    pub items: usize,
    /// At most this many bytes of data.
    pub bytes: usize,
}

impl Limits {
    /// At most `items` items and 8 MiB, the page size of the kernel's own reads.
    #[must_use]
    pub const fn items(items: usize) -> Self {
        Self {
            items,
            bytes: 8 << 20,
        }
    }
}
