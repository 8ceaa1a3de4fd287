//! What the process does until it dies, or to the end. Begun again, it goes on where its notes say it stopped.
use super::{
    ears::{All, Manner},
    facts::snapshot,
    plan::{MIGRATED, Planned, TENANTS, broken, bulky, finish, later, migrated, numbers, takes, tenant},
    service::MENDED,
    world::World,
};
use foldwright::{
    Kernel, Role, WithoutBase,
    domain::{Command, Intent, Millis},
    ports::{Limits, Retention, Selection},
};
use std::{sync::atomic::Ordering, time::Duration};

/// Longer than any body is kept that nobody holds.
const LONG: Duration = Duration::from_secs(5 * 24 * 60 * 60);

const ENOUGH: Duration = Duration::from_secs(60);

/// `half` ends it before the log is cut and the time moves on: a process that was away for longer than what is kept for
/// the sake of those who are away finds another world.
pub(super) async fn run(world: &World, half: bool) {
    if world.noted("mended").await.is_some() {
        MENDED.store(true, Ordering::Relaxed);
    }
    let kernel = world.kernel(Role::All);
    let notes = numbers().into_iter().map(|one| (one.by(), one.note())).collect();
    send(world, &kernel, "numbers", notes).await;
    settled(&kernel).await;
    let notes = bulky().into_iter().map(|one| (one.by(), one.note())).collect();
    send(world, &kernel, "bulky", notes).await;
    settled(&kernel).await;
    for one in takes() {
        ask(world, &kernel, &one, one.take()).await;
    }
    ask(world, &kernel, &finish(), finish().finish(finish().by())).await;
    settled(&kernel).await;
    migrate(world).await;
    settled(&kernel).await;
    mend(world, &kernel).await;
    restage(world, &kernel).await;
    settled(&kernel).await;
    if !half {
        second_half(world, &kernel).await;
    }
    kernel.close().await;
    world.sqlite.close().await.unwrap();
}

async fn second_half(world: &World, kernel: &Kernel) {
    cut(world, kernel).await;
    let notes = later().into_iter().map(|one| (one.by(), one.note())).collect();
    send(world, kernel, "later", notes).await;
    settled(kernel).await;
    world.moves_on(LONG);
    until(async || bodies(world).await == 0).await;
    settled(kernel).await;
}

/// Sends what was not accepted yet, as far as the sender knows.
async fn send<C: Command>(world: &World, kernel: &Kernel, step: &str, intents: Vec<(String, Intent<C>)>) {
    let step = format!("sent {step}");
    if world.noted(&step).await.is_some() {
        return;
    }
    let (by, intents): (Vec<_>, Vec<_>) = intents.into_iter().unzip();
    world.attempt(by).await;
    kernel.send_all(intents).await.map_err(|e| e.refused).unwrap();
    world.note(&step, "").await;
}

/// Sends one and waits for its answer.
async fn ask<C: Command>(world: &World, kernel: &Kernel, one: &Planned, intent: Intent<C>) {
    let step = format!("answered {}", one.by());
    if world.noted(&step).await.is_some() {
        return;
    }
    world.attempt(vec![one.by()]).await;
    let receipt = kernel.ask(intent).await.map_err(|e| e.refused).unwrap();
    let answer = receipt.decided(ENOUGH).await.unwrap();
    world.note(&step, &format!("{answer:?}")).await;
}

async fn migrate(world: &World) {
    if world.noted("migrated").await.is_some() {
        return;
    }
    let migration = world.kernel(Role::Migration);
    let one = migrated();
    let by = format!("{MIGRATED} {}", one.by());
    world.attempt(vec![by.clone()]).await;
    let sent = migration.send(one.finish(by)).await;
    sent.map_err(|e| e.refused).unwrap();
    migration.close().await;
    world.note("migrated", "").await;
}

/// What waits for a person: a command whose code is broken, and a run that is given up and put back later.
async fn mend(world: &World, kernel: &Kernel) {
    let one = broken();
    send(world, kernel, "broken", vec![(one.by(), one.finish(one.by()))]).await;
    let (operator, all) = (kernel.operator(), Limits::items(100));
    let blocked = async || operator.blocked(None, None, all).await.unwrap().items;
    let dead = async || operator.dead_letters(None, None, all).await.unwrap().items;
    if world.noted("mended").await.is_none() {
        // A process that woke up late finds that another one has done it.
        let is_done = async || world.noted("mended").await.is_some();
        until(async || blocked().await.len() + dead().await.len() == 2 || is_done().await).await;
        for group in blocked().await.into_iter().map(|one| one.group) {
            if group.path.ends_with(All::NAME) {
                operator.bury(&group, "nobody takes it", 1).await.unwrap();
            }
        }
        MENDED.store(true, Ordering::Relaxed);
        world.note("mended", "").await;
    }
    for one in blocked().await {
        operator.unblock(&one.group).await.unwrap();
    }
    for one in dead().await {
        operator.requeue(&one.group.tenant, one.job).await.unwrap();
    }
    settled(kernel).await;
}

/// All jobs once more, from the log.
async fn restage(world: &World, kernel: &Kernel) {
    if world.noted("restaged").await.is_some() {
        return;
    }
    for owner in TENANTS {
        let (operator, all) = (kernel.operator(), Selection::all(tenant(owner)));
        let mut from = None;
        loop {
            let page = operator.restage(&all, Millis(0), from, 6).await;
            from = page.unwrap().next;
            if from.is_none() {
                break;
            }
        }
    }
    world.note("restaged", "").await;
}

/// Lets go of all that was accepted so far; what there was is written down first.
async fn cut(world: &World, kernel: &Kernel) {
    if world.noted("cut").await.is_some() {
        return;
    }
    snapshot(world).await;
    let now = world.ports.clock.now().0.to_string();
    world.note("horizon", &now).await;
    let horizon = world.noted("horizon").await.unwrap();
    for owner in TENANTS {
        let retention = Retention {
            tenant: tenant(owner),
            aggregate_types: Vec::new(),
            accepted_before: Millis(horizon.parse().unwrap()),
        };
        let operator = kernel.operator();
        let mut from = None;
        loop {
            let step = operator.retain(&retention, WithoutBase::Stop, from, 8).await;
            from = step.unwrap().next;
            if from.is_none() {
                break;
            }
        }
    }
    world.note("cut", "").await;
}

/// Nothing waits and nothing runs, subscribers included.
async fn settled(kernel: &Kernel) {
    until(async || {
        let left = kernel.backlog().await.unwrap();
        left.open() + left.subscribers.waiting + left.subscribers.leased == 0
    })
    .await;
}

async fn bodies(world: &World) -> usize {
    let all = world
        .ports
        .hot_blobs
        .list(Millis(i64::MAX), None, Limits::items(100));
    all.await.unwrap().items.len()
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let holds = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(ENOUGH, holds)
        .await
        .expect("it never came to hold");
}
