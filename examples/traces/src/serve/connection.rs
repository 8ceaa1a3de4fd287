//! One connection.
use super::{routes::handle, state::State, write_timeout::WriteTimeout};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{convert::Infallible, pin::pin, sync::Arc};
use tokio::{net::TcpStream, sync::watch};

/// What the head of a request may take, in bytes.
const HEAD_BYTES: usize = 64 << 10;

/// Serves requests until the peer goes, a timeout strikes, or the server stops and the request in hand is answered.
pub(super) async fn serve(stream: TcpStream, state: Arc<State>, mut stopping: watch::Receiver<bool>) {
    // Answers are small and whole: nothing is gained by holding them back.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection is gone already");
        return;
    }
    let socket = WriteTimeout::new(stream, state.settings.body_timeout);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(state.settings.header_timeout)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(
            TokioIo::new(socket),
            service_fn(|request| {
                let state = state.clone();
                async move { Ok::<_, Infallible>(handle(&state, request).await) }
            }),
        );
    let mut connection = pin!(connection);
    let stop = async {
        // An error means that the server is gone, which is a reason to stop too.
        let _ = stopping.wait_for(|stop| *stop).await;
    };
    let served = tokio::select! {
        biased;
        served = connection.as_mut() => served,
        () = stop => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended badly");
    }
}
