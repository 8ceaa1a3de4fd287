//! The tutorial shows this example's own code.
use std::{fs, path::Path};

/// Each block that names a file is that file's text, but for the way to its neighbours.
#[test]
fn the_tutorial_shows_the_code_as_it_is() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tutorial = fs::read_to_string(here.join("../../docs/tutorial.md")).unwrap();
    let mut shown = 0;
    for block in tutorial.split("```rust").skip(1) {
        let (_, block) = block.split_once('\n').unwrap();
        let (block, _) = block.split_once("```").unwrap();
        let Some((file, code)) = block.strip_prefix("// ").and_then(|rest| rest.split_once('\n')) else {
            continue;
        };
        let text = without_comments(&fs::read_to_string(here.join(file)).unwrap());
        let code = without_comments(&code.replace("foldwright_tickets::", "crate::"));
        assert!(text.contains(code.trim()), "{file} does not hold\n{code}");
        shown += 1;
    }
    assert!(shown >= 5, "only {shown} blocks name a file");
}

/// The tutorial explains in its own words.
fn without_comments(code: &str) -> String {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| line.to_owned() + "\n").collect()
}
