//! The kind of an aggregate.

/// `[a-z][a-z0-9_]{0,63}`, checked when the constant is evaluated, so that a bad name does not compile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AggregateType(&'static str);

impl AggregateType {
    /// The longest name in bytes.
    pub const MAX_BYTES: usize = 64;

    /// Names an aggregate type.
    ///
    /// # Panics
    /// When the name breaks the rule; in a constant that is a compile error.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            Self::is_valid(name),
            "an aggregate type is [a-z][a-z0-9_]{{0,63}}"
        );
        Self(name)
    }

    /// Whether `name` could be an aggregate type.
    #[must_use]
    pub const fn is_valid(name: &str) -> bool {
        let mut rest = name.as_bytes();
        if rest.len() > Self::MAX_BYTES {
            return false;
        }
        match rest {
            [first, tail @ ..] if first.is_ascii_lowercase() => rest = tail,
            _ => return false,
        }
        while let [byte, tail @ ..] = rest {
            if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_') {
                return false;
            }
            rest = tail;
        }
        true
    }

    /// The name as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::AggregateType;

    #[test]
    fn names_follow_the_rule() {
        let longest = "a".repeat(64);
        let too_long = "a".repeat(65);
        for good in ["a", "trace", "suite_run2", longest.as_str()] {
            assert!(AggregateType::is_valid(good), "{good}");
        }
        for bad in ["", "Trace", "1a", "_a", "a-b", "a.b", "ä", too_long.as_str()] {
            assert!(!AggregateType::is_valid(bad), "{bad}");
        }
    }
}
