//! The `tickets` command from the outside.
use std::process::{Command, Output};

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn run(&self, words: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_tickets"))
            .args(words.split_whitespace())
            .arg("--store")
            .arg(self.0.path().join("tickets.db"))
            .output()
            .unwrap()
    }

    fn says(&self, words: &str) -> String {
        let output = self.run(words);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words}: {complaint}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn refuses(&self, words: &str) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(1), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// C-04, C-05: each run is a process of its own, decides on what the others stored, and answers what was decided.
#[test]
fn a_seat_is_reserved_paid_for_and_given_back() {
    let desk = Desk::new();
    assert_eq!(desk.says("show"), "0 seats taken, 0 tickets sold\n");
    assert_eq!(desk.says("reserve A12 --for ada"), "done\n");
    assert_eq!(
        desk.refuses("reserve A12 --for bob"),
        "taken: seat A12 is taken\n"
    );
    assert_eq!(
        desk.refuses("reserve Z1 --for bob"),
        "no_such_seat: there is no seat Z1\n"
    );
    assert!(
        desk.says("show").starts_with("A12  ada          reserved for "),
        "{}",
        desk.says("show")
    );
    assert_eq!(
        desk.says("pay A12 --for ada --payment p-1"),
        "ticket: opening-night, seat A12, ada\ndone\n"
    );
    assert_eq!(desk.says("pay A12 --for ada --payment p-1"), "done before\n");
    assert_eq!(
        desk.says("show"),
        "A12  ada          paid, p-1\n1 seats taken, 1 tickets sold\n"
    );
    assert_eq!(
        desk.refuses("cancel A12 --for bob"),
        "not_yours: seat A12 is somebody else's\n"
    );
    assert_eq!(desk.says("cancel A12 --for ada"), "done\n");
    assert_eq!(desk.says("reserve A12 --for bob --concert gala"), "done\n");
    assert_eq!(desk.says("show"), "0 seats taken, 1 tickets sold\n");
}

/// Ten processes on one file want one seat at once: one of them gets it.
#[test]
fn of_many_processes_one_gets_the_seat() {
    let desk = Desk::new();
    desk.says("show");
    let outputs: Vec<Output> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..10)
            .map(|guest| {
                let desk = &desk;
                scope.spawn(move || desk.run(&format!("reserve B1 --for guest-{guest}")))
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let (won, lost): (Vec<_>, Vec<_>) = outputs.into_iter().partition(|output| output.status.success());
    assert_eq!(won.len(), 1);
    for output in lost {
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "taken: seat B1 is taken\n"
        );
    }
}
