//! A failpoint before and after every durable effect of a whole service on SQLite; at each of them the process dies, or
//! stands still until another one has taken over.
//!
//! A first life writes down every point that the scenario passes, so an effect that is new joins the matrix by itself.
//! The scenario can be begun again: it sends what it does not know to be accepted, and goes on. Which calls a worker
//! makes depends a little on how busy the machine is; a point that is not passed once its turn comes is looked for again,
//! and few may be missed.
//!
//! A run takes the first of each effect, by its name; `FOLDWRIGHT_CRASH=all` takes each time that it comes, and the name
//! of a point that point alone.
mod ears;
mod facts;
mod life;
mod plan;
mod points;
mod scenario;
mod service;
mod shelf;
mod verdict;
mod world;

use life::{DEED, HALF, Life, POINT, RECORD, STORE, Went};
use points::{Deed, Points};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};
use verdict::judge;
use world::World;

/// How many stores are worked on at a time: most of a life is waiting.
const AT_ONCE: usize = 6;

/// Every so many points the process dies there twice.
const TWICE: usize = 5;

/// How often a point is looked for that was not passed.
const LOOKS: usize = 3;

/// What time alone makes a process repeat: more of these are the same again.
const BY_TIME: [&str; 3] = ["beat#", "extend#", "reap#"];

/// What nobody does under a lease: those who send, and operators.
const WITHOUT_LEASE: [&str; 7] = [
    "stage(", "put(", "bury#", "unblock#", "requeue#", "goodbye#", "beat#",
];

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let store = directory.path().join("store.db");
    (directory, store)
}

/// The points that the scenario passes, in order, and what it came to.
async fn points(half: bool) -> Vec<String> {
    let (directory, store) = place();
    let record = directory.path().join("points");
    let went = Life::start(&store, half, None, Some(&record)).ends().await;
    assert_eq!(went, Went::ToTheEnd);
    judge(&store, half).await;
    let points = std::fs::read_to_string(record).unwrap();
    let first = |point: &&str| point.contains("#1:");
    let is_by_time = |point: &str| BY_TIME.iter().any(|name| point.starts_with(name));
    let wanted = std::env::var("FOLDWRIGHT_CRASH").unwrap_or_default();
    let is_wanted = |point: &&str| match wanted.as_str() {
        "" => first(point),
        "all" => first(point) || !is_by_time(point),
        only => only == *point,
    };
    points.lines().filter(is_wanted).map(Into::into).collect()
}

/// Runs a case for each point, several at a time, and tells of all that failed.
async fn each<C, F>(points: Vec<String>, case: C)
where
    C: Fn(usize, String) -> F,
    F: Future<Output = Went> + Send + 'static,
{
    assert!(!points.is_empty(), "no such point");
    let room = Arc::new(Semaphore::new(AT_ONCE));
    let (mut cases, mut names) = (JoinSet::new(), BTreeMap::new());
    for (number, point) in points.iter().enumerate() {
        let (case, room) = (case(number, point.clone()), room.clone());
        let task = cases.spawn(async move {
            let _room = room.acquire().await.unwrap();
            case.await
        });
        names.insert(task.id().to_string(), point.clone());
    }
    let (mut failed, mut missed) = (Vec::new(), Vec::new());
    while let Some(ended) = cases.join_next_with_id().await {
        match ended {
            Ok((_, Went::ToThePoint)) => {}
            Ok((id, Went::ToTheEnd)) => missed.push(names[&id.to_string()].clone()),
            Err(error) => failed.push(names[&error.id().to_string()].clone()),
        }
    }
    println!("{} points, not passed again: {missed:?}", points.len());
    failed.sort();
    assert!(failed.is_empty(), "{} points failed: {failed:#?}", failed.len());
    assert!(
        missed.len() * 10 <= points.len(),
        "too many points were missed: {missed:?}"
    );
}

/// A process dies at the point, where the case says so twice; the next one goes on and all is as it should be.
async fn dies(twice: bool, point: String) -> Went {
    for _ in 0..LOOKS {
        let (_directory, store) = place();
        let armed = Some((point.as_str(), Deed::Kill));
        let went = Life::start(&store, false, armed, None).ends().await;
        if went == Went::ToThePoint && twice {
            Life::start(&store, false, armed, None).ends().await;
        }
        let end = Life::start(&store, false, None, None).ends().await;
        assert_eq!(end, Went::ToTheEnd);
        judge(&store, false).await;
        if went == Went::ToThePoint {
            return went;
        }
    }
    Went::ToTheEnd
}

/// A process stands still at the point until another one has done everything, and changes nothing when it wakes up.
async fn wakes_up_late(point: String) -> Went {
    for _ in 0..LOOKS {
        let (_directory, store) = place();
        let mut zombie = Life::start(&store, true, Some((&point, Deed::Stop)), None);
        if zombie.stops().await == Went::ToTheEnd {
            continue;
        }
        let end = Life::start(&store, true, None, None).ends().await;
        assert_eq!(end, Went::ToTheEnd);
        let before = judge(&store, true).await;
        zombie.goes_on();
        assert_eq!(zombie.ends().await, Went::ToTheEnd);
        // It may have staged again what was staged already; that is for the next process to finish.
        let end = Life::start(&store, true, None, None).ends().await;
        assert_eq!(end, Went::ToTheEnd);
        let after = judge(&store, true).await;
        assert_eq!(before, after, "it changed something at {point}");
        return Went::ToThePoint;
    }
    Went::ToTheEnd
}

/// Whatever step a process is killed at, before or after: the next one goes on, and nothing is lost, doubled, disordered
/// or left lying about.
///
/// G1, G2, G3, G7, G11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_may_be_killed_between_any_two_effects() {
    each(points(false).await, |number, point| {
        dies(number % TWICE == 0, point)
    })
    .await;
}

/// A process that stands still in the midst of its work, beyond its leases, and goes on when another one has done it all,
/// changes not a byte.
///
/// G4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_wakes_up_late_changes_nothing() {
    let mut points = points(true).await;
    points.retain(|point| !WITHOUT_LEASE.iter().any(|name| point.starts_with(name)));
    each(points, |_, point| wakes_up_late(point)).await;
}

/// The other half of the tests here; on its own it has nothing to do.
#[test]
fn a_copy_works_until_it_dies() {
    let Ok(store) = std::env::var(STORE) else { return };
    let armed = std::env::var(POINT).ok().map(|point| {
        let deed = match std::env::var(DEED).unwrap().as_str() {
            "Kill" => Deed::Kill,
            "Stop" => Deed::Stop,
            other => panic!("no such deed: {other}"),
        };
        (point, deed)
    });
    let half = std::env::var(HALF).is_ok();
    let record = std::env::var(RECORD).ok();
    let points = Points::new(armed, record.as_deref().map(Path::new));
    // One thread, so that one life is much like another.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let world = World::open(Path::new(&store), points).await;
        scenario::run(&world, half).await;
    });
}
