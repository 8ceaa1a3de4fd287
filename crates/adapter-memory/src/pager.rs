//! Cutting lists into pages.
use foldwright_ports::{Cursor, Limits, Page};

/// How many rows one page looks at before it answers with what it has, so that a selection that matches little does
/// not hold the store's lock for a whole walk.
pub(crate) const ROWS_PER_PAGE: usize = 16_384;

/// One page of `rows`: each row is a key and, where it is selected, the item with its size in bytes.
pub(crate) fn page<K, T>(
    limits: Limits,
    rows: impl Iterator<Item = (K, Option<(T, usize)>)>,
    cursor: impl Fn(&K) -> Cursor,
) -> Page<T> {
    let most = limits.items.max(1);
    let (mut items, mut bytes) = (Vec::new(), 0_usize);
    let mut last: Option<K> = None;
    for (looked_at, (key, row)) in rows.enumerate() {
        let full = match &row {
            Some((_, size)) => {
                items.len() >= most || !items.is_empty() && bytes.saturating_add(*size) > limits.bytes
            }
            None => looked_at >= ROWS_PER_PAGE,
        };
        if full {
            let next = last.as_ref().map(cursor);
            return Page { items, next };
        }
        if let Some((item, size)) = row {
            items.push(item);
            bytes = bytes.saturating_add(size);
        }
        last = Some(key);
    }
    Page::last(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "what `page` hands over is a reference"
    )]
    fn cursor(key: &usize) -> Cursor {
        Cursor(key.to_string().into())
    }

    fn numbers(
        from: usize,
        to: usize,
        every: usize,
    ) -> impl Iterator<Item = (usize, Option<(usize, usize)>)> {
        (from..to).map(move |n| (n, n.is_multiple_of(every).then_some((n, 10))))
    }

    #[test]
    fn a_page_ends_at_its_limits_and_the_last_one_says_so() {
        let limits = Limits { items: 3, bytes: 25 };
        let first = page(limits, numbers(0, 5, 1), cursor);
        assert_eq!((first.items, first.next), (vec![0, 1], Some(cursor(&1))));
        let large = page(Limits { items: 3, bytes: 1 }, numbers(0, 5, 1), cursor);
        assert_eq!((large.items, large.next), (vec![0], Some(cursor(&0))));
        let last = page(Limits::items(3), numbers(2, 5, 1), cursor);
        assert_eq!((last.items, last.next), (vec![2, 3, 4], None));
    }

    /// L-10
    #[test]
    fn an_empty_page_is_not_the_end() {
        let wanted = 3 * ROWS_PER_PAGE;
        let (mut from, mut found, mut empty) = (1, Vec::new(), 0);
        loop {
            let part = page(Limits::items(10), numbers(from, wanted + 1, wanted), cursor);
            empty += usize::from(part.items.is_empty());
            found.extend(part.items);
            match part.next {
                Some(Cursor(next)) => {
                    from = std::str::from_utf8(&next).unwrap().parse::<usize>().unwrap() + 1;
                }
                None => break,
            }
        }
        assert_eq!(found, [wanted]);
        assert!(empty >= 2, "{empty} empty pages");
    }
}
