//! The rules for names and versions, checked here so that errors point at the right token.
//!
//! They repeat the domain's rules on purpose: the domain would have to be built for the compiler as well. A test
//! compares both, and generated code asserts the domain's own.
use syn::{Error, LitStr, Result};

const MAX_EVENT_TYPE_BYTES: usize = 256;

/// `<source>.<domain>.<aggregate>`.
pub(crate) fn prefix(literal: &LitStr) -> Result<String> {
    let text = literal.value();
    let segments = text.split('.').count();
    if segments != 3 {
        return Err(Error::new_spanned(
            literal,
            format!("a prefix has three segments, `<source>.<domain>.<aggregate>`, this one has {segments}"),
        ));
    }
    if !text.split('.').all(is_segment) {
        return Err(Error::new_spanned(
            literal,
            "each segment of a prefix is [a-z][a-z0-9_]*",
        ));
    }
    Ok(text)
}

/// The whole event type of a variant that is called `name`.
pub(crate) fn event_type(prefix: &str, name: &LitStr) -> Result<String> {
    let text = name.value();
    if !is_segment(&text) {
        return Err(Error::new_spanned(name, "a name is one segment, [a-z][a-z0-9_]*"));
    }
    let event_type = format!("{prefix}.{text}");
    if event_type.len() > MAX_EVENT_TYPE_BYTES {
        return Err(Error::new_spanned(
            name,
            format!(
                "an event type has at most {MAX_EVENT_TYPE_BYTES} bytes, with its prefix this one has more"
            ),
        ));
    }
    Ok(event_type)
}

/// A version: a date of the calendar.
pub(crate) fn version(literal: &LitStr) -> Result<String> {
    let text = literal.value();
    if !is_date(&text) {
        return Err(Error::new_spanned(
            literal,
            "a version is a date of the calendar, YYYY-MM-DD",
        ));
    }
    Ok(text)
}

fn is_segment(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn is_date(text: &str) -> bool {
    let well_formed = text.len() == 10
        && text.bytes().enumerate().all(|(at, b)| {
            if at == 4 || at == 7 {
                b == b'-'
            } else {
                b.is_ascii_digit()
            }
        });
    let mut parts = text.split('-').map(str::parse::<u32>);
    let (Some(Ok(year)), Some(Ok(month)), Some(Ok(day)), true) =
        (parts.next(), parts.next(), parts.next(), well_formed)
    else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-12
    #[test]
    fn a_date_is_what_the_domain_says() {
        let mut dates = 0;
        for (year, month, day) in (0..=32)
            .flat_map(|d| (0..=13).map(move |m| (m, d)))
            .flat_map(|(m, d)| [0, 1, 1900, 1999, 2000, 2024, 2026, 9999].map(|y| (y, m, d)))
        {
            let text = format!("{year:04}-{month:02}-{day:02}");
            dates += usize::from(is_date(&text));
            assert_eq!(
                is_date(&text),
                foldwright_domain::is_calendar_date(&text),
                "{text}"
            );
        }
        assert!(dates > 2_000, "{dates}");
        for text in [
            "",
            "2026-3-1",
            "2026/03/01",
            "26-03-01",
            "2026-03-0a",
            "2026-03-01 ",
            "+026-03-01",
            "2026-é3-1",
        ] {
            assert!(
                !is_date(text) && !foldwright_domain::is_calendar_date(text),
                "{text}"
            );
        }
    }

    /// C-12
    #[test]
    fn a_segment_is_what_the_domain_says() {
        for text in [
            "a", "queued", "q2_x", "", "Q", "2q", "_q", "a-b", "a b", "a.b", "ä",
        ] {
            let whole = format!("ex.sim.run.{text}");
            assert_eq!(
                is_segment(text),
                foldwright_domain::is_event_type(&whole),
                "{text}"
            );
        }
        let name = |bytes: usize| LitStr::new(&"a".repeat(bytes), proc_macro2::Span::call_site());
        for (bytes, good) in [(256 - 11, true), (257 - 11, false)] {
            let whole = format!("ex.sim.run.{}", "a".repeat(bytes));
            assert_eq!(event_type("ex.sim.run", &name(bytes)).is_ok(), good);
            assert_eq!(foldwright_domain::is_event_type(&whole), good);
        }
    }
}
