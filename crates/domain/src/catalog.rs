//! The catalogue of event types, and the rules that `derive(Event)` asserts at compile time.

/// One event type with every version that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// `<source>.<domain>.<aggregate>.<name>`.
    pub event_type: &'static str,
    /// The version that is written, `YYYY-MM-DD`.
    pub version: &'static str,
    /// Older versions that are upcast when read, oldest first.
    pub upcast_from: &'static [&'static str],
}

/// Whether `text` has four segments of `[a-z][a-z0-9_]*`, at most 256 bytes.
#[must_use]
pub const fn is_event_type(text: &str) -> bool {
    let mut rest = text.as_bytes();
    if rest.len() > 256 {
        return false;
    }
    let (mut segments, mut at_start) = (1, true);
    while let [byte, tail @ ..] = rest {
        match *byte {
            b'.' if !at_start => {
                segments += 1;
                at_start = true;
            }
            b'a'..=b'z' => at_start = false,
            b'0'..=b'9' | b'_' if !at_start => {}
            _ => return false,
        }
        rest = tail;
    }
    segments == 4 && !at_start
}

/// Whether the third segment of `event_type` is `wanted`.
#[must_use]
pub const fn third_segment_is(event_type: &str, wanted: &str) -> bool {
    let (mut rest, mut wanted) = (event_type.as_bytes(), wanted.as_bytes());
    let mut segment = 0;
    while let [byte, tail @ ..] = rest {
        if *byte == b'.' {
            segment += 1;
        } else if segment == 2 {
            match wanted {
                [first, others @ ..] if *first == *byte => wanted = others,
                _ => return false,
            }
        }
        rest = tail;
    }
    segment == 3 && wanted.is_empty()
}

/// Whether `text` is a date of the calendar in the form `YYYY-MM-DD`.
#[must_use]
pub const fn is_calendar_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return false;
    };
    let digits = [y1, y2, y3, y4, m1, m2, d1, d2];
    let mut rest: &[u8] = &digits;
    while let [byte, tail @ ..] = rest {
        if !byte.is_ascii_digit() {
            return false;
        }
        rest = tail;
    }
    let year = number(y1, y2) * 100 + number(y3, y4);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match number(m1, m2) {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    let day = number(d1, d2);
    year > 0 && day >= 1 && day <= days
}

const fn number(tens: u8, ones: u8) -> u32 {
    (tens - b'0') as u32 * 10 + (ones - b'0') as u32
}

/// Whether every type and version follows its rule, no type is listed twice, and each type belongs to `aggregate`.
#[must_use]
pub const fn catalog_is_sound(catalog: &[Descriptor], aggregate: &str) -> bool {
    let mut rest = catalog;
    while let [one, others @ ..] = rest {
        if !is_event_type(one.event_type)
            || !third_segment_is(one.event_type, aggregate)
            || !is_calendar_date(one.version)
            || lists(others, one.event_type)
        {
            return false;
        }
        let mut older = one.upcast_from;
        while let [version, tail @ ..] = older {
            if !is_calendar_date(version) || same(version, one.version) {
                return false;
            }
            older = tail;
        }
        rest = others;
    }
    true
}

const fn lists(mut catalog: &[Descriptor], event_type: &str) -> bool {
    while let [one, tail @ ..] = catalog {
        if same(one.event_type, event_type) {
            return true;
        }
        catalog = tail;
    }
    false
}

const fn same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    loop {
        match (left, right) {
            ([], []) => return true,
            ([l, left_tail @ ..], [r, right_tail @ ..]) if *l == *r => {
                (left, right) = (left_tail, right_tail);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C-12
    #[test]
    fn event_types_have_four_segments() {
        assert!(is_event_type("otlp.tracing.trace.span_recorded"));
        for bad in [
            "",
            "a.b.c",
            "a.b.c.d.e",
            "a..c.d",
            ".a.b.c",
            "a.b.c.",
            "A.b.c.d",
            "a.b.c.1d",
            "a b.c.d.e",
        ] {
            assert!(!is_event_type(bad), "{bad}");
        }
    }

    /// C-12
    #[test]
    fn the_third_segment_is_the_aggregate() {
        assert!(third_segment_is("a.b.run.queued", "run"));
        for bad in [
            "a.b.runs.queued",
            "a.b.ru.queued",
            "a.run.b.queued",
            "a.b.run",
            "a.b.run.c.d",
        ] {
            assert!(!third_segment_is(bad, "run"), "{bad}");
        }
    }

    /// C-12
    #[test]
    fn versions_are_dates_of_the_calendar() {
        for good in ["2026-03-01", "2024-02-29", "2000-02-29", "1999-12-31"] {
            assert!(is_calendar_date(good), "{good}");
        }
        for bad in [
            "2026-13-01",
            "2026-02-29",
            "1900-02-29",
            "2026-00-10",
            "2026-04-31",
            "2026-1-1",
            "26-01-01",
            "0000-01-01",
            "2026/01/01",
            "2026-01-0a",
        ] {
            assert!(!is_calendar_date(bad), "{bad}");
        }
    }

    /// C-12
    #[test]
    fn a_catalogue_lists_each_type_once() {
        let one = Descriptor {
            event_type: "a.b.run.queued",
            version: "2026-03-01",
            upcast_from: &["2025-01-01"],
        };
        let other = Descriptor {
            event_type: "a.b.run.done",
            ..one
        };
        assert!(catalog_is_sound(&[one, other], "run"));
        assert!(!catalog_is_sound(&[one, other, one], "run"));
        assert!(!catalog_is_sound(&[one], "suite"));
        assert!(!catalog_is_sound(
            &[Descriptor {
                upcast_from: &["2026-03-01"],
                ..one
            }],
            "run"
        ));
    }
}
