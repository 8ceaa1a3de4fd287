//! Telling tasks to stop.
use std::time::Duration;
use tokio::sync::watch;

/// A request to stop that any number of tasks can wait for.
#[derive(Clone)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// A request that was not made yet, and the means to make it.
    pub(crate) fn new() -> (watch::Sender<bool>, Self) {
        let (sender, receiver) = watch::channel(false);
        (sender, Self(receiver))
    }

    /// Whether it was made. A dropped sender makes it too.
    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Returns when it is made. Cancel safe.
    pub(crate) async fn requested(&mut self) {
        // An error means that the sender is gone, which is a request too.
        let _ = self.0.wait_for(|stop| *stop).await;
    }

    /// Runs `future` unless it has to stop first.
    pub(crate) async fn or<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.requested() => None,
            output = future => Some(output),
        }
    }

    /// Waits, unless it has to stop first.
    pub(crate) async fn sleep(&mut self, time: Duration) {
        self.or(tokio::time::sleep(time)).await;
    }
}
