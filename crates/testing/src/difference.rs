//! What differs, for people: two JSON texts side by side, line by line.
use serde_json::Value;

/// Larger texts are shown one after the other: comparing every line with every other would take too long.
const MOST_LINES: usize = 1_000;

/// The lines of both values; `-` was expected, `+` came.
pub(crate) fn between(expected: &Value, actual: &Value) -> String {
    let (expected, actual) = (pretty(expected), pretty(actual));
    let (left, right): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let lines = if left.len().max(right.len()) > MOST_LINES {
        one_after_the_other(&left, &right)
    } else {
        side_by_side(&left, &right)
    };
    format!("  - expected\n  + actual\n\n{}", lines.join("\n"))
}

/// The same of stored bytes. Where the values are equal and their bytes are not, only the bytes can tell.
pub(crate) fn between_bytes(expected: &[u8], actual: &[u8]) -> String {
    let text = |bytes| Value::String(String::from_utf8_lossy(bytes).into_owned());
    let read = |bytes| serde_json::from_slice::<Value>(bytes).unwrap_or_else(|_| text(bytes));
    let (left, right) = (read(expected), read(actual));
    if left == right {
        return format!(
            "the same values in another order, which is other bytes: keep ordered maps and sets\n\n{}",
            between(&text(expected), &text(actual))
        );
    }
    between(&left, &right)
}

pub(crate) fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

fn one_after_the_other(left: &[&str], right: &[&str]) -> Vec<String> {
    let expected = left.iter().map(|line| format!("  - {line}"));
    expected
        .chain(right.iter().map(|line| format!("  + {line}")))
        .collect()
}

/// Along a longest common subsequence of lines.
fn side_by_side(left: &[&str], right: &[&str]) -> Vec<String> {
    let mut rows = vec![vec![0_usize; right.len() + 1]];
    for one in left.iter().rev() {
        let mut row = vec![0; right.len() + 1];
        let below = rows.last().cloned().unwrap_or_default();
        for (at, other) in right.iter().enumerate().rev() {
            let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(0);
            let best = if one == other {
                cell(&below, at + 1) + 1
            } else {
                cell(&below, at).max(cell(&row, at + 1))
            };
            if let Some(place) = row.get_mut(at) {
                *place = best;
            }
        }
        rows.push(row);
    }
    rows.reverse();
    let common = |l: usize, r: usize| rows.get(l).and_then(|row| row.get(r)).copied().unwrap_or(0);
    let (mut l, mut r, mut lines) = (0, 0, Vec::new());
    loop {
        match (left.get(l), right.get(r)) {
            (Some(one), Some(other)) if one == other => {
                lines.push(format!("    {one}"));
                (l, r) = (l + 1, r + 1);
            }
            (Some(one), other) if other.is_none() || common(l + 1, r) >= common(l, r + 1) => {
                lines.push(format!("  - {one}"));
                l += 1;
            }
            (_, Some(other)) => {
                lines.push(format!("  + {other}"));
                r += 1;
            }
            (_, None) => return lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_differs_is_marked() {
        let shown = between(
            &json!({"a": 1, "b": 2, "c": 3}),
            &json!({"a": 1, "b": 5, "c": 3, "d": 4}),
        );
        let marked: Vec<_> = shown
            .lines()
            .skip(3)
            .filter(|line| !line.starts_with("    "))
            .collect();
        assert_eq!(
            marked,
            [
                "  -   \"b\": 2,",
                "  -   \"c\": 3",
                "  +   \"b\": 5,",
                "  +   \"c\": 3,",
                "  +   \"d\": 4"
            ]
        );
        assert!(shown.contains("\n      \"a\": 1,"), "{shown}");
    }

    #[test]
    fn equal_values_in_other_bytes_are_named_as_such() {
        let shown = between_bytes(br#"{"a":1,"b":2}"#, br#"{"b":2,"a":1}"#);
        assert!(shown.contains("keep ordered maps"), "{shown}");
        assert!(shown.contains(r#"{\"b\":2,\"a\":1}"#), "{shown}");
    }

    #[test]
    fn large_texts_are_shown_whole() {
        let large = |from: usize| Value::from((from..from + 1_100).collect::<Vec<_>>());
        let shown = between(&large(0), &large(1));
        assert_eq!(shown.lines().count(), 3 + 2 * 1_102);
    }
}
