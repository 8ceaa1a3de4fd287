//! Thinning large values of events before they are dispatched.
use crate::Event;

/// What a cut text ends with, around the size of the whole one.
const MARKER: (&str, &str) = ("… [cut from ", " bytes]");

/// Cuts a text to `limit` bytes, or to the last whole character before them, and says behind it how many bytes the whole
/// text has. A text of at most `limit` bytes stays as it is.
///
/// It is made for `lean` functions of events, see [`EventSet::decode_lean`](crate::EventSet::decode_lean). What it
/// returns has at most `limit` bytes and the marker, which are at most 42 more. A text that it has cut stays as it is;
/// with a smaller limit it is cut further and still tells the size of the whole.
///
/// ```
/// # use foldwright_domain::lean_text;
/// assert_eq!(lean_text("a long story".into(), 6), "a long… [cut from 12 bytes]");
/// ```
#[must_use]
pub fn lean_text(mut value: String, limit: usize) -> String {
    let (body, whole) = cut_before(&value).unwrap_or((value.len(), value.len()));
    if body <= limit {
        return value;
    }
    value.truncate(value.floor_char_boundary(limit));
    format!("{value}{}{whole}{}", MARKER.0, MARKER.1)
}

/// Where a text that was cut before ends, and how many bytes the whole of it has. A text that only looks so says of
/// itself a size that cannot be, or no number.
fn cut_before(value: &str) -> Option<(usize, usize)> {
    let (body, whole) = value.strip_suffix(MARKER.1)?.rsplit_once(MARKER.0)?;
    let size: usize = whole.parse().ok()?;
    (size > body.len() && size.to_string() == whole).then_some((body.len(), size))
}

/// For the derives: the thinned data of a stored event, see [`EventSet::thinned`](crate::EventSet::thinned).
#[must_use]
pub fn thinned<E: Event>(event_type: &str, version: &str, data: &[u8]) -> Option<Vec<u8>> {
    let thin = |data: &[u8]| {
        let event = E::decode_lean(event_type, version, data).ok()?;
        (event.descriptor().version == version).then(|| event.encode().ok())?
    };
    let once = thin(data)?;
    // What is read of the thinned data has to be what is read of the whole.
    (once.len() < data.len() && thin(&once)? == once).then_some(once)
}

#[cfg(test)]
mod tests {
    use super::lean_text;

    const LONGEST_MARKER: usize = 42;

    /// X-21
    #[test]
    fn a_text_is_cut_one_byte_past_the_limit_and_not_at_it() {
        let at = "x".repeat(100);
        assert_eq!(lean_text(at.clone(), 100), at);
        let past = "x".repeat(101);
        assert_eq!(lean_text(past, 100), format!("{at}… [cut from 101 bytes]"));
        assert_eq!(lean_text(String::new(), 0), "");
        assert_eq!(lean_text("x".into(), 0), "… [cut from 1 bytes]");
    }

    /// X-21
    #[test]
    fn a_cut_falls_between_characters() {
        let text = "äöü".to_owned();
        for (limit, kept) in [(0, ""), (1, ""), (2, "ä"), (3, "ä"), (4, "äö"), (5, "äö")] {
            assert_eq!(
                lean_text(text.clone(), limit),
                format!("{kept}… [cut from 6 bytes]")
            );
        }
        assert_eq!(lean_text(text.clone(), 6), text);
    }

    /// X-21
    #[test]
    fn a_text_that_was_cut_stays_and_keeps_its_size_when_it_is_cut_further() {
        let whole = "é".repeat(1 << 19);
        for limit in [0, 1, 2, 99, 100] {
            let once = lean_text(whole.clone(), limit);
            assert!(once.len() <= limit + LONGEST_MARKER, "{once}");
            assert!(once.ends_with("… [cut from 1048576 bytes]"), "{once}");
            assert_eq!(lean_text(once.clone(), limit), once);
        }
        let once = lean_text(whole.clone(), 100);
        assert_eq!(lean_text(once, 40), lean_text(whole, 40));
    }

    #[test]
    fn a_text_that_only_looks_cut_is_cut() {
        for text in [
            "xxxxx… [cut from 3 bytes]",
            "xxxxx… [cut from 0099 bytes]",
            "xxxxx… [cut from +99 bytes]",
            "xxxxx… [cut from  bytes]",
        ] {
            let size = text.len();
            assert_eq!(
                lean_text(text.into(), 4),
                format!("xxxx… [cut from {size} bytes]")
            );
        }
        assert!(
            super::MARKER.0.len() + usize::MAX.to_string().len() + super::MARKER.1.len() <= LONGEST_MARKER
        );
    }
}
