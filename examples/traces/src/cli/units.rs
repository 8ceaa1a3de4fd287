//! Times and sizes as people write them.
use std::time::Duration;

/// `250ms`, `5s`, `2m`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let number: u64 = number
        .parse()
        .map_err(|_| "a time is a whole number with ms, s or m, such as 250ms or 5s".to_owned())?;
    let milliseconds = match unit {
        "ms" => Some(number),
        "s" => number.checked_mul(1_000),
        "m" => number.checked_mul(60_000),
        _ => return Err(format!("a time ends in ms, s or m, not in {unit:?}")),
    };
    milliseconds
        .map(Duration::from_millis)
        .ok_or_else(|| "the time is too long".to_owned())
}

/// `1048576`, `512KiB`, `20MiB`, `1GiB`.
pub(super) fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let number: usize = number.parse().map_err(|_| {
        "a size is a whole number of bytes, or with KiB, MiB or GiB, such as 20MiB".to_owned()
    })?;
    let shift = match unit {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return Err(format!("a size ends in B, KiB, MiB or GiB, not in {unit:?}")),
    };
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "the size is too large".to_owned())
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_read_and_the_rest_is_refused() {
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        for bad in [
            "5",
            "s",
            "-1s",
            "1.5s",
            "5 s",
            "5h",
            "",
            "99999999999999999999s",
            "18446744073709551615m",
        ] {
            assert!(time(bad).is_err(), "{bad}");
        }
        assert_eq!(bytes("17"), Ok(17));
        assert_eq!(bytes("20MiB"), Ok(20 << 20));
        for bad in ["", "MiB", "-1", "1MB", "1 KiB", "99999999999999999999"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
