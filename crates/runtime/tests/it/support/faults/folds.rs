//! The fold store behind a script. Its calls are about rows, as `tenant/projection/key`.
use super::{Faults, Op};
use async_trait::async_trait;
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, Error, FoldStore, Limits, Page, Result, StateKey, StateRow, Stored};
use std::sync::Arc;

pub(crate) struct FaultyFolds {
    pub(super) inner: Arc<dyn FoldStore>,
    pub(super) faults: Arc<Faults>,
}

fn name(key: &StateKey) -> String {
    format!("{}/{}/{}", key.tenant, key.projection, key.key)
}

#[async_trait]
impl FoldStore for FaultyFolds {
    async fn load(&self, keys: &[StateKey]) -> Result<Vec<Option<StateRow>>> {
        let about = keys.iter().map(name).collect();
        self.faults
            .through(Op::LoadRows, about, self.inner.load(keys), Err)
            .await
    }

    async fn store(&self, rows: Vec<StateRow>) -> Vec<Result<Stored>> {
        let names: Vec<_> = rows.iter().map(|row| name(&row.key)).collect();
        let (count, about) = (names.len(), names.clone());
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (at, (row, name)) in rows.into_iter().zip(names).enumerate() {
            match self.faults.item(Op::StoreRows, &name) {
                Some(error) => bad.push((at, error)),
                None => good.push(row),
            }
        }
        let call = async {
            let mut answers = self.inner.store(good).await;
            for (at, error) in bad {
                answers.insert(at, Err(error));
            }
            answers
        };
        let refuse = |error: Error| {
            (0..count)
                .map(|_| Err(Error::new(error.kind(), error.operation(), error.message())))
                .collect()
        };
        self.faults.through(Op::StoreRows, about, call, refuse).await
    }

    async fn list(
        &self,
        tenant: &TenantId,
        projection: &str,
        from: Option<Cursor>,
        limits: Limits,
    ) -> Result<Page<StateRow>> {
        self.inner.list(tenant, projection, from, limits).await
    }
}
