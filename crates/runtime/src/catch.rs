//! Panics of users' code.
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

/// Runs a future; a panic in it becomes what the panic said.
///
/// Cancellation: dropping this drops the future.
pub(crate) async fn catch<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    std::future::poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(cause) => Poll::Ready(Err(panic_message(&*cause))),
        },
    )
    .await
}

/// Runs a function; a panic in it becomes what the panic said.
pub(crate) fn caught<T>(function: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|cause| panic_message(&*cause))
}

/// What a panic said.
pub(crate) fn panic_message(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().copied();
    text.or_else(|| cause.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a message")
        .into()
}

#[cfg(test)]
mod tests {
    use super::catch;

    ///
    #[tokio::test]
    async fn a_panic_is_an_error() {
        assert_eq!(catch(async { 7 }).await, Ok(7));
        let failed: Result<(), _> = catch(async {
            tokio::task::yield_now().await;
            panic!("boom {}", 1)
        })
        .await;
        assert_eq!(failed, Err("boom 1".to_owned()));
    }
}
