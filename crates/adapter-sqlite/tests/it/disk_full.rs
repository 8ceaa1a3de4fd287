//! A file that may not grow.
use crate::support::{group, job, nonce, open, place, run, want};
use bytes::Bytes;
use foldwright_ports::{Body, Kind, Outcome, Room, Settlement, WorkerId};

/// what the file has no room for is refused whole, and the queue can be emptied again.
#[test]
fn a_full_file_refuses_and_recovers() {
    let (_directory, path) = place();
    run(async {
        let sqlite = open(&path);
        let queue = sqlite.ports().queue;
        sqlite
            .write(|tx| {
                let pages: i64 = tx.query_row("PRAGMA page_count", [], |row| row.get(0))?;
                tx.query_row(&format!("PRAGMA max_page_count = {}", pages + 40), [], |_| Ok(()))
            })
            .await
            .unwrap();
        let mut staged = 0;
        let refused = loop {
            let mut large = job(staged + 1, &group("acme", &staged.to_string()));
            large.body = Body::Inline(Bytes::from(vec![7; 4_096]));
            match queue.stage(nonce(), vec![large.clone()], Room::Sender).await {
                Ok(_) => staged += 1,
                Err(refused) => {
                    assert_eq!(refused.jobs, [large], "the job comes back");
                    break refused.error;
                }
            }
        };
        assert_eq!(refused.kind(), Kind::Full, "{refused}");
        assert!(staged > 10);
        let depths = sqlite.ports().queue_admin.depth().await.unwrap();
        assert_eq!(depths.values().map(|depth| depth.waiting).sum::<u64>(), staged);

        sqlite
            .write(|tx| tx.query_row("PRAGMA max_page_count = 1000000", [], |_| Ok(())))
            .await
            .unwrap();
        let leases = queue.claim(nonce(), WorkerId(1), &want(10_000, 9)).await.unwrap();
        assert_eq!(leases.len() as u64, staged);
        let settlements = leases.iter().map(|lease| Settlement {
            lease: lease.reference(),
            outcome: Outcome::complete(1),
            answers: Vec::new(),
            then: Vec::new(),
        });
        queue
            .settle(nonce(), WorkerId(1), settlements.collect(), None)
            .await
            .unwrap();
        assert!(sqlite.ports().queue_admin.depth().await.unwrap().is_empty());
    });
}
