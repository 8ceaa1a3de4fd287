use std::ops::AddAssign;

/// How many tests passed and failed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// What a line of a runner's output changes in its tally.
pub(crate) type ReadLine = fn(&str, &mut Tally);

/// For cargo's own runner, which prints a result line per test binary: they add up.
pub(crate) fn read_libtest(line: &str, tally: &mut Tally) {
    if let Some(more) = from_libtest(line) {
        *tally += more;
    }
}

/// For nextest, which prints one summary: should a test print something like it, the last one counts.
pub(crate) fn read_nextest(line: &str, tally: &mut Tally) {
    if let Some(summary) = from_nextest(line) {
        *tally = summary;
    }
}

/// `test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s`
fn from_libtest(line: &str) -> Option<Tally> {
    let line = without_colour(line);
    let result = line.strip_prefix("test result: ")?;
    Some(Tally {
        passed: count_before(result, "passed")?,
        failed: count_before(result, "failed")?,
    })
}

/// `     Summary [   1.2s] 10/12 tests run: 7 passed (1 slow), 2 failed, 1 timed out, 3 skipped`
///
/// The indent is nextest's own; it moves the output of tests further in.
fn from_nextest(line: &str) -> Option<Tally> {
    let line = without_colour(line);
    let summary = line.strip_prefix("     Summary [")?;
    let (_, counts) = summary.split_once("run:")?;
    let failures = ["failed", "timed out", "exec failed"].map(|word| count_before(counts, word).unwrap_or(0));
    Some(Tally {
        passed: count_before(counts, "passed").unwrap_or(0),
        failed: failures.iter().sum(),
    })
}

/// The number that stands right before the word, in a list set off by commas, semicolons or brackets.
fn count_before(text: &str, word: &str) -> Option<u64> {
    text.split([',', ';', '.', '(', ')']).find_map(|item| {
        let number = item.trim().strip_suffix(word)?;
        number.trim().parse().ok()
    })
}

/// The line without terminal control sequences, as a runner prints them when it is told to use colour.
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // A sequence ends with its first letter.
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u64, failed: u64) -> Option<Tally> {
        Some(Tally { passed, failed })
    }

    #[test]
    fn libtest_result_lines_are_read() {
        let ok =
            "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s";
        assert_eq!(from_libtest(ok), tally(5, 0));
        let failed = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(from_libtest(failed), tally(12, 3));
        let colour = "test result: \u{1b}[32mok\u{1b}[m. 1 passed; 0 failed; 0 ignored";
        assert_eq!(from_libtest(colour), tally(1, 0));
    }

    #[test]
    fn other_lines_of_libtest_are_left_alone() {
        for line in [
            "",
            "running 5 tests",
            "test a ... ok",
            "the test result: ok. 1 passed; 0 failed",
            "test result: ok",
        ] {
            assert_eq!(from_libtest(line), None, "{line}");
        }
    }

    #[test]
    fn result_lines_add_up_and_the_last_summary_counts() {
        let mut sum = Tally::default();
        for line in [
            "test result: ok. 5 passed; 0 failed",
            "",
            "test result: FAILED. 1 passed; 2 failed",
        ] {
            read_libtest(line, &mut sum);
        }
        assert_eq!(Some(sum), tally(6, 2));

        let mut last = Tally::default();
        for line in [
            "     Summary [ 1s] 9 tests run: 9 passed",
            "     Summary [ 1s] 3 tests run: 1 passed, 2 failed",
            "",
        ] {
            read_nextest(line, &mut last);
        }
        assert_eq!(Some(last), tally(1, 2));
    }

    #[test]
    fn nextest_summaries_are_read() {
        assert_eq!(
            from_nextest("     Summary [   0.004s] 2 tests run: 2 passed, 0 skipped"),
            tally(2, 0)
        );
        assert_eq!(
            from_nextest("     Summary [   0.004s] 1 test run: 1 passed, 0 skipped"),
            tally(1, 0)
        );
        let mixed = "     Summary [  61.2s] 10/12 tests run: 6 passed (1 slow, 1 leaky), 2 failed, 1 timed out, \
                     1 exec failed, 3 skipped";
        assert_eq!(from_nextest(mixed), tally(6, 4));
        assert_eq!(
            from_nextest("     Summary [   0.000s] 0 tests run: 0 passed, 7 skipped"),
            tally(0, 0)
        );
        assert_eq!(
            from_nextest("     Summary [   0.1s] 1 test run: 0 passed, 1 failed, 0 skipped"),
            tally(0, 1)
        );
        let colour = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.004s] \u{1b}[1m2\u{1b}[0m tests run: \u{1b}[1m2\u{1b}[0m \
                      \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped";
        assert_eq!(from_nextest(colour), tally(2, 0));
    }

    #[test]
    fn other_lines_of_nextest_are_left_alone() {
        for line in [
            "",
            "PASS [   0.003s] xtask tests::a",
            "Summary of tests",
            "Summary [ 1s] nothing",
        ] {
            assert_eq!(from_nextest(line), None, "{line}");
        }
    }
}
