//! The operator's verbs on the queue.
use super::Operator;
use foldwright_domain::TenantId;
use foldwright_ports::{
    BlockedGroup, Checked, Cursor, DeadLetter, Depth, Drift, GroupFilter, GroupId, GroupLine, GroupView,
    JobId, JobView, Limits, Page, Pause, Result, Route, Scope, Swept, TenantLimits, TenantView, Verb, Why,
    WorkerView,
};
use std::collections::BTreeMap;

impl Operator {
    /// How many jobs are in which state, by route, over all tenants.
    ///
    /// # Errors
    /// The queue's, of this and every other verb here; [`Kind::Security`](foldwright_ports::Kind) as the type says.
    pub async fn depth(&self) -> Result<BTreeMap<Route, Depth>> {
        self.whole("depth")?;
        self.ctx.ports.queue_admin.depth().await
    }

    /// Workers with a liveness record, by id.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn workers(&self) -> Result<Vec<WorkerView>> {
        self.whole("workers")?;
        self.ctx.ports.queue_admin.workers().await
    }

    /// Every pause, by scope; narrowed to a tenant, those of that tenant and its groups.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn pauses(&self) -> Result<Vec<Pause>> {
        let mut pauses = self.ctx.ports.queue_admin.pauses().await?;
        pauses.retain(|pause| self.may(&pause.scope).is_ok());
        Ok(pauses)
    }

    /// Pauses a scope: nothing in it is handed out any more, what is in flight finishes, and nothing is lost however long
    /// it lasts. `reason` says who paused it and why. Answers whether it was not paused before; the first reason stays.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn pause(&self, scope: &Scope, reason: &str) -> Result<bool> {
        self.may(scope)?;
        self.ctx.ports.queue_admin.pause(scope, reason).await
    }

    /// Ends the pause of exactly this scope. Answers whether it was paused.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn resume(&self, scope: &Scope) -> Result<bool> {
        self.may(scope)?;
        self.ctx.ports.queue_admin.resume(scope).await
    }

    fn may(&self, scope: &Scope) -> Result<()> {
        match scope {
            Scope::Tenant(tenant) => self.own(tenant),
            Scope::Group(group) => self.own(&group.tenant),
            Scope::All | Scope::Pipeline(_) | Scope::Kind(_) | Scope::Route(_) => self.whole("pause"),
        }
    }

    /// A tenant as the queue sees it; one that it has never seen has nothing.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn tenant(&self, tenant: &TenantId) -> Result<TenantView> {
        self.own(tenant)?;
        self.ctx.ports.queue_admin.tenant(tenant).await
    }

    /// Tenants that have jobs, groups in flight or limits of their own, ordered by name.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn tenants(&self, from: Option<Cursor>, limits: Limits) -> Result<Page<TenantView>> {
        self.whole("tenants")?;
        self.ctx.ports.queue_admin.tenants(from, limits).await
    }

    /// Sets a tenant's weight, cap and bounds; `None` gives it the default again.
    ///
    /// # Errors
    /// As [`depth`](Self::depth), or [`Kind::Invalid`](foldwright_ports::Kind) for limits with a fault. A handle that is
    /// narrowed to a tenant may not set that tenant's limits.
    pub async fn limit(&self, tenant: &TenantId, limits: Option<TenantLimits>) -> Result<()> {
        self.whole("limit")?;
        self.ctx.ports.queue_admin.limit(tenant, limits).await
    }

    /// Groups with at least one job, in an order that does not change.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn groups(
        &self,
        filter: &GroupFilter,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<GroupLine>> {
        let filter = self.filter(filter)?;
        let page = self.ctx.ports.queue_admin.groups(&filter, from, limits).await?;
        self.all_own(page.items.iter().map(|line| &line.group.tenant))?;
        Ok(page)
    }

    fn filter(&self, filter: &GroupFilter) -> Result<GroupFilter> {
        Ok(GroupFilter {
            tenant: self.narrowed(filter.tenant.as_ref())?.cloned(),
            ..filter.clone()
        })
    }

    /// Does `verb` to a page of the groups that `filter` selects; with `dry_run` it only says what it would do. Ask again
    /// with [`Swept::next`] until that is `None`.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn sweep(
        &self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<Cursor>,
        groups: usize,
    ) -> Result<Swept> {
        let filter = self.filter(filter)?;
        let queue = &self.ctx.ports.queue_admin;
        queue.sweep(verb, &filter, dry_run, from, groups).await
    }

    /// One group as it stands; `None` for one that holds no job and no lease.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn group(&self, group: &GroupId) -> Result<Option<GroupView>> {
        self.own(&group.tenant)?;
        self.ctx.ports.queue_admin.group(group).await
    }

    /// Why a group does not run; `None` for one that holds no job, no lease and no reservation.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn why(&self, group: &GroupId) -> Result<Option<Why>> {
        self.own(&group.tenant)?;
        let why = self.ctx.ports.queue_admin.why(group).await?;
        self.all_own(why.iter().map(|why| &why.group.tenant))?;
        Ok(why)
    }

    /// Why a job does not run; `None` for one that is not there.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn why_job(&self, tenant: &TenantId, job: JobId) -> Result<Option<Why>> {
        self.own(tenant)?;
        let why = self.ctx.ports.queue_admin.why_job(tenant, job).await?;
        self.all_own(why.iter().map(|why| &why.group.tenant))?;
        Ok(why)
    }

    /// The jobs of a group, in order.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn jobs(&self, group: &GroupId, from: Option<Cursor>, limits: Limits) -> Result<Page<JobView>> {
        self.own(&group.tenant)?;
        let page = self.ctx.ports.queue_admin.jobs(group, from, limits).await?;
        self.all_own(page.items.iter().map(|job| &job.group.tenant))?;
        Ok(page)
    }

    /// One job; `None` if it is not there.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn job(&self, tenant: &TenantId, job: JobId) -> Result<Option<JobView>> {
        self.own(tenant)?;
        let job = self.ctx.ports.queue_admin.job(tenant, job).await?;
        self.all_own(job.iter().map(|job| &job.group.tenant))?;
        Ok(job)
    }

    /// Quarantined groups of one tenant, or of all, ordered by when they were blocked.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn blocked(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<BlockedGroup>> {
        let tenant = self.narrowed(tenant)?;
        let page = self.ctx.ports.queue_admin.blocked(tenant, from, limits).await?;
        self.all_own(page.items.iter().map(|blocked| &blocked.group.tenant))?;
        Ok(page)
    }

    /// Opens a quarantined group: a fresh ladder, the same order. Answers whether it was blocked.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn unblock(&self, group: &GroupId) -> Result<bool> {
        self.own(&group.tenant)?;
        self.ctx.ports.queue_admin.unblock(group).await
    }

    /// Discards waiting and blocked jobs of a group, in order, at most `limit`. Answers how many.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn drain(&self, group: &GroupId, limit: usize) -> Result<usize> {
        self.own(&group.tenant)?;
        self.ctx.ports.queue_admin.drain(group, limit).await
    }

    /// Moves waiting and blocked jobs of a group to the dead letters, in order, at most `limit`. Answers how many.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn bury(&self, group: &GroupId, reason: &str, limit: usize) -> Result<usize> {
        self.own(&group.tenant)?;
        self.ctx.ports.queue_admin.bury(group, reason, limit).await
    }

    /// Dead letters of one tenant, or of all, ordered by when they died.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn dead_letters(
        &self,
        tenant: Option<&TenantId>,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<DeadLetter>> {
        let tenant = self.narrowed(tenant)?;
        let page = self
            .ctx
            .ports
            .queue_admin
            .dead_letters(tenant, from, limits)
            .await?;
        self.all_own(page.items.iter().map(|letter| &letter.group.tenant))?;
        Ok(page)
    }

    /// Puts a dead letter back: the same id, its old place, a fresh ladder. Answers whether it was there.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn requeue(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        self.own(tenant)?;
        self.ctx.ports.queue_admin.requeue(tenant, job).await
    }

    /// Puts back the oldest dead letters of one tenant, or of all, at most `letters`.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn requeue_all(&self, tenant: Option<&TenantId>, letters: usize) -> Result<Swept> {
        let tenant = self.narrowed(tenant)?;
        self.ctx.ports.queue_admin.requeue_all(tenant, letters).await
    }

    /// Removes a dead letter for good. Answers whether it was there.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn discard(&self, tenant: &TenantId, job: JobId) -> Result<bool> {
        self.own(tenant)?;
        self.ctx.ports.queue_admin.discard(tenant, job).await
    }

    /// Proves the invariants on a page of groups beside live work, and puts right what is provably stray.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn check(&self, from: Option<Cursor>, groups: usize) -> Result<Checked> {
        self.whole("check")?;
        self.ctx.ports.queue_admin.check(from, groups).await
    }

    /// Counts what the figures claim to count, puts right those that differ, and answers them.
    ///
    /// # Errors
    /// As [`depth`](Self::depth).
    pub async fn recount(&self) -> Result<Vec<Drift>> {
        self.whole("recount")?;
        self.ctx.ports.queue_admin.recount().await
    }
}
