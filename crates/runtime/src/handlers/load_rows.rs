//! Loading the rows of many leases.
use super::Failure;
use foldwright_ports::{FoldRow, StateKey, StateTable};

/// A row as it was loaded, `None` where nothing was ever folded.
pub(super) type Loaded<S> = Option<FoldRow<Option<S>>>;

/// One call for all rows. A row that cannot be read (broken, or another tenant's) fails such a call, so the rows are then
/// asked for one by one: it fails its own lease alone.
pub(super) async fn load_rows<S: 'static>(
    table: &dyn StateTable<S>,
    keys: &[StateKey],
) -> Vec<Result<Loaded<S>, Failure>> {
    match table.load(keys).await {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) if error.is_retryable() || keys.len() <= 1 => {
            let failure = Failure::from(error);
            keys.iter().map(|_| Err(failure.clone())).collect()
        }
        Err(_) => {
            let mut rows = Vec::with_capacity(keys.len());
            for key in keys {
                let row = table.load(std::slice::from_ref(key)).await;
                let row = row.map(|rows| rows.into_iter().next().flatten());
                rows.push(row.map_err(Failure::from));
            }
            rows
        }
    }
}
