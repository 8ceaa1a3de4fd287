//! Splitting a batch that was refused as a whole. Pure.
use std::ops::Range;

/// The parts of a lease: contiguous, in queue order, one after the other. The part that is refused is halved, so that
/// those ahead of the bad job go through and the bad one is found.
#[derive(Debug)]
pub(super) struct Bisection {
    start: usize,
    /// Where the parts that are still to come end, the next one last.
    ends: Vec<usize>,
    splits_left: u32,
}

impl Bisection {
    /// Everything in one part, which may be split so often.
    pub(super) fn new(jobs: usize, splits: u32) -> Self {
        Self {
            start: 0,
            ends: vec![jobs],
            splits_left: splits,
        }
    }

    /// The part whose turn it is; empty when all are through.
    pub(super) fn part(&self) -> Range<usize> {
        self.start..self.ends.last().copied().unwrap_or(self.start)
    }

    /// The part went through. Answers whether another one follows.
    pub(super) fn passed(&mut self) -> bool {
        self.start = self.ends.pop().unwrap_or(self.start);
        !self.ends.is_empty()
    }

    /// The part was refused. Answers whether it was halved: not where it is a single job, or the splits are used up.
    pub(super) fn refused(&mut self) -> bool {
        let part = self.part();
        if part.len() < 2 || self.splits_left == 0 {
            return false;
        }
        self.splits_left -= 1;
        self.ends.push(part.start + part.len() / 2);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs a lease against a handler; answers what went through, the sizes it was asked for, and where it stopped.
    fn run(
        jobs: usize,
        splits: u32,
        accepts: impl Fn(Range<usize>) -> bool,
    ) -> (Vec<usize>, Vec<usize>, usize) {
        let mut bisection = Bisection::new(jobs, splits);
        let (mut through, mut sizes) = (Vec::new(), Vec::new());
        loop {
            let part = bisection.part();
            sizes.push(part.len());
            let goes_on = if accepts(part.clone()) {
                through.extend(part);
                bisection.passed()
            } else {
                bisection.refused()
            };
            if !goes_on {
                return (through, sizes, bisection.part().start);
            }
        }
    }

    ///
    #[test]
    fn those_ahead_of_the_bad_one_go_through_and_it_is_found() {
        let (through, sizes, stopped) = run(500, 32, |part| !part.contains(&321));
        assert_eq!(through, (0..321).collect::<Vec<_>>());
        assert_eq!((stopped, sizes.last()), (321, Some(&1)));
    }

    ///
    #[test]
    fn a_lease_is_split_so_often_and_no_more() {
        let (through, sizes, _) = run(500, 32, |part| part.len() == 1);
        assert_eq!(sizes.iter().filter(|size| **size > 1).count(), 33);
        assert_eq!(through, (0..through.len()).collect::<Vec<_>>());
        assert!(!through.is_empty());
        assert_eq!(run(500, 0, |_| false), (vec![], vec![500], 0));
    }

    proptest! {
        ///
        #[test]
        fn parts_are_contiguous_in_order_and_each_job_goes_through_once(
            jobs in 1_usize..400, most in 1_usize..50, bad in proptest::option::of(0_usize..400),
        ) {
            let bad = bad.filter(|bad| *bad < jobs);
            let (through, _, stopped) = run(jobs, u32::MAX, |part| {
                part.len() <= most && !bad.is_some_and(|bad| part.contains(&bad))
            });
            let expected = bad.unwrap_or(jobs);
            prop_assert_eq!(through, (0..expected).collect::<Vec<_>>());
            prop_assert_eq!(stopped, expected);
        }
    }
}
