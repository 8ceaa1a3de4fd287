//! Which seeds a law is tried with.
use std::ops::Range;

/// Runs one seed alone.
const SEED: &str = "FOLDWRIGHT_SEED";
/// Runs so many seeds.
const CASES: &str = "FOLDWRIGHT_CASES";
/// Enough to break every false claim of the kit's own tests many times over, in milliseconds.
const DEFAULT_CASES: u64 = 64;

/// The seeds that the environment asks for.
///
/// # Panics
/// When a variable holds no number: a typing error must not pass for a run.
#[track_caller]
pub(super) fn from_environment() -> Range<u64> {
    let read = |name| std::env::var(name).ok();
    match seeds(read(SEED).as_deref(), read(CASES).as_deref()) {
        Ok(seeds) => seeds,
        Err(error) => panic!("{error}"),
    }
}

fn seeds(seed: Option<&str>, cases: Option<&str>) -> Result<Range<u64>, String> {
    let number = |name, text: &str| {
        text.parse::<u64>()
            .map_err(|_| format!("{name} is `{text}`, which is no number"))
    };
    match (seed, cases) {
        (Some(seed), _) => {
            let seed = number(SEED, seed)?;
            Ok(seed..seed.saturating_add(1))
        }
        (None, Some(cases)) => Ok(0..number(CASES, cases)?.max(1)),
        (None, None) => Ok(0..DEFAULT_CASES),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_runs_alone_and_no_number_is_refused() {
        assert_eq!(seeds(None, None), Ok(0..64));
        assert_eq!(seeds(None, Some("1000")), Ok(0..1_000));
        assert_eq!(seeds(Some("17"), Some("1000")), Ok(17..18));
        assert_eq!(
            seeds(Some("x17"), None),
            Err("FOLDWRIGHT_SEED is `x17`, which is no number".into())
        );
        assert!(seeds(None, Some("many")).is_err());
    }
}
