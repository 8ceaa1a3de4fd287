//! As much of Markdown as the rules about documents need.

/// A link and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) line: usize,
    pub(crate) target: String,
}

/// A fenced block of Rust.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RustBlock {
    pub(crate) line: usize,
    /// What stands behind `rust` in the fence, for example `no_run`.
    pub(crate) flags: Vec<String>,
}

/// Lines with their numbers, and whether each is of a fenced block; a fence itself is none of either.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str, Part)> {
    let mut within = false;
    (1..).zip(text.lines()).map(move |(number, line)| {
        let part = if line.trim_start().starts_with("```") {
            within = !within;
            if within { Part::Opening } else { Part::Closing }
        } else if within {
            Part::Code
        } else {
            Part::Prose
        };
        (number, line, part)
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Prose,
    Opening,
    Code,
    Closing,
}

/// Every `[text](target)` and `![text](target)` outside of code.
pub(crate) fn links(text: &str) -> Vec<Link> {
    let prose = lines(text).filter(|(.., part)| *part == Part::Prose);
    prose
        .flat_map(|(number, line, _)| {
            let line = without_code_spans(line);
            let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            let links = targets.map(|(target, _)| Link {
                line: number,
                target: target.to_owned(),
            });
            links.collect::<Vec<_>>()
        })
        .collect()
}

fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The anchors of a page's headings, as the book and the usual viewers make them.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let headings = lines(text).filter(|(_, line, part)| *part == Part::Prose && line.starts_with('#'));
    headings
        .map(|(_, line, _)| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            });
            kept.collect()
        })
        .collect()
}

/// Every fenced block that is marked as Rust.
pub(crate) fn rust_blocks(text: &str) -> Vec<RustBlock> {
    let fences = lines(text).filter(|(.., part)| *part == Part::Opening);
    fences
        .filter_map(|(line, fence, _)| {
            let mut words = fence
                .trim_start()
                .trim_start_matches('`')
                .split(',')
                .map(str::trim);
            (words.next() == Some("rust")).then(|| RustBlock {
                line,
                flags: words.map(str::to_owned).collect(),
            })
        })
        .collect()
}

/// Every command of a shell block and every code span, with its line.
pub(crate) fn commands(text: &str) -> Vec<(usize, String)> {
    let mut in_shell = false;
    let mut found = Vec::new();
    for (number, line, part) in lines(text) {
        match part {
            Part::Opening => in_shell = line.trim() == "```sh",
            Part::Code if in_shell => found.push((number, line.trim().to_owned())),
            Part::Prose => {
                let spans = line.split('`').skip(1).step_by(2);
                found.extend(spans.map(|span| (number, span.to_owned())));
            }
            Part::Code | Part::Closing => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A `fold`: what, and why?\n\n[one](a.md) and ![two](b.svg#x) but `[no](c.md)`\n\
                        ```rust,no_run,compile_fail\n# [no](d.md)\n```\n```sh\n```\n```rust\n```\n";

    #[test]
    fn links_are_found_outside_of_code() {
        let found: Vec<_> = links(PAGE)
            .into_iter()
            .map(|link| (link.line, link.target))
            .collect();
        assert_eq!(found, [(3, "a.md".to_owned()), (3, "b.svg#x".to_owned())]);
    }

    #[test]
    fn headings_make_anchors() {
        assert_eq!(anchors(PAGE), ["a-fold-what-and-why"]);
    }

    #[test]
    fn blocks_of_rust_are_found_with_their_flags() {
        let found: Vec<_> = rust_blocks(PAGE)
            .into_iter()
            .map(|block| (block.line, block.flags.len()))
            .collect();
        assert_eq!(found, [(4, 2), (9, 0)]);
    }
}
