//! Everything that is wrong, at once.
use std::fmt;

/// All faults of a definition or a composition. Nothing is silently disabled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Faults(pub Vec<String>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} fault(s): {}", self.0.len(), self.0.join("; "))
    }
}

impl std::error::Error for Faults {}
