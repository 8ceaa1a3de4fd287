//! One test of each law.

/// Makes a module of tests, one for each [`Law`](crate::Law) of a fold.
///
/// ```text
/// fold_laws!(seats: Seats, any_event);
///
/// fn any_event(seeded: &mut Seeded) -> ConcertEvent { … }
/// ```
///
/// - `seats` is the module's name.
/// - `Seats` is the [`Fold`](foldwright_domain::Fold). Its declared `Order` decides what arrival in any order has to lead to.
/// - `any_event` makes one event from choices: any event that can stand in the log, for events arrive late and a fold sees
///   each of them after any others. An aggregate's enum, or a [`Sample`](crate::Sample) where the fold reads several
///   aggregates.
///
/// Each test runs 64 histories of up to 24 events, the same ones every time. `FOLDWRIGHT_CASES` sets another number of
/// them. A failure prints the seed and the shortest history that still fails; `FOLDWRIGHT_SEED` runs that seed alone.
#[macro_export]
macro_rules! fold_laws {
    ($name:ident: $fold:ty, $event:expr) => {
        mod $name {
            #[allow(
                unused_imports,
                reason = "the fold and the generator may be named by whole paths"
            )]
            use super::*;

            #[test]
            fn batches_equal_one_by_one() {
                $crate::holds::<$fold, _>($crate::Law::BatchesEqualOneByOne, $event);
            }

            #[test]
            fn redelivery_counts_once() {
                $crate::holds::<$fold, _>($crate::Law::RedeliveryCountsOnce, $event);
            }

            #[test]
            fn arrival_in_any_order_is_one_state() {
                $crate::holds::<$fold, _>($crate::Law::ArrivalInAnyOrderIsOneState, $event);
            }

            #[test]
            fn state_survives_its_codec() {
                $crate::holds::<$fold, _>($crate::Law::StateSurvivesItsCodec, $event);
            }

            #[test]
            fn init_is_stable() {
                $crate::holds::<$fold, _>($crate::Law::InitIsStable, $event);
            }

            #[test]
            fn apply_never_panics() {
                $crate::holds::<$fold, _>($crate::Law::ApplyNeverPanics, $event);
            }
        }
    };
}
