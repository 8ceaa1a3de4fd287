//! Telling errors of the same kind by their text.
use serde::{Deserialize, Serialize};
use std::fmt;

/// What texts of the same error have in common: the text without its numbers and quoted parts, hashed.
///
/// Stable over releases and processes, because it is stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// Of an error's text.
    #[must_use]
    pub fn of(error: &str) -> Self {
        let mut hash = Fnv::default();
        for byte in normal(error).bytes() {
            hash.write(byte);
        }
        Self(hash.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The text with what differs from one occurrence to the next left out: words that hold a digit, and what stands in
/// quotes, become `#`.
#[must_use]
pub fn normal(error: &str) -> String {
    let mut out = String::with_capacity(error.len());
    let mut quote = None;
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        if word.bytes().any(|b| b.is_ascii_digit()) {
            out.push('#');
        } else {
            out.push_str(word);
        }
        word.clear();
    };
    for c in error.chars() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                out.push('#');
            }
            Some(_) => {}
            None if matches!(c, '"' | '`') => {
                flush(&mut word, &mut out);
                quote = Some(c);
            }
            None if c.is_alphanumeric() || matches!(c, '_' | '-') => word.push(c),
            None => {
                flush(&mut word, &mut out);
                out.push(c);
            }
        }
    }
    flush(&mut word, &mut out);
    out
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K-03
    #[test]
    fn what_differs_between_occurrences_is_left_out() {
        assert_eq!(
            normal("order `A-7` of 12 items: connection to 10.0.0.7:5432 timed out after 30s"),
            "order # of # items: connection to #.#.#.#:# timed out after #"
        );
        assert_eq!(Fingerprint::of("row 7 is bad"), Fingerprint::of("row 812 is bad"));
        assert_ne!(Fingerprint::of("row 7 is bad"), Fingerprint::of("row 7 is gone"));
        assert_eq!(Fingerprint::of("row 7 is bad").to_string().len(), 16);
    }
}
