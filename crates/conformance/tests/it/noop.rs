//! An adapter that accepts everything and does nothing.
use async_trait::async_trait;
use bytes::Bytes;
use foldwright_conformance::{Declares, Fixture, Harness, Scale, TestClock};
use foldwright_domain::{Millis, RawEvent, StreamKey, TenantId};
use foldwright_ports::{
    Append, AppendError, AppendStore, Appended, BlobEntry, BlobRef, BlobStore, BlockedGroup, Capabilities,
    Checked, Cursor, DeadLetter, Depth, Drift, EventLog, EventRef, Fence, FoldStore, GroupFilter, GroupId,
    GroupLine, GroupQueue, GroupView, Held, Hold, JobId, JobView, Lease, LeaseRef, Limits, LogCapabilities,
    NewJob, Nonce, Page, Pause, Ports, QueueAdmin, QueueSettings, Reaped, Record, Result, Retention, Room,
    Route, Scope, Selection, Settled, Settlement, StageRefused, Staged, StateKey, StateRow, Stored, Swept,
    TenantLimits, TenantView, Verb, Verdict, Want, Why, WorkerId, WorkerView,
};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Every port at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noop {
    pub(crate) declares: Declares,
}

fn empty<T>() -> Result<Page<T>> {
    Ok(Page::last(Vec::new()))
}

#[async_trait]
impl Fixture for Noop {
    fn declares(&self) -> Declares {
        self.declares
    }

    fn scale(&self) -> Scale {
        Scale {
            tasks: 2,
            groups: 3,
            jobs_per_group: 2,
            sequences: 2,
            steps: 20,
        }
    }

    async fn open_with(&self, settings: QueueSettings) -> Harness {
        let clock = TestClock::default();
        let noop = Arc::new(*self);
        let ports = Ports {
            log: noop.clone(),
            queue: noop.clone(),
            queue_admin: noop.clone(),
            folds: noop.clone(),
            records: noop.clone(),
            hot_blobs: noop.clone(),
            cold_blobs: noop,
            clock: Arc::new(clock.clone()),
        };
        Harness::new(ports, clock, settings)
    }

    async fn reopen(&self, harness: &Harness) -> Ports {
        harness.ports.clone()
    }
}

#[async_trait]
impl EventLog for Noop {
    fn capabilities(&self) -> LogCapabilities {
        LogCapabilities {
            conditional: self.declares.conditional_append,
        }
    }
    async fn append(&self, appends: Vec<Append>) -> Vec<Result<Vec<Appended>, AppendError>> {
        let fresh = |append: &Append| Ok(vec![Appended::Fresh; append.batch.events().len()]);
        appends.iter().map(fresh).collect()
    }
    async fn load(&self, _: &StreamKey, _: Option<Cursor>, _: Limits) -> Result<Page<RawEvent>> {
        empty()
    }
    async fn find(&self, events: &[EventRef]) -> Result<Vec<Option<RawEvent>>> {
        Ok(vec![None; events.len()])
    }
    async fn scan(&self, _: &Selection, _: Option<Cursor>, _: Limits) -> Result<Page<RawEvent>> {
        empty()
    }
    async fn aggregates(&self, _: &Selection, _: Option<Cursor>, _: Limits) -> Result<Page<StreamKey>> {
        empty()
    }
    async fn tenants(&self, _: Option<Cursor>, _: Limits) -> Result<Page<TenantId>> {
        empty()
    }
    async fn erase(&self, _: &Selection, _: usize) -> Result<usize> {
        Ok(0)
    }
    async fn retain(&self, _: &Retention, _: usize) -> Result<usize> {
        Ok(0)
    }
}

