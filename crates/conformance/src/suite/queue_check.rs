//! A live queue proves itself right.
use crate::{
    Fixture,
    kit::{Bed, FOLD, JobExt, MAP, Seeded, group, group_of, job, retry, route, secs},
    model::{SideBySide, Step},
};
use foldwright_ports::{Checked, QueueSettings, Rest};

/// All pages of a check, `groups` looked at in each.
async fn check(bed: &Bed<'_>, groups: usize) -> Checked {
    let (mut all, mut from) = (Checked::default(), None);
    for _ in 0..10_000 {
        let page = bed.admin().check(from, groups).await.unwrap();
        assert!(page.groups <= groups as u64, "a page is bounded");
        all.groups += page.groups;
        all.violations.extend(page.violations);
        from = page.next;
        if from.is_none() {
            return all;
        }
    }
    panic!("the check does not end")
}

/// Q-16, K-16: a queue with groups in every state is found right, all of it, in pages of any size.
pub async fn a_healthy_queue_is_found_right(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let keys = [
        "leased", "blocked", "failed", "dead", "waiting", "delayed", "held",
    ];
    for (n, key) in (0..).zip(keys) {
        let delay = secs(if key == "delayed" { 60 } else { 0 });
        bed.stage_new(&[
            &job(2 * n, &group(key)).delayed(delay),
            &job(2 * n + 1, &group(key)).on(MAP),
        ])
        .await;
    }
    bed.hold_one(crate::kit::WORKER, &group("held")).await;
    for lease in bed.claim().await {
        let error = "bad".to_owned();
        match &*lease.group.key {
            "blocked" => bed.give_up(&lease, Rest::Quarantine { error }).await,
            "failed" => bed.give_up(&lease, retry("boom")).await,
            "dead" => bed.give_up(&lease, Rest::DeadLetter { error }).await,
            "waiting" | "delayed" => bed.give_up(&lease, Rest::Back).await,
            _ => {}
        }
    }
    for groups in [1, 2, 100] {
        let checked = check(&bed, groups).await;
        assert_eq!(checked.violations, []);
        assert!(checked.groups >= 7, "it looks at all of them: {checked:?}");
    }
    assert_eq!(bed.admin().recount().await.unwrap(), []);
    let depth = bed.admin().depth().await.unwrap();
    let (fold, map) = (depth[&route(FOLD)], depth[&route(MAP)]);
    assert_eq!((fold.leased, map.leased), (1, 1), "the check changed nothing");
    assert_eq!((fold.blocked, fold.dead, map.dead), (1, 1, 0));
    assert_eq!((fold.waiting, map.waiting), (4, 5));
    assert_eq!(
        bed.view(&group_of("acme", FOLD, "leased")).await.unwrap().depth,
        2
    );
}

/// Q-16, K-16: after a random mix of everything there is nothing to find, and nothing that differs from a count.
pub async fn nothing_is_found_after_a_random_mix(fixture: &dyn Fixture) {
    let scale = fixture.scale();
    for seed in 0..scale.sequences.div_ceil(10) {
        let mut random = Seeded::new(seed << 8 | 7);
        let mut pair = SideBySide::new(Bed::open_with(fixture, &QueueSettings::default()).await);
        for _ in 0..scale.steps {
            let step = Step::random(&mut random);
            if let Err(why) = pair.step(&step).await {
                panic!("seed {seed}: {why}\nafter\n{}", pair.into_trace().join("\n"));
            }
        }
        for groups in [1, 100] {
            let checked = check(&pair.bed, groups).await;
            assert_eq!(checked.violations, [], "seed {seed}");
        }
        assert_eq!(pair.bed.admin().recount().await.unwrap(), [], "seed {seed}");
    }
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &group("a"))]).await;
    assert_eq!(check(&bed, 1).await.groups, 1);
}
