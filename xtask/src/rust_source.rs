/// One line of Rust source, taken apart so that a rule can look at code or at comments alone.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The line without comments and without what stands inside string and character literals.
    pub(crate) code: String,
    /// The comments of the line with their markers.
    pub(crate) comment: String,
}

/// Takes source text apart into lines. It never fails: on text that is not Rust it only splits less well.
pub(crate) fn split(text: &str) -> Vec<Line> {
    let mut splitter = Splitter {
        chars: text.chars().collect(),
        at: 0,
        lines: vec![Line::default()],
    };
    while splitter.step() {}
    if text.ends_with('\n') {
        splitter.lines.pop();
    }
    splitter.lines
}

/// Whether `text` holds `word` with no letter, digit or underscore at either side of it.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(start, found)| {
        let before = text.get(..start).and_then(|head| head.chars().next_back());
        let after = text
            .get(start + found.len()..)
            .and_then(|tail| tail.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

struct Splitter {
    chars: Vec<char>,
    at: usize,
    lines: Vec<Line>,
}

impl Splitter {
    /// Takes the next token's first characters; `false` at the end of the text.
    fn step(&mut self) -> bool {
        let Some(c) = self.peek(0) else { return false };
        match (c, self.peek(1)) {
            ('/', Some('/')) => self.line_comment(),
            ('/', Some('*')) => self.block_comment(),
            ('"', _) => self.string(),
            ('r', _) if !self.inside_word() => match self.raw_string_hashes() {
                Some(hashes) => self.raw_string(hashes),
                None => self.code(),
            },
            ('\'', Some('\\')) => self.escaped_char(),
            // `'a'` is a character; `'a` without the second quote is a lifetime.
            ('\'', Some(_)) if self.peek(2) == Some('\'') => {
                self.code();
                self.at += 1;
                self.code();
            }
            _ => self.code(),
        }
        true
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Whether the character before belongs to an identifier, so that an `r` here opens no raw string. The `b` and
    /// `c` prefixes do not count.
    fn inside_word(&self) -> bool {
        let mut before = self.chars.iter().take(self.at).rev();
        match before.next() {
            Some('b' | 'c') => before.next().is_some_and(|c| c.is_alphanumeric() || *c == '_'),
            Some(c) => c.is_alphanumeric() || *c == '_',
            None => false,
        }
    }

    fn raw_string_hashes(&self) -> Option<usize> {
        let hashes = self
            .chars
            .iter()
            .skip(self.at + 1)
            .take_while(|c| **c == '#')
            .count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn line_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.comment();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.chars.len() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => {
                    depth += 1;
                    self.comment();
                    self.comment();
                }
                (Some('*'), Some('/')) => {
                    depth -= 1;
                    self.comment();
                    self.comment();
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.comment(),
            }
        }
    }

    fn string(&mut self) {
        self.code();
        while let Some(c) = self.peek(0) {
            match c {
                '"' => return self.code(),
                '\\' => {
                    self.skip();
                    self.skip();
                }
                _ => self.skip(),
            }
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        for _ in 0..hashes + 2 {
            self.code();
        }
        while self.at < self.chars.len() {
            let closes = self.peek(0) == Some('"') && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            if closes {
                for _ in 0..=hashes {
                    self.code();
                }
                return;
            }
            self.skip();
        }
    }

    fn escaped_char(&mut self) {
        self.code();
        self.skip();
        self.skip();
        while self.peek(0).is_some_and(|c| c != '\'' && c != '\n') {
            self.skip();
        }
        self.code();
    }

    /// Keeps the character as code.
    fn code(&mut self) {
        self.take(|line, c| line.code.push(c));
    }

    /// Keeps the character as comment.
    fn comment(&mut self) {
        self.take(|line, c| line.comment.push(c));
    }

    /// Drops the character, but not the line break that it may be.
    fn skip(&mut self) {
        self.take(|_, _| {});
    }

    fn take(&mut self, keep: impl FnOnce(&mut Line, char)) {
        let Some(c) = self.peek(0) else { return };
        self.at += 1;
        if c == '\n' {
            self.lines.push(Line::default());
        } else if let Some(line) = self.lines.last_mut() {
            keep(line, c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        split(text).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_and_code_are_told_apart() {
        let lines = split("let a = 1; // why\n/// doc\nfn f() {}\n");
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines[0],
            Line {
                code: "let a = 1; ".into(),
                comment: "// why".into()
            }
        );
        assert_eq!(
            lines[1],
            Line {
                code: String::new(),
                comment: "/// doc".into()
            }
        );
        assert_eq!(
            lines[2],
            Line {
                code: "fn f() {}".into(),
                comment: String::new()
            }
        );
    }

    #[test]
    fn block_comments_nest_and_span_lines() {
        assert_eq!(code("a /* x /* y */\n z */ b"), ["a ", " b"]);
    }

    #[test]
    fn literals_are_emptied() {
        assert_eq!(code(r#"f("rand // no", 1)"#), [r#"f("", 1)"#]);
        assert_eq!(code(r#"f("a\"b", 1)"#), [r#"f("", 1)"#]);
        assert_eq!(code("f(r#\"a\"b\"#, br\"c\", 1)"), ["f(r#\"\"#, br\"\", 1)"]);
        assert_eq!(code(r"f('\'', '\u{41}', '/', '\\')"), ["f('', '', '', '')"]);
    }

    #[test]
    fn a_quote_character_opens_no_string() {
        assert_eq!(code("f('\"'); // x"), ["f(''); "]);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        assert_eq!(code("fn f<'a>(r#in: &'a str) {}"), ["fn f<'a>(r#in: &'a str) {}"]);
    }

    #[test]
    fn strings_keep_the_line_count() {
        assert_eq!(code("let a = \"x\ny\";\nb"), ["let a = \"", "\";", "b"]);
        assert_eq!(code("let a = \"x\\\ny\";\nb"), ["let a = \"", "\";", "b"]);
    }

    #[test]
    fn unfinished_text_ends() {
        assert_eq!(code("a \"b"), ["a \""]);
        assert_eq!(code("a /* b"), ["a "]);
        assert_eq!(code("'"), ["'"]);
    }

    #[test]
    fn words_have_edges() {
        assert!(has_word("use rand::Rng;", "rand"));
        assert!(has_word("rand", "rand"));
        assert!(!has_word("operand", "rand"));
        assert!(!has_word("rand_core", "rand"));
        assert!(has_word("operand rand", "rand"));
    }
}
