//! Subscribers whose effect is a row that outlives them: what they heard, and whether the projection held it by then.
use super::{
    service::{Lines, REFUSED, RunEvent, SLOW, Story, Total, Totals, is_mended},
    world::World,
};
use foldwright::{
    EffectError, Subscriber,
    domain::{Fold, Map, Recorded},
    ports::{Limits, StateKey},
};
use serde::{Serialize, de::DeserializeOwned};
use std::{marker::PhantomData, time::Duration};

/// Hears of totals, one by one.
pub(super) enum All {}
/// Hears of stories, when they have come to rest.
pub(super) enum Calm {}
/// Hears of lines, a while later.
pub(super) enum Late {}

pub(super) struct Ear<S, M> {
    world: World,
    _manner: PhantomData<fn() -> (S, M)>,
}

impl<S, M> Ear<S, M> {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            _manner: PhantomData,
        }
    }
}

pub(super) trait Manner<S>: Send + Sync + 'static {
    const NAME: &'static str;

    /// Whether the store holds at least what the subscriber was shown.
    fn is_stored(world: &World, event: &Recorded<RunEvent>, state: &S) -> impl Future<Output = bool> + Send;

    fn refuses(_n: u64) -> bool {
        false
    }
}

async fn row<F: Fold>(world: &World, event: &Recorded<RunEvent>) -> Option<F::State> {
    let key = StateKey {
        tenant: event.meta.stream.tenant.clone(),
        projection: F::NAME.into(),
        key: event.meta.stream.id.as_str().into(),
    };
    let rows = world.ports.folds.load(&[key]).await.unwrap();
    let row = rows.into_iter().next().flatten()?;
    Some(serde_json::from_slice(&row.state).unwrap())
}

impl Manner<Total> for All {
    const NAME: &'static str = "all";

    async fn is_stored(world: &World, event: &Recorded<RunEvent>, state: &Total) -> bool {
        let stored = row::<Totals>(world, event).await;
        state.events > 0 && stored.is_some_and(|stored| stored.events >= state.events)
    }

    fn refuses(n: u64) -> bool {
        n == REFUSED && !is_mended()
    }
}

impl Manner<Vec<u64>> for Calm {
    const NAME: &'static str = "calm";

    async fn is_stored(world: &World, event: &Recorded<RunEvent>, state: &Vec<u64>) -> bool {
        let stored = row::<Story>(world, event).await;
        state.contains(&event.data.n())
            && stored.is_some_and(|stored| state.iter().all(|n| stored.contains(n)))
    }
}

impl Manner<u64> for Late {
    const NAME: &'static str = "late";

    async fn is_stored(world: &World, event: &Recorded<RunEvent>, line: &u64) -> bool {
        let stream = &event.meta.stream;
        let page = world.ports.records.list(
            &stream.tenant,
            Lines::NAME,
            Some(stream.id.as_str()),
            None,
            Limits::items(1_000),
        );
        let records = page.await.unwrap().items;
        let json = serde_json::to_vec(line).unwrap();
        *line == event.data.n()
            && records
                .iter()
                .any(|record| record.position.id == event.meta.id && record.record == json)
    }
}

impl<S, M> Subscriber for Ear<S, M>
where
    S: Serialize + DeserializeOwned + Send + Sync + 'static,
    M: Manner<S>,
{
    type On = RunEvent;
    type State = S;
    const NAME: &'static str = M::NAME;

    async fn run(&self, event: &Recorded<RunEvent>, state: &S) -> Result<(), EffectError> {
        let n = event.data.n();
        if M::refuses(n) {
            return Err(EffectError::fatal("this number is refused"));
        }
        if n == SLOW {
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        let stored = M::is_stored(&self.world, event, state).await;
        let event = event.meta.id.to_string();
        let state = serde_json::to_string(state).unwrap();
        let write = self.world.sqlite.write(move |tx| {
            tx.execute(
                "INSERT INTO heard (ear, event, state, stored) VALUES (?1, ?2, ?3, ?4)",
                (M::NAME, event, state, stored),
            )
        });
        let name = format!("heard({})", M::NAME);
        let written = self.world.points.effect(name, write).await;
        written.map_err(|error| EffectError::retry(error.to_string()))?;
        Ok(())
    }
}
