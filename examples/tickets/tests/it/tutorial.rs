//! The tutorial shows this example's own code, and what it prints.
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

mod history;
mod laws;
mod rules;
mod service;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The blocks of the tutorial: language and text.
fn blocks() -> Vec<(String, String)> {
    let tutorial = fs::read_to_string(here().join("../../docs/tutorial.md")).unwrap();
    let fenced = tutorial.split("```").skip(1).step_by(2);
    let split = fenced.map(|block| block.split_once('\n').unwrap());
    split
        .map(|(kind, text)| (kind.to_owned(), text.to_owned()))
        .collect()
}

/// Whoever copies every block of a file has that file, and those are compiled and tested here.
#[test]
fn the_tutorial_shows_the_code_as_it_is() {
    let mut shown = BTreeMap::<String, String>::new();
    for (_, block) in blocks().iter().filter(|(kind, _)| kind == "rust") {
        let (file, code) = block
            .strip_prefix("// ")
            .and_then(|rest| rest.split_once('\n'))
            .expect("each block of Rust names its file");
        shown.entry(file.to_owned()).or_default().push_str(code);
    }
    for (file, code) in &shown {
        let path = file
            .strip_prefix("tests/")
            .map(|test| format!("tests/it/tutorial/{test}"));
        let text = fs::read_to_string(here().join(path.as_deref().unwrap_or(file))).unwrap();
        let text = text
            .replace("foldwright_tickets::", "tickets::")
            .replace("#[cfg(doctest)]\nmod book;", "");
        assert_eq!(without_comments(code), without_comments(&text), "{file}");
    }
    assert!(shown.len() >= 12, "only {} files are shown", shown.len());
}

/// The tutorial explains in its own words, and what follows a shorter name may stand on other lines.
fn without_comments(code: &str) -> String {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<String>().split_whitespace().collect()
}

/// The commands of the tutorial that run its programs print what stands below them.
#[test]
fn the_tutorial_shows_what_is_printed() {
    let room = tempfile::tempdir().unwrap();
    let blocks = blocks();
    let mut compared = 0;
    for (shell, text) in blocks.iter().zip(blocks.iter().skip(1)) {
        let commands: Vec<_> = shell
            .1
            .lines()
            .filter_map(|line| line.strip_prefix("cargo run --bin "))
            .collect();
        if shell.0 != "sh" || text.0 != "text" || commands.is_empty() {
            continue;
        }
        let mut said = String::new();
        for command in commands {
            let mut words = command.split_whitespace().filter(|word| *word != "--");
            assert_eq!(words.next(), Some("reserve"), "{command}");
            let run = Command::new(env!("CARGO_BIN_EXE_reserve"))
                .args(words)
                .current_dir(room.path())
                .output();
            let run = run.unwrap();
            assert!(run.status.success(), "{command}: {run:?}");
            said += &String::from_utf8(run.stdout).unwrap();
        }
        assert_eq!(said, text.1);
        compared += 1;
    }
    assert!(compared > 0, "no block of commands was compared");
}

/// G2, G3, G4: what the tutorial lets the reader see. Killed in the middle and run again, each seat is sold once.
#[test]
fn an_evening_that_is_killed_half_way_sells_each_seat_once() {
    let room = tempfile::tempdir().unwrap();
    let evening = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evening"));
        command.current_dir(room.path());
        command
    };
    let mut first = evening().stdout(Stdio::piped()).spawn().unwrap();
    let mut printed = String::new();
    BufReader::new(first.stdout.as_mut().unwrap())
        .read_line(&mut printed)
        .unwrap();
    assert!(printed.starts_with("ticket: gala, seat "), "{printed}");
    first.kill().unwrap();
    first.wait().unwrap();

    let second = evening().output().unwrap();
    assert!(second.status.success(), "{second:?}");
    let said = String::from_utf8(second.stdout).unwrap();
    assert_eq!(said.lines().last(), Some("200 seats taken, 200 tickets sold"));
}
