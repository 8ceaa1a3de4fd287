//! The operator's side of a queue in which something is wrong.
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Checked, Cursor, DeadLetter, Depth, Drift, Figure, GroupFilter, GroupId, GroupLine,
    GroupView, JobId, JobView, Limits, Page, Pause, QueueAdmin, Result, Route, Scope, Swept, TenantLimits,
    TenantView, Verb, Violation, Why, WorkerView,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

pub(crate) struct Admin {
    inner: Arc<dyn QueueAdmin>,
    /// From where it was checked, each time.
    pub(crate) checked: Mutex<Vec<Option<String>>>,
    /// How often it was counted anew.
    pub(crate) recounts: Mutex<usize>,
    lines: Vec<GroupLine>,
}

impl Admin {
    /// Every check finds something, and every recount.
    pub(crate) fn wrong(inner: &Arc<dyn QueueAdmin>) -> Arc<Self> {
        Self::listing(inner, Vec::new())
    }

    /// A list of groups begins with these, whatever it was asked for.
    pub(crate) fn listing(inner: &Arc<dyn QueueAdmin>, lines: Vec<GroupLine>) -> Arc<Self> {
        Arc::new(Self {
            inner: inner.clone(),
            checked: Mutex::default(),
            recounts: Mutex::default(),
            lines,
        })
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

    async fn bury(&self, group: &GroupId, reason: &str, limit: usize) -> Result<usize> {
        self.inner.bury(group, reason, limit).await
    }

    async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool> {
        self.inner.pause(scope, reason).await
    }

    async fn resume(&self, scope: &Scope) -> Result<bool> {
        self.inner.resume(scope).await
    }

    async fn pauses(&self) -> Result<Vec<Pause>> {
        self.inner.pauses().await
    }

    async fn limit(&self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()> {
        self.inner.limit(tenant, limits).await
    }

    async fn tenant(&self, tenant: &TenantId) -> Result<TenantView> {
        self.inner.tenant(tenant).await
    }

    async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantView>> {
        self.inner.tenants(from, limits).await
    }

    async fn why(&self, group: &GroupId) -> Result<Option<Why>> {
        self.inner.why(group).await
    }

    async fn why_job(&self, tenant: &TenantId, job: JobId) -> Result<Option<Why>> {
        self.inner.why_job(tenant, job).await
    }

    async fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>> {
        let mut page = self.inner.groups(filter, from, limits).await?;
        page.items.splice(..0, self.lines.iter().cloned());
        Ok(page)
    }

    async fn jobs(&self, group: &GroupId, from: Option<Cursor>, limits: Limits) -> Result<Page<JobView>> {
        self.inner.jobs(group, from, limits).await
    }

    async fn job(&self, tenant: &TenantId, job: JobId) -> Result<Option<JobView>> {
        self.inner.job(tenant, job).await
    }

    async fn sweep(
        &self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<Cursor>,
        groups: usize,
    ) -> Result<Swept> {
        self.inner.sweep(verb, filter, dry_run, from, groups).await
    }

    async fn requeue_all(&self, tenant: Option<&TenantId>, letters: usize) -> Result<Swept> {
        self.inner.requeue_all(tenant, letters).await
    }

    async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.inner.workers().await
    }

    async fn check(&self, from: Option<Cursor>, _groups: usize) -> Result<Checked> {
        let is_first = from.is_none();
        self.checked
            .lock()
            .unwrap()
            .push(from.map(|from| format!("{from:?}")));
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
        let figure = Figure::Waiting(Route::parse("runs/command/note").unwrap());
        Ok(vec![Drift {
            figure,
            was: 95,
            is: 0,
        }])
    }
}
