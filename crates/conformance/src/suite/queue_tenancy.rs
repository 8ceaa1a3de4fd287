//! Tenants in the queue.
use crate::{
    Fixture,
    kit::{Bed, COMMAND, FOLD, Seen, all_of, group_of, ids, job, settlement, tenant},
};
use bytes::Bytes;
use foldwright_ports::{Answer, Depth, GroupId, Limits, Rest, Settlement};

fn of(owner: &str) -> GroupId {
    group_of(owner, FOLD, "same")
}

/// T-05, D-06, G11: one key in two tenants is two groups, with leases, blocks and attempts of their own.
pub async fn one_key_in_two_tenants_is_two_groups(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &of("acme")), &job(2, &of("acme2"))])
        .await;
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 2);
    for lease in &leases {
        let expected = if lease.group == of("acme") {
            job(1, &of("acme"))
        } else {
            job(2, &of("acme2"))
        };
        assert_eq!((&lease.group, ids(lease)), (&expected.group, vec![expected.id]));
    }
    let mine = leases.iter().find(|lease| lease.group == of("acme")).unwrap();
    let theirs = leases.iter().find(|lease| lease.group == of("acme2")).unwrap();
    let mut crossed = settlement(mine, all_of(mine));
    crossed.lease.group = of("acme2");
    assert_eq!(
        bed.settle(vec![crossed.clone()]).await,
        [Seen::Lost],
        "another tenant's token"
    );
    assert_eq!(bed.extend(&[crossed.lease]).await, [Seen::Lost]);
    let blocked = Rest::Quarantine { error: "bad".into() };
    bed.give_up(mine, blocked).await;
    assert!(!bed.admin().unblock(&of("acme2")).await.unwrap());
    assert_eq!(
        bed.admin().drain(&of("acme2"), 10).await.unwrap(),
        0,
        "it is leased"
    );
    bed.complete(theirs).await;
    assert_eq!(bed.view(&of("acme2")).await, None);
    let view = bed.view(&of("acme")).await.unwrap();
    assert_eq!((view.depth, view.blocked_by.as_deref()), (1, Some("bad")));
    assert_eq!(bed.admin().drain(&of("acme2"), 10).await.unwrap(), 0);
    let theirs = tenant("acme2");
    let listed = bed
        .admin()
        .blocked(Some(&theirs), None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(listed.items, []);
    assert_eq!(bed.depth().await.blocked, 1);
}

/// T-05: the jobs of one event in two tenants do not know each other.
pub async fn one_id_in_two_tenants_is_two_jobs(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    bed.stage_new(&[&job(1, &of("acme"))]).await;
    bed.stage_new(&[&job(1, &of("globex"))]).await;
    let leases = bed.claim().await;
    assert_eq!(leases.len(), 2);
    let error = || "bad".to_owned();
    for lease in &leases {
        bed.give_up(lease, Rest::DeadLetter { error: error() }).await;
    }
    assert!(
        bed.admin()
            .discard(&tenant("acme"), job(1, &of("acme")).id)
            .await
            .unwrap()
    );
    assert_eq!(bed.depth().await.dead, 1);
    assert!(
        bed.admin()
            .requeue(&tenant("globex"), job(1, &of("globex")).id)
            .await
            .unwrap()
    );
    assert_eq!(bed.claim_one().await.group, of("globex"));
}

/// T-05: answers and dead letters are reached with their own tenant alone.
pub async fn another_tenant_reaches_nothing(fixture: &dyn Fixture) {
    let bed = Bed::open(fixture).await;
    let commands = group_of("acme", COMMAND, "a");
    bed.stage_new(&[&job(1, &commands), &job(2, &of("acme"))]).await;
    for lease in bed.claim().await {
        if lease.group == commands {
            let answered = Settlement {
                answers: vec![Answer {
                    job: lease.jobs[0].id,
                    answer: Bytes::from_static(b"done"),
                }],
                ..settlement(&lease, all_of(&lease))
            };
            assert_eq!(bed.settle(vec![answered]).await, [Seen::Applied]);
        } else {
            bed.give_up(&lease, Rest::DeadLetter { error: "bad".into() })
                .await;
        }
    }
    let [mine, theirs] = ["acme", "globex"].map(tenant);
    let (command, letter) = (job(1, &commands).id, job(2, &of("acme")).id);
    assert_eq!(bed.queue().answer(&theirs, command).await.unwrap(), None);
    assert!(!bed.admin().requeue(&theirs, letter).await.unwrap());
    assert!(!bed.admin().discard(&theirs, letter).await.unwrap());
    let listed = bed
        .admin()
        .dead_letters(Some(&theirs), None, Limits::items(10))
        .await
        .unwrap();
    assert_eq!(listed.items, []);
    let expected = Depth {
        dead: 1,
        ..Depth::default()
    };
    assert_eq!(bed.depth().await, expected);
    assert!(bed.queue().answer(&mine, command).await.unwrap().is_some());
    assert!(bed.admin().requeue(&mine, letter).await.unwrap());
}
