//! The operator's side of a queue whose workers and pauses are as a test says.
use async_trait::async_trait;
use foldwright_domain::{Millis, TenantId};
use foldwright_ports::{
    BlockedGroup, Capabilities, Capability, Cursor, DeadLetter, Depth, GroupFilter, GroupId, GroupLine,
    GroupState, GroupView, JobId, Limits, Page, Pause, QueueAdmin, Result, Route, Scope, WorkerId,
    WorkerView,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

pub(crate) struct Admin {
    inner: Arc<dyn QueueAdmin>,
    workers: Mutex<Vec<WorkerView>>,
    pauses: Mutex<Vec<Pause>>,
    lines: Mutex<Vec<GroupLine>>,
}

impl Admin {
    pub(crate) fn new(inner: Arc<dyn QueueAdmin>) -> Arc<Self> {
        Arc::new(Self {
            inner,
            workers: Mutex::default(),
            pauses: Mutex::default(),
            lines: Mutex::default(),
        })
    }

    /// A worker that knows these routes has made itself known.
    pub(crate) fn knows(&self, routes: &[&str], silent: bool) {
        let capability = |route: &&str| (Route::parse(*route).unwrap(), Capability { version: 1 });
        self.workers.lock().unwrap().push(WorkerView {
            worker: WorkerId(1),
            capabilities: Capabilities {
                routes: routes.iter().map(capability).collect(),
                format: 1,
            },
            until: Millis(i64::MAX),
            silent,
        });
    }

    /// A list of groups names these.
    pub(crate) fn lists(&self, lines: Vec<GroupLine>) {
        *self.lines.lock().unwrap() = lines;
    }
}

#[async_trait]
impl QueueAdmin for Admin {
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

    async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool> {
        self.pauses.lock().unwrap().push(Pause {
            scope: scope.clone(),
            reason: reason.to_owned(),
            since: Millis(0),
        });
        Ok(true)
    }

    async fn pauses(&self) -> Result<Vec<Pause>> {
        Ok(self.pauses.lock().unwrap().clone())
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        _from: Option<Cursor>,
        _limits: Limits,
    ) -> Result<Page<GroupLine>> {
        let lines = self.lines.lock().unwrap();
        let selected = |line: &&GroupLine| filter.state.is_none_or(|state: GroupState| state == line.state);
        Ok(Page::last(lines.iter().filter(selected).cloned().collect()))
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        Ok(self.workers.lock().unwrap().clone())
    }
}
