//! The book under `docs`: every page is listed, every link leads somewhere, every snippet of Rust is compiled.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Tree;
use super::violation::Violation;
use crate::markdown;

const RULE: &str = "book";

/// Where the pages lie.
const BOOK: &str = "docs/";

/// The list of pages.
const SUMMARY: &str = "docs/SUMMARY.md";

/// The tutorial's own test compares its blocks with files that are compiled.
const TUTORIAL: &str = "docs/tutorial.md";

/// How the book names a file of the repository that is no page of it.
const REPOSITORY: &str = "https://github.com/foldwright/foldwright/blob/main/";

pub(crate) fn check(tree: &Tree) -> Vec<Violation> {
    let mut found = unlisted(&tree.pages);
    for (path, text) in &tree.pages {
        found.extend(dead_links(tree, path, text));
        found.extend(uncompiled(tree, path, text));
    }
    found
}

fn violation(path: &str, line: usize, message: String, remedy: &str) -> Violation {
    Violation {
        path: path.to_owned(),
        line,
        rule: RULE,
        message,
        remedy: remedy.to_owned(),
    }
}

fn unlisted(pages: &BTreeMap<String, String>) -> Vec<Violation> {
    let Some(summary) = pages.get(SUMMARY) else {
        return Vec::new();
    };
    let listed: BTreeSet<_> = markdown::links(summary)
        .into_iter()
        .filter_map(|link| resolve(SUMMARY, &link.target))
        .map(|(path, _)| path)
        .collect();
    pages
        .keys()
        .filter(|page| page.starts_with(BOOK) && *page != SUMMARY && !listed.contains(*page))
        .map(|page| {
            let remedy = "add a line for it to docs/SUMMARY.md";
            violation(page, 1, "the page is not in the book's list".to_owned(), remedy)
        })
        .collect()
}

/// The file and the anchor that a link of a page names; `None` where it leads out of the repository.
fn resolve(page: &str, target: &str) -> Option<(String, Option<String>)> {
    let (path, anchor) = target
        .split_once('#')
        .map_or((target, None), |(path, anchor)| (path, Some(anchor.to_owned())));
    if let Some(path) = path.strip_prefix(REPOSITORY) {
        return Some((path.to_owned(), anchor));
    }
    if path.contains("://") || path.starts_with("mailto:") {
        return None;
    }
    if path.is_empty() {
        return Some((page.to_owned(), anchor));
    }
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some((parts.join("/"), anchor))
}

fn dead_links(tree: &Tree, page: &str, text: &str) -> Vec<Violation> {
    let mut found = Vec::new();
    for link in markdown::links(text) {
        let Some((path, anchor)) = resolve(page, &link.target) else {
            continue;
        };
        if !tree.files.contains(&path) {
            let message = format!("`{}` leads to {path}, which is not there", link.target);
            found.push(violation(page, link.line, message, "correct the link"));
            continue;
        }
        if page.starts_with(BOOK) && !path.starts_with(BOOK) && !link.target.starts_with(REPOSITORY) {
            let message = format!("`{}` leads out of the book, where it ends", link.target);
            let remedy = format!("write it as {REPOSITORY}{path}");
            found.push(violation(page, link.line, message, &remedy));
        }
        let missing = anchor.filter(|anchor| {
            let target = tree.pages.get(&path);
            target.is_some_and(|text| !markdown::anchors(text).contains(anchor))
        });
        if let Some(anchor) = missing {
            let message = format!("{path} has no heading `#{anchor}`");
            let remedy = "name a heading in lower case, with `-` for spaces and without other signs";
            found.push(violation(page, link.line, message, remedy));
        }
    }
    found
}

fn uncompiled(tree: &Tree, page: &str, text: &str) -> Vec<Violation> {
    let blocks: Vec<_> = markdown::rust_blocks(text);
    let ignored = blocks
        .iter()
        .filter(|block| block.flags.iter().any(|flag| flag == "ignore"));
    let mut found: Vec<_> = ignored
        .map(|block| {
            let remedy = "make it compile: hidden lines begin with `# `, and `no_run` does not run it";
            violation(page, block.line, "the snippet is ignored".to_owned(), remedy)
        })
        .collect();
    let is_doc_tested = tree.book_tests.contains(&format!("/{page}\""));
    if let Some(first) = blocks.first()
        && page.starts_with(BOOK)
        && page != TUTORIAL
        && !is_doc_tested
    {
        let remedy = "add the page to examples/tickets/src/book.rs, which makes documentation tests of it";
        let message = "nothing compiles the page's snippets".to_owned();
        found.push(violation(page, first.line, message, remedy));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::sample::{places, sources};
    use super::*;

    fn faults(pages: &[(&str, &str)], code: &str) -> Vec<Violation> {
        let mut tree = sources([]);
        tree.book_tests = code.to_owned();
        for (path, text) in pages {
            tree.pages.insert((*path).to_owned(), (*text).to_owned());
            tree.files.insert((*path).to_owned());
        }
        tree.files.insert("crates/x/src/lib.rs".to_owned());
        check(&tree)
    }

    const LIST: (&str, &str) = ("docs/SUMMARY.md", "# Summary\n\n- [A](a.md)\n- [B](b/b.md)\n");

    #[test]
    fn a_whole_book_passes() {
        let a = "# A page\n\n[b](b/b.md#one-thing), [out](https://example.org/x), [here](#a-page)\n\
                 [code](https://github.com/foldwright/foldwright/blob/main/crates/x/src/lib.rs)\n\n```rust,no_run\nx\n```\n";
        let b = "## One `thing`\n\n[a](../a.md)\n";
        let code = "#[doc = include_str!(\"../../docs/a.md\")]\nmod a {}\n";
        assert_eq!(faults(&[LIST, ("docs/a.md", a), ("docs/b/b.md", b)], code), []);
    }

    #[test]
    fn a_page_that_is_not_listed_is_named() {
        let pages = [LIST, ("docs/a.md", ""), ("docs/b/b.md", ""), ("docs/c.md", "")];
        assert_eq!(places(&faults(&pages, "")), ["docs/c.md:1"]);
        assert_eq!(places(&faults(&pages[..2], "")), ["docs/SUMMARY.md:4"]);
    }

    #[test]
    fn links_that_end_nowhere_are_named() {
        let a = "[x](gone.md)\n\n[y](b/b.md#none)\n\n[z](../crates/x/src/lib.rs)\n\n`[w](gone.md)`\n";
        let found = faults(&[LIST, ("docs/a.md", a), ("docs/b/b.md", "# B\n")], "");
        assert_eq!(places(&found), ["docs/a.md:1", "docs/a.md:3", "docs/a.md:5"]);
        // Outside the book a link may lead anywhere in the repository.
        assert_eq!(faults(&[("README.md", "[z](crates/x/src/lib.rs)\n")], ""), []);
    }

    #[test]
    fn every_snippet_is_compiled() {
        let a = "text\n\n```rust\nx\n```\n\n```rust,ignore\ny\n```\n";
        let found = faults(&[LIST, ("docs/a.md", a), ("docs/b/b.md", "```sh\nls\n```\n")], "");
        assert_eq!(places(&found), ["docs/a.md:7", "docs/a.md:3"]);
    }
}
