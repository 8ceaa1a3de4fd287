//! Reading whole lists page by page.
use foldwright_ports::{Cursor, Limits, Page, Result};
use std::future::Future;

/// All items of a list, read in pages of `limits`; an empty page is not the end.
pub(crate) async fn all_pages<T, F>(limits: Limits, read: impl Fn(Option<Cursor>, Limits) -> F) -> Vec<T>
where
    F: Future<Output = Result<Page<T>>>,
{
    in_pages(limits, read).await.into_iter().flatten().collect()
}

/// The pages of a list, each within `limits`.
pub(crate) async fn in_pages<T, F>(limits: Limits, read: impl Fn(Option<Cursor>, Limits) -> F) -> Vec<Vec<T>>
where
    F: Future<Output = Result<Page<T>>>,
{
    let (mut pages, mut from) = (Vec::new(), None);
    loop {
        let page = read(from, limits).await.unwrap();
        assert!(
            page.items.len() <= limits.items,
            "a page holds more items than asked for"
        );
        pages.push(page.items);
        from = page.next;
        if from.is_none() {
            return pages;
        }
        assert!(pages.len() < 100_000, "the list does not end");
    }
}
