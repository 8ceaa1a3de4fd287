//! The operator's verbs, and the comparison after each step.
use super::{BODIES, Ensure, SideBySide, Step, ensure, groups, limits, scopes};
use crate::kit::{all_pages, hash_of};
use foldwright_domain::TenantId;
use foldwright_ports::{BlobRef, GroupId, JobId, Limits};
use std::collections::BTreeSet;

impl SideBySide<'_> {
    pub(super) async fn operate(&mut self, step: &Step) -> Ensure {
        let now = self.bed.now();
        let admin = self.bed.admin();
        let letters = self.model.letters();
        let letter = |pick: u64| -> Option<(TenantId, JobId, GroupId)> {
            let at = usize::try_from(pick % (letters.len() as u64).max(1)).ok()?;
            let (group, job) = letters.get(at)?;
            Some((group.tenant.clone(), *job, group.clone()))
        };
        let failed = |error: foldwright_ports::Error| error.to_string();
        match step {
            Step::Unblock(at) => {
                let group = &groups()[*at];
                let said = admin.unblock(group).await.map_err(failed)?;
                self.model.unblock(group, said)
            }
            Step::Drain { group, limit } => {
                let group = &groups()[*group];
                let said = admin.drain(group, *limit).await.map_err(failed)?;
                self.model.drain(now, group, *limit, said)
            }
            Step::Requeue(pick) => {
                let Some((tenant, job, group)) = letter(*pick) else {
                    return Ok(());
                };
                let said = admin.requeue(&tenant, job).await.map_err(failed)?;
                let view = self.bed.view(&group).await;
                let order = view.map_or_else(Vec::new, |view| view.jobs);
                self.model.requeue(&tenant, job, said, &order)
            }
            Step::Discard(pick) => {
                let Some((tenant, job, _)) = letter(*pick) else {
                    return Ok(());
                };
                let said = admin.discard(&tenant, job).await.map_err(failed)?;
                self.model.discard(now, &tenant, job, said)
            }
            other => Err(format!("{other:?} is no operator's verb")),
        }
    }

    pub(super) async fn govern(&mut self, step: &Step) -> Ensure {
        let (now, admin) = (self.bed.now(), self.bed.admin());
        let failed = |error: foldwright_ports::Error| error.to_string();
        match step {
            Step::Pause(pick) => {
                let scopes = scopes();
                let scope = &scopes[usize::try_from(*pick % scopes.len() as u64).unwrap_or(0)];
                let said = admin.pause(scope, "why not").await.map_err(failed)?;
                self.model.pause(now, scope, said)
            }
            Step::Resume(pick) => {
                let mut scopes: Vec<_> = self.model.paused().cloned().collect();
                if scopes.is_empty() {
                    scopes = self::scopes().into();
                }
                let scope = &scopes[usize::try_from(*pick % scopes.len() as u64).unwrap_or(0)];
                let said = admin.resume(scope).await.map_err(failed)?;
                self.model.resume(scope, said)
            }
            Step::Limit { tenant, limits } => {
                let (tenant, limits) = (&tenants()[*tenant], self::limits()[*limits]);
                admin.limit(tenant, limits).await.map_err(failed)?;
                self.model.limit(tenant, limits);
                Ok(())
            }
            other => Err(format!("{other:?} governs nothing")),
        }
    }

    pub(super) async fn compare(&self) -> Ensure {
        let (now, admin, queue) = (self.bed.now(), self.bed.admin(), self.bed.queue());
        let failed = |error: foldwright_ports::Error| error.to_string();
        self.model.check_depth(&admin.depth().await.map_err(failed)?)?;
        for group in groups() {
            let view = admin.group(&group).await.map_err(failed)?;
            self.model.check_view(now, &group, view.as_ref())?;
        }
        for tenant in tenants() {
            let view = admin.tenant(&tenant).await.map_err(failed)?;
            self.model.check_tenant(&view)?;
        }
        self.model.check_pauses(&admin.pauses().await.map_err(failed)?)?;
        let limits = Limits::items(2);
        let blocked = all_pages(limits, |from, limits| admin.blocked(None, from, limits)).await;
        self.model.check_blocked(&blocked)?;
        let dead = all_pages(limits, |from, limits| admin.dead_letters(None, from, limits)).await;
        self.model.check_dead(&dead)?;
        let blobs = blobs();
        let held = queue.held(&blobs).await.map_err(failed)?;
        ensure(held.len() == blobs.len(), || {
            "held: an answer for each body".into()
        })?;
        for (blob, held) in blobs.iter().zip(held) {
            self.model.check_held(blob, held)?;
        }
        for (tenant, job, answer) in self.model.answers(now) {
            let said = queue.answer(&tenant, job).await.map_err(failed)?;
            ensure(said.as_ref() == Some(&answer), || {
                format!("answer of {job:?}: {said:?} instead of {answer:?}")
            })?;
        }
        Ok(())
    }
}

/// The tenants of a sequence.
fn tenants() -> Vec<TenantId> {
    let tenants: BTreeSet<_> = groups().into_iter().map(|group| group.tenant).collect();
    tenants.into_iter().collect()
}

/// All bodies of all tenants of a sequence.
pub(super) fn blobs() -> Vec<BlobRef> {
    let of = |tenant: TenantId| {
        BODIES.map(|text| BlobRef {
            tenant: tenant.clone(),
            hash: hash_of(text),
        })
    };
    tenants().into_iter().flat_map(of).collect()
}