#[async_trait]
impl GroupQueue for Noop {
    async fn stage(&self, _: Nonce, jobs: Vec<NewJob>, _room: Room) -> Result<Vec<Staged>, StageRefused> {
        Ok(vec![Staged::New; jobs.len()])
    }
    async fn claim(&self, _: Nonce, _: WorkerId, _: &Want) -> Result<Vec<Lease>> {
        Ok(Vec::new())
    }
    async fn settle(
        &self,
        _: Nonce,
        _: WorkerId,
        settlements: Vec<Settlement>,
        _: Option<&Want>,
    ) -> Result<Settled> {
        Ok(Settled {
            verdicts: settlements.iter().map(|_| Verdict::Applied).collect(),
            squashed: 0,
            next: Vec::new(),
        })
    }
    async fn extend(&self, leases: &[LeaseRef], _: Duration) -> Result<Vec<Verdict>> {
        Ok(leases.iter().map(|_| Verdict::Applied).collect())
    }
    async fn reap(&self, _: usize) -> Result<Reaped> {
        Ok(Reaped::default())
    }
    async fn wait(&self, _: &Capabilities, _: Duration) -> Result<()> {
        Ok(())
    }
    async fn answer(&self, _: &TenantId, _: JobId) -> Result<Option<Bytes>> {
        Ok(None)
    }
    async fn hold(&self, _: Nonce, _: WorkerId, groups: &[GroupId], lease: Duration) -> Result<Vec<Hold>> {
        let granted = |group: &GroupId| Hold::Granted {
            lease: LeaseRef {
                group: group.clone(),
                fence: Fence(1),
            },
            until: TestClock::START.plus(lease),
            completed: None,
        };
        Ok(groups.iter().map(granted).collect())
    }
    async fn beat(&self, _: WorkerId, _: &Capabilities, _: Duration) -> Result<()> {
        Ok(())
    }
    async fn goodbye(&self, _: WorkerId) -> Result<()> {
        Ok(())
    }
    async fn held(&self, blobs: &[BlobRef]) -> Result<Vec<Held>> {
        Ok(vec![Held::Never; blobs.len()])
    }
    async fn forget(&self, _: &[BlobRef]) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl QueueAdmin for Noop {
    async fn depth(&self) -> Result<BTreeMap<Route, Depth>> {
        Ok(BTreeMap::new())
    }
    async fn group(&self, _: &GroupId) -> Result<Option<GroupView>> {
        Ok(None)
    }
    async fn blocked(
        &self,
        _: Option<&TenantId>,
        _: Option<Cursor>,
        _: Limits,
    ) -> Result<Page<BlockedGroup>> {
        empty()
    }
    async fn unblock(&self, _: &GroupId) -> Result<bool> {
        Ok(true)
    }
    async fn drain(&self, _: &GroupId, _: usize) -> Result<usize> {
        Ok(0)
    }
    async fn dead_letters(
        &self,
        _: Option<&TenantId>,
        _: Option<Cursor>,
        _: Limits,
    ) -> Result<Page<DeadLetter>> {
        empty()
    }
    async fn requeue(&self, _: &TenantId, _: JobId) -> Result<bool> {
        Ok(true)
    }
    async fn discard(&self, _: &TenantId, _: JobId) -> Result<bool> {
        Ok(true)
    }
    async fn bury(&self, _: &GroupId, _: &str, _: usize) -> Result<usize> {
        Ok(0)
    }
    async fn pause(&self, _: &Scope, _: &str) -> Result<bool> {
        Ok(true)
    }
    async fn resume(&self, _: &Scope) -> Result<bool> {
        Ok(true)
    }
    async fn pauses(&self) -> Result<Vec<Pause>> {
        Ok(Vec::new())
    }
    async fn limit(&self, _: &TenantId, _: Option<TenantLimits>) -> Result<()> {
        Ok(())
    }
    async fn tenant(&self, tenant: &TenantId) -> Result<TenantView> {
        Ok(TenantView {
            tenant: tenant.clone(),
            limits: TenantLimits::default(),
            in_flight: 0,
            jobs: 0,
            bytes: 0,
            capped: false,
        })
    }
    async fn tenants(&self, _: Option<Cursor>, _: Limits) -> Result<Page<TenantView>> {
        empty()
    }
    async fn why(&self, _: &GroupId) -> Result<Option<Why>> {
        Ok(None)
    }
    async fn why_job(&self, _: &TenantId, _: JobId) -> Result<Option<Why>> {
        Ok(None)
    }
    async fn groups(&self, _: &GroupFilter, _: Option<Cursor>, _: Limits) -> Result<Page<GroupLine>> {
        empty()
    }
    async fn jobs(&self, _: &GroupId, _: Option<Cursor>, _: Limits) -> Result<Page<JobView>> {
        empty()
    }
    async fn job(&self, _: &TenantId, _: JobId) -> Result<Option<JobView>> {
        Ok(None)
    }
    async fn sweep(&self, _: Verb, _: &GroupFilter, _: bool, _: Option<Cursor>, _: usize) -> Result<Swept> {
        Ok(Swept::default())
    }
    async fn requeue_all(&self, _: Option<&TenantId>, _: usize) -> Result<Swept> {
        Ok(Swept::default())
    }
    async fn workers(&self) -> Result<Vec<WorkerView>> {
        Ok(Vec::new())
    }
    async fn check(&self, _: Option<Cursor>, _: usize) -> Result<Checked> {
        Ok(Checked::default())
    }
    async fn recount(&self) -> Result<Vec<Drift>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl FoldStore for Noop {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>> {
        Ok(vec![None; keys.len()])
    }
    async fn store(&self, rows: Vec<StateRow>) -> Vec<Result<Stored>> {
        rows.iter().map(|_| Ok(Stored::Yes)).collect()
    }
    async fn list(&self, _: &TenantId, _: &str, _: Option<Cursor>, _: Limits) -> Result<Page<StateRow>> {
        empty()
    }
}

#[async_trait]
impl AppendStore for Noop {
    async fn append(&self, records: Vec<Record>) -> Vec<Result<()>> {
        records.iter().map(|_| Ok(())).collect()
    }
    async fn list(
        &self,
        _: &TenantId,
        _: &str,
        _: Option<&str>,
        _: Option<Cursor>,
        _: Limits,
    ) -> Result<Page<Record>> {
        empty()
    }
}

#[async_trait]
impl BlobStore for Noop {
    async fn put(&self, _: &BlobRef, _: Bytes) -> Result<()> {
        Ok(())
    }
    async fn get(&self, _: &BlobRef) -> Result<Option<Bytes>> {
        Ok(None)
    }
    async fn list(&self, _: Millis, _: Option<Cursor>, _: Limits) -> Result<Page<BlobEntry>> {
        empty()
    }
    async fn delete_untouched(&self, _: &BlobRef, _: Millis) -> Result<bool> {
        Ok(true)
    }
}
