//! The continuous check of the queue.
use crate::support::{Bench, Note, Run};
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Checked, Cursor, DeadLetter, Depth, Drift, Error, Figure, GroupId, GroupView, JobId, Kind,
    Limits, Page, Ports, QueueAdmin, Result, Route, Violation,
};
use foldwright_runtime::{Kernel, Pipeline, Role};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

/// The admin side of a queue in which something is wrong.
struct Wrong {
    inner: Arc<dyn QueueAdmin>,
    supported: bool,
    checked: Mutex<Vec<Option<String>>>,
    recounts: Mutex<usize>,
}

#[async_trait]
impl QueueAdmin for Wrong {
    async fn depth(&self) -> Result<BTreeMap<Route, Depth>> {
        self.inner.depth().await
    }

    async fn group(&self, group: &GroupId) -> Result<Option<GroupView>> {
        self.inner.group(group).await
    }

    async fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>> {
        self.inner.blocked(tenant, from, limits).await
    }

    async fn unblock(&self, group: &GroupId) -> Result<bool> {
        self.inner.unblock(group).await
    }

    async fn drain(&self, group: &GroupId, limit: usize) -> Result<usize> {
        self.inner.drain(group, limit).await
    }

    async fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>> {
        self.inner.dead_letters(tenant, from, limits).await
    }

    async fn requeue(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        self.inner.requeue(tenant, job).await
    }

    async fn discard(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        self.inner.discard(tenant, job).await
    }

    async fn check(&self, from: Option<Cursor>, _groups: usize) -> Result<Checked> {
        let is_first = from.is_none();
        self.checked
            .lock()
            .unwrap()
            .push(from.map(|from| format!("{from:?}")));
        if !self.supported {
            return Err(Error::new(Kind::Unsupported, "check", ""));
        }
        let stray = Violation {
            group: None,
            what: "a job in two states".into(),
            repaired: true,
        };
        Ok(Checked {
            groups: 1,
            violations: vec![stray],
            next: is_first.then(|| Cursor(vec![1].into())),
        })
    }

    async fn recount(&self) -> Result<Vec<Drift>> {
        *self.recounts.lock().unwrap() += 1;
        if !self.supported {
            return Err(Error::new(Kind::Unsupported, "recount", ""));
        }
        let figure = Figure::Waiting(Route::parse("runs/command/note").unwrap());
        Ok(vec![Drift {
            figure,
            was: 95,
            is: 0,
        }])
    }
}

async fn watched(supported: bool) -> (Arc<Wrong>, Kernel) {
    let bench = Bench::new();
    let admin = Arc::new(Wrong {
        inner: bench.ports.queue_admin.clone(),
        supported,
        checked: Mutex::default(),
        recounts: Mutex::default(),
    });
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
    let (admin, kernel) = watched(true).await;
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

/// A queue that cannot be checked is asked once.
#[tokio::test(start_paused = true)]
async fn a_queue_that_cannot_be_checked_is_asked_once() {
    let (admin, kernel) = watched(false).await;
    assert_eq!(admin.checked.lock().unwrap().len(), 1);
    assert_eq!(*admin.recounts.lock().unwrap(), 1);
    assert_eq!(kernel.counters().violations.get(), 0);
}
