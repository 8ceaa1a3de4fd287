//! Waiting for work.
use super::{gates::Gates, slots::Slots};
use crate::{
    error::Outcome,
    reader::{Read, Readers},
};
use foldwright_domain::Millis;
use foldwright_ports::{Capabilities, Result};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// What a look at the queue found.
enum Sight {
    /// There may be something to claim.
    Work,
    /// Nothing before this instant, unless something is staged.
    Nothing(Option<i64>),
}

/// Waits until there may be something to claim. Writes of this process wake it; those of others are found by looking
/// again every `watch_interval`, and so is a clock that was moved.
pub(super) async fn wait(
    readers: &Readers,
    mut woken: watch::Receiver<()>,
    capabilities: &Capabilities,
    at_most: Duration,
) -> Result<()> {
    let capabilities = Arc::new(capabilities.clone());
    let end = deadline(at_most);
    loop {
        // What is staged from here on is not missed: it is either seen by the look, or it wakes.
        woken.borrow_and_update();
        let sight = {
            let capabilities = capabilities.clone();
            readers
                .run("wait", move |read| {
                    Ok((
                        look(read, &capabilities)?,
                        read.now.0,
                        read.settings.watch_interval,
                    ))
                })
                .await?
        };
        let pause = match sight {
            (Sight::Work, ..) => return Ok(()),
            (Sight::Nothing(Some(due)), now, interval) => Millis(due).since(Millis(now)).min(interval),
            (Sight::Nothing(None), _, interval) => interval,
        };
        if Instant::now() >= end {
            return Ok(());
        }
        // Either way it is time to look again: something was staged, or the pause is over.
        let _ = timeout_at(end.min(deadline(pause)), woken.changed()).await;
    }
}

fn deadline(from_now: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(from_now)
        .unwrap_or_else(|| now + Duration::from_secs(3_600))
}

/// Whether there is a group at its turn that such a worker can serve, and if not, when there may be one.
fn look(read: &mut Read<'_>, capabilities: &Capabilities) -> Outcome<Sight> {
    let (db, now) = (read.db, read.now.0);
    let gates = Gates::load(db, now)?;
    for slot in Slots::default().served(db, read.names, &gates, capabilities)? {
        let waits: bool = db
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM fw_lines WHERE slot = ?1 AND share IS NOT NULL)")?
            .query_row([slot], |row| row.get(0))?;
        if waits {
            return Ok(Sight::Work);
        }
    }
    let group = db
        .prepare_cached("SELECT min(recheck) FROM fw_groups WHERE recheck IS NOT NULL")?
        .query_row([], |row| row.get::<_, Option<i64>>(0))?;
    let line = db
        .prepare_cached("SELECT min(recheck) FROM fw_lines WHERE recheck IS NOT NULL")?
        .query_row([], |row| row.get(0))?;
    let opens = gates.opens().map(|until| until.0);
    Ok(match [group, line, opens].into_iter().flatten().min() {
        Some(due) if due <= now => Sight::Work,
        next => Sight::Nothing(next),
    })
}
