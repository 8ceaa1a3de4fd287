//! The continuous check of the queue.
use crate::support::{Admin, Bench, Note, Run};
use foldwright_ports::Ports;
use foldwright_runtime::{Kernel, Pipeline, Role};
use std::{sync::Arc, time::Duration};

async fn watched() -> (Arc<Admin>, Kernel) {
    let bench = Bench::new();
    let admin = Admin::wrong(&bench.ports.queue_admin);
    let ports = Ports {
        queue_admin: admin.clone(),
        ..bench.ports.clone()
    };
    let pipeline = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .build()
        .unwrap();
    let kernel = Kernel::builder(ports, Role::Worker)
        .pipeline(pipeline)
        .start()
        .unwrap();
    tokio::time::sleep(Duration::from_secs(245)).await;
    (admin, kernel)
}

/// K-16: a page each minute, from where the last one stopped, and a recount; both are counted.
#[tokio::test(start_paused = true)]
async fn the_queue_is_checked_each_minute_and_what_is_wrong_is_counted() {
    let (admin, kernel) = watched().await;
    let from: Vec<_> = admin
        .checked
        .lock()
        .unwrap()
        .iter()
        .map(Option::is_some)
        .collect();
    assert_eq!(from, [false, true, false, true]);
    assert_eq!(*admin.recounts.lock().unwrap(), 4);
    assert_eq!(kernel.counters().violations.get(), 4);
    assert_eq!(kernel.counters().drifts.get(), 4);
}
