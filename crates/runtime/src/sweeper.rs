//! Removing bodies that nobody needs.
use foldwright_ports::{BlobEntry, BlobStore, Cursor, Held, Limits, Ports, Result};
use std::{sync::Arc, time::Duration};

/// How long a body stays after its last hold is gone.
pub(crate) const GRACE: Duration = Duration::from_secs(60 * 60);

/// How long a body that was never held stays: its writer died between writing it and staging its job.
pub(crate) const BACKSTOP: Duration = Duration::from_secs(4 * 24 * 60 * 60);

/// A body is written before its job is staged; within this time nobody may call it an orphan.
const MARGIN: Duration = Duration::from_secs(10 * 60);

/// How many bodies one sweep judges in each tier.
const JUDGED: usize = 1_000;

/// Looks at a bounded number of bodies at a time and goes on where it stopped; at the end it starts over.
#[derive(Default)]
pub(crate) struct Sweeper {
    hot: Option<Cursor>,
    cold: Option<Cursor>,
}

/// What a sweep did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Swept {
    pub(crate) judged: usize,
    pub(crate) deleted: usize,
}

impl Sweeper {
    /// Judges the next bodies of both tiers.
    pub(crate) async fn sweep(&mut self, ports: &Ports) -> Result<Swept> {
        let mut swept = tier(ports, &ports.hot_blobs, &mut self.hot).await?;
        if !Arc::ptr_eq(&ports.hot_blobs, &ports.cold_blobs) {
            let cold = tier(ports, &ports.cold_blobs, &mut self.cold).await?;
            swept = Swept {
                judged: swept.judged + cold.judged,
                deleted: swept.deleted + cold.deleted,
            };
        }
        Ok(swept)
    }
}

async fn tier(ports: &Ports, store: &Arc<dyn BlobStore>, cursor: &mut Option<Cursor>) -> Result<Swept> {
    let now = ports.clock.now();
    let page = store
        .list(now.minus(MARGIN), cursor.clone(), Limits::items(JUDGED))
        .await?;
    let blobs: Vec<_> = page.items.iter().map(|entry| entry.blob.clone()).collect();
    let held = if blobs.is_empty() {
        Vec::new()
    } else {
        ports.queue.held(&blobs).await?
    };
    let mut gone = Vec::new();
    let mut failed = None;
    let judged = page.items.iter().zip(held);
    for (entry, _) in judged.filter(|(entry, held)| is_orphan(entry, *held, now)) {
        match store.delete_untouched(&entry.blob, now.minus(MARGIN)).await {
            Ok(true) => {
                tracing::debug!(tenant = %entry.blob.tenant, hash = %entry.blob.hash, "an orphaned body was swept");
                gone.push(entry.blob.clone());
            }
            Ok(false) => {}
            // One body that cannot be deleted must not keep the sweep from those behind it for ever.
            Err(error) => failed = Some(error),
        }
    }
    let swept = Swept {
        judged: page.items.len(),
        deleted: gone.len(),
    };
    if !gone.is_empty() {
        ports.queue.forget(&gone).await?;
    }
    *cursor = page.next;
    failed.map_or(Ok(swept), Err)
}

fn is_orphan(entry: &BlobEntry, held: Held, now: foldwright_domain::Millis) -> bool {
    match held {
        Held::Yes => false,
        Held::Released(at) => now.since(at.max(entry.touched_at)) >= GRACE,
        Held::Never => now.since(entry.touched_at) >= BACKSTOP,
    }
}
