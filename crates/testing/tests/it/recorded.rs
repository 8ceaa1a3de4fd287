//! Recorded histories.
use crate::{
    cart::{AddItem, Cart, CartEvent, Items, Open, Total},
    failure,
};
use foldwright_domain::{Commutative, Fold, Recorded};
use foldwright_ports::Selection;
use foldwright_runtime::Pipeline;
use foldwright_testing::{RecordedHistory, TestKernel, record_history, recorded_history, tenant};
use std::{
    fs,
    path::{Path, PathBuf},
};

#[test]
fn a_history_that_is_as_it_was_passes() {
    recorded_history!("tests/it/carts.jsonl")
        .events::<CartEvent>()
        .fold::<Total>()
        .fold::<Open>()
        .map::<Items>()
        .check();
}

/// A copy of the history that may be changed.
fn copy(dir: &tempfile::TempDir, change: impl FnOnce(String) -> String) -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/carts.jsonl");
    let path = dir.path().join("carts.jsonl");
    fs::write(&path, change(fs::read_to_string(file).unwrap())).unwrap();
    path
}

fn new(path: &Path) -> PathBuf {
    path.with_extension("jsonl.new")
}

/// The same name and version as [`Total`], another sum.
enum Rounded {}

impl Fold for Rounded {
    type On = CartEvent;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "total";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(euros: u64, event: &Recorded<CartEvent>) -> u64 {
        match &event.data {
            CartEvent::ItemAdded(item) => euros + item.cents / 100,
            CartEvent::CheckedOut(_) => euros,
        }
    }
}

#[test]
fn a_state_that_drifts_is_written_beside_and_fails() {
    let dir = tempfile::tempdir().unwrap();
    let path = copy(&dir, |text| text);
    let said = failure(|| {
        RecordedHistory::open(&path)
            .fold::<Rounded>()
            .fold::<Open>()
            .map::<Items>()
            .check();
    });
    assert!(said.contains("VERSION is 1 as before: raise it"), "{said}");
    assert!(said.contains("fold `total`, test, c-1"), "{said}");
    // What was written is what the changed code makes: put in place of the file it passes.
    fs::rename(new(&path), &path).unwrap();
    RecordedHistory::open(&path)
        .fold::<Rounded>()
        .fold::<Open>()
        .map::<Items>()
        .check();
}

#[test]
fn data_that_no_longer_decodes_fails() {
    let dir = tempfile::tempdir().unwrap();
    let path = copy(&dir, |text| text.replace("2025-01-01", "2024-01-01"));
    let said = failure(|| RecordedHistory::open(&path).events::<CartEvent>().check());
    assert!(
        said.contains("unknown event shop.sales.cart.item_added of 2024-01-01"),
        "{said}"
    );
    let path = copy(&dir, |text| text.replace("euros", "dollars"));
    let said = failure(|| RecordedHistory::open(&path).fold::<Total>().check());
    assert!(said.contains("missing field `euros`"), "{said}");
}

#[test]
fn an_event_that_nothing_reads_fails() {
    let dir = tempfile::tempdir().unwrap();
    let path = copy(&dir, |text| text);
    let said = failure(|| RecordedHistory::open(&path).fold::<Total>().check());
    assert!(
        said.contains("nothing reads shop.sales.cart.checked_out"),
        "{said}"
    );
}

#[test]
fn a_line_that_is_none_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = copy(&dir, |text| text + "{\"line\":\"song\"}\n");
    let said = failure(|| drop(RecordedHistory::open(&path)));
    assert!(
        said.contains("carts.jsonl, line ") && said.contains("unknown variant `song`"),
        "{said}"
    );
    let said = failure(|| drop(RecordedHistory::open(dir.path().join("none.jsonl"))));
    assert!(said.contains("none.jsonl"), "{said}");
}

/// What is recorded from a log is the log's: the first check writes the states beside it.
#[tokio::test(start_paused = true)]
async fn a_history_is_recorded_from_a_log() {
    let carts = Pipeline::<Cart>::define("carts")
        .command::<AddItem>()
        .build()
        .unwrap();
    let kernel = TestKernel::start(|builder| builder.pipeline(carts)).await;
    for (name, cents) in [("tea", 450), ("pin", 5)] {
        let add = AddItem {
            cart: "c-1".into(),
            name: name.into(),
            cents,
        };
        kernel.decide(add).await.unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("carts.jsonl");
    let file = fs::File::create(&path).unwrap();
    let events = record_history(&*kernel.ports().log, &Selection::all(tenant()), file)
        .await
        .unwrap();
    assert_eq!(events, 2);
    kernel.close().await;
    RecordedHistory::open(&path).events::<CartEvent>().check();
    let said = failure(|| {
        RecordedHistory::open(&path)
            .fold::<Total>()
            .map::<Items>()
            .check();
    });
    assert!(said.contains("it holds events alone"), "{said}");
    let text = fs::read_to_string(new(&path)).unwrap();
    assert!(text.starts_with(&fs::read_to_string(&path).unwrap()));
    assert_eq!(text.lines().count(), 4);
    fs::rename(new(&path), &path).unwrap();
    RecordedHistory::open(&path)
        .fold::<Total>()
        .map::<Items>()
        .check();
}
