//! Locking without poison.
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex` even when a thread panicked while it held it: no mutation of this crate can panic half way, and
/// one broken caller must not take the store from all others.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::lock;
    use std::sync::Mutex;

    #[test]
    fn a_panic_under_the_lock_does_not_take_it_from_others() {
        let mutex = Mutex::new(7);
        std::thread::scope(|scope| {
            let broken = scope.spawn(|| {
                let _held = lock(&mutex);
                panic!("a broken caller");
            });
            assert!(broken.join().is_err());
        });
        assert!(mutex.is_poisoned());
        assert_eq!(*lock(&mutex), 7);
    }
}
