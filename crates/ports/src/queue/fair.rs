//! Weighted max-min fairness between tenants.

/// A tenant's groups in flight for its weight, without the one that would come next.
///
/// The lowest share is served next, which fills slots evenly by weight as far as each tenant has work (progressive
/// filling): spare slots go to whoever has work, and a newcomer gets the next ones that are free. Tenants without a group
/// in flight are equal whatever their weights: [`Pass`] decides between them, or a light one would never be served where
/// there is one slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Share(pub u64);

/// How much service a tenant has had, for its weight. Decides between equal shares, so that fairness holds where one
/// worker takes one group at a time and no tenant ever has anything in flight when the next is chosen (stride
/// scheduling). Starts at zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Pass(pub u64);

/// One group in flight at weight 1.
const UNIT: u64 = 1 << 20;

impl Share {
    /// The share of a tenant with so many groups in flight. Weights below 1 count as 1.
    #[must_use]
    pub fn of(in_flight: u64, weight: u32) -> Self {
        Self(in_flight.saturating_mul(UNIT) / u64::from(weight.max(1)))
    }
}

impl Pass {
    /// A tenant's pass after a group of it was handed out; `clock` is the queue's pass, the highest at which any tenant
    /// was served so far, and is brought up to the tenant's own. Time that a tenant was away gives no credit.
    #[must_use]
    pub fn serve(self, clock: &mut Self, weight: u32) -> Self {
        *clock = self.max(*clock);
        Self(clock.0.saturating_add(UNIT / u64::from(weight.max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// F-02, F-04
    #[test]
    fn slots_fill_by_weight() {
        let (mut a, mut b) = (0, 0);
        while a + b < 100 {
            if Share::of(a, 3) < Share::of(b, 1) || a == 0 {
                a += 1;
            } else {
                b += 1;
            }
        }
        assert_eq!((a, b), (75, 25));
        assert_eq!(Share::of(0, 3), Share::of(0, 1));
    }

    /// F-04
    #[test]
    fn one_slot_is_shared_by_weight_over_time() {
        let (mut a, mut b, mut clock) = (Pass::default(), Pass::default(), Pass::default());
        let (mut served_a, mut served_b) = (0, 0);
        for _ in 0..400 {
            if a <= b {
                a = a.serve(&mut clock, 3);
                served_a += 1;
            } else {
                b = b.serve(&mut clock, 1);
                served_b += 1;
            }
        }
        assert!((299..=301).contains(&served_a), "{served_a}:{served_b}");
    }

    /// F-05
    #[test]
    fn a_tenant_that_was_away_gets_one_turn_not_a_monopoly() {
        let (mut busy, mut clock) = (Pass::default(), Pass::default());
        for _ in 0..1_000 {
            busy = busy.serve(&mut clock, 1);
        }
        let back = Pass::default().serve(&mut clock, 1);
        assert!(back >= busy, "{back:?} {busy:?}");
    }
}
