//! Traces as a table for people.
use super::SummaryLine;
use std::{io, io::Write};

pub(super) fn header(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{:<12} {:<32} {:>6} {:>6} {:>10} {:>9}  ROOT",
        "TENANT", "TRACE", "SPANS", "ERRORS", "TIME", "TOKENS"
    )
}

pub(super) fn row(out: &mut impl Write, line: &SummaryLine) -> io::Result<()> {
    writeln!(
        out,
        "{:<12} {:<32} {:>6} {:>6} {:>10} {:>9}  {}",
        line.tenant,
        line.trace_id,
        line.span_count,
        line.error_count,
        time(line.end_ns.saturating_sub(line.start_ns)),
        line.input_tokens + line.output_tokens,
        line.root_name
            .as_deref()
            .map_or_else(|| "(no root yet)".to_owned(), plain),
    )
}

/// Text of a tenant's as a terminal may see it: control characters could move the cursor, or pretend to be output.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

/// A length of time in the unit in which people would say it.
pub(super) fn time(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        1_000_000_000..60_000_000_000 => format!("{:.2} s", ns as f64 / 1e9),
        _ => format!("{:.1} min", ns as f64 / 6e10),
    }
}

#[cfg(test)]
mod tests {
    use super::{plain, time};

    #[test]
    fn no_control_character_reaches_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\n\u{7}ü"), "a\u{fffd}[31mb\u{fffd}\u{fffd}ü");
    }

    #[test]
    fn times_read_as_people_say_them() {
        assert_eq!(time(1_500), "1.5 µs");
        assert_eq!(time(12_340_000), "12.3 ms");
        assert_eq!(time(2_000_000_000), "2.00 s");
        assert_eq!(time(90_000_000_000), "1.5 min");
    }
}
