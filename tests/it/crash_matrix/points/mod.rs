//! Failpoints: a name before and after every durable effect.
//!
//! An effect is a call of a port that changes something, or a write of the user's own. Calls that only look have none,
//! and neither have a claim or a reap that find nothing: the effect before them has named the same moment.
mod admin;
mod log;
mod queue;
mod stores;

use foldwright::ports::Ports;
use rustix::process::{Signal, getpid, kill_process};
use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{Read, Write},
    path::Path,
    sync::{Arc, Mutex},
};
use tokio::sync::RwLock;

/// What happens at the armed point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// The process is killed.
    Kill,
    /// The process is stopped, until it is continued and has a byte to read.
    Stop,
}

pub(super) struct Points {
    armed: Option<(String, Deed)>,
    record: Option<Mutex<File>>,
    passed: Mutex<BTreeMap<String, u32>>,
    /// Held while a call is in the store, so that a process that is stopped leaves no lock of the file behind.
    calls: RwLock<()>,
}

impl Points {
    /// One point is armed, or every point that is passed is written down.
    pub(super) fn new(armed: Option<(String, Deed)>, record: Option<&Path>) -> Arc<Self> {
        let file = |path| OpenOptions::new().create(true).append(true).open(path).unwrap();
        Arc::new(Self {
            armed,
            record: record.map(|path| Mutex::new(file(path))),
            passed: Mutex::default(),
            calls: RwLock::new(()),
        })
    }

    /// A call that is a durable effect.
    pub(super) async fn effect<T>(&self, name: String, call: impl Future<Output = T>) -> T {
        let number = self.number(&name);
        self.pass(format!("{name}#{number}:before")).await;
        let answer = self.quiet(call).await;
        self.pass(format!("{name}#{number}:after")).await;
        answer
    }

    /// A call of which it shows only afterwards that it is one.
    pub(super) async fn effect_if<T>(
        &self,
        call: impl Future<Output = T>,
        name: impl FnOnce(&T) -> Option<String>,
    ) -> T {
        let answer = self.quiet(call).await;
        if let Some(name) = name(&answer) {
            let number = self.number(&name);
            self.pass(format!("{name}#{number}:after")).await;
        }
        answer
    }

    /// A call that is none.
    pub(super) async fn quiet<T>(&self, call: impl Future<Output = T>) -> T {
        let _in_the_store = self.calls.read().await;
        call.await
    }

    fn number(&self, name: &str) -> u32 {
        let mut passed = self.passed.lock().unwrap();
        let number = passed.entry(name.to_owned()).or_default();
        *number += 1;
        *number
    }

    async fn pass(&self, point: String) {
        if let Some(file) = &self.record {
            writeln!(file.lock().unwrap(), "{point}").unwrap();
        }
        let Some((armed, deed)) = &self.armed else { return };
        if *armed != point {
            return;
        }
        match deed {
            Deed::Kill => kill_process(getpid(), Signal::KILL).unwrap(),
            Deed::Stop => {
                let _nothing_in_the_store = self.calls.write().await;
                kill_process(getpid(), Signal::STOP).unwrap();
            }
        }
        // The signal may reach another thread first; this one does nothing more until it is told to.
        std::io::stdin().read_exact(&mut [0]).unwrap();
    }
}

/// The same ports with their failpoints.
pub(super) fn with_points(ports: &Ports, points: &Arc<Points>) -> Ports {
    let blobs = |inner: &Arc<dyn foldwright::ports::BlobStore>, tier| {
        Arc::new(stores::Blobs {
            inner: inner.clone(),
            points: points.clone(),
            tier,
        })
    };
    Ports {
        log: Arc::new(log::Log {
            inner: ports.log.clone(),
            points: points.clone(),
        }),
        queue: Arc::new(queue::Queue {
            inner: ports.queue.clone(),
            points: points.clone(),
        }),
        queue_admin: Arc::new(admin::Admin {
            inner: ports.queue_admin.clone(),
            points: points.clone(),
        }),
        folds: Arc::new(stores::Folds {
            inner: ports.folds.clone(),
            points: points.clone(),
        }),
        records: Arc::new(stores::Records {
            inner: ports.records.clone(),
            points: points.clone(),
        }),
        hot_blobs: blobs(&ports.hot_blobs, "hot"),
        cold_blobs: blobs(&ports.cold_blobs, "cold"),
        clock: ports.clock.clone(),
    }
}
