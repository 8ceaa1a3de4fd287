//! What a kernel says of how it was wired.
use crate::support::{
    All, Bench, Ear, Evens, Heard, Journal, Note, Odds, Parity, Run, RunEvent, Story, Total, Totals, Usage,
};
use foldwright_domain::{Dispatch, TenantId};
use foldwright_ports::{Record, RecordTable, Route};
use foldwright_runtime::{Global, Kernel, KillSwitch, Pipeline, Role, SubscriberOptions, Switch};
use std::{error::Error, sync::Arc, time::Duration};

struct On;

impl KillSwitch for On {
    fn look_up(&self, _: &Route, _: &TenantId) -> Result<Switch, Box<dyn Error + Send + Sync>> {
        Ok(Switch::On)
    }
}

struct Own;

#[async_trait::async_trait]
impl RecordTable<u64> for Own {
    async fn append(&self, records: Vec<Record<u64>>) -> Vec<foldwright_ports::Result<()>> {
        records.iter().map(|_| Ok(())).collect()
    }
}

fn kernel(bench: &Bench, role: Role) -> Kernel {
    let heard: Arc<Heard<Total>> = Heard::new();
    let throttled =
        SubscriberOptions::new(Dispatch::throttle(Duration::from_secs(10))).run_in([Role::Worker]);
    let runs = Pipeline::<Run>::define("runs")
        .declares::<Note>()
        .fold::<Totals>(|f| {
            f.subscriber(Ear::<RunEvent, Total, All>::new(&heard), Dispatch::each())
                .subscriber_with(Ear::<RunEvent, Total, Evens>::new(&heard), throttled)
        })
        .fold::<Story>(|f| f)
        .keyed::<Parity>(|f| f)
        .map::<Odds>(|m| m)
        .build()
        .unwrap();
    let all = Global::define("everything")
        .keyed::<Usage>(|f| f)
        .map::<Journal>(|m| m)
        .build()
        .unwrap();
    bench
        .with_role(role)
        .pipeline(runs)
        .global(all)
        .record_table::<Odds>(Arc::new(Own))
        .kill_switch::<Ear<RunEvent, Total, Evens>>(Arc::new(On))
        .start()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_kernel_says_what_was_wired_as_text() {
    let text = kernel(&Bench::new(), Role::All).describe().to_string();
    assert_eq!(text, include_str!("describe.txt"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_kernel_says_what_was_wired_as_json() {
    let kernel = kernel(&Bench::new(), Role::All);
    let json = serde_json::to_string_pretty(kernel.describe()).unwrap() + "\n";
    assert_eq!(json, include_str!("describe.json"), "{json}");
}

#[tokio::test(start_paused = true)]
async fn a_process_without_a_worker_shows_no_settings_of_one() {
    let kernel = kernel(&Bench::new(), Role::Web);
    assert_eq!(kernel.describe().role, "web");
    assert!(kernel.describe().settings.is_empty());
}
