use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use super::tally::{ReadLine, Tally};
use crate::error::Error;
use crate::workspace::{command_line, spawn_error};

/// What one runner did.
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) status: ExitStatus,
}

/// Runs a command, passes on what it prints while it prints it, and counts by what `read_line` makes of the lines.
pub(crate) fn run(command: &mut Command, read_line: ReadLine) -> Result<Outcome, Error> {
    println!("==> {}", command_line(command));
    let failed_to_run = spawn_error(command);
    supervise(command, read_line).map_err(failed_to_run)
}

fn supervise(command: &mut Command, read_line: ReadLine) -> io::Result<Outcome> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    // Both pipes are read at once: a child that fills one while only the other is read would wait for ever.
    let (out, err) = thread::scope(|scope| {
        let errors = scope.spawn(|| pass_on(stderr, io::stderr(), read_line));
        let out = pass_on(stdout, io::stdout(), read_line);
        (out, errors.join())
    });
    let mut tally = out?;
    tally += err.map_err(|_| io::Error::other("the reader of standard error panicked"))??;
    Ok(Outcome {
        tally,
        status: child.wait()?,
    })
}

fn pass_on(from: Option<impl Read>, mut to: impl Write, read_line: ReadLine) -> io::Result<Tally> {
    let mut sum = Tally::default();
    let Some(from) = from else { return Ok(sum) };
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        read_line(String::from_utf8_lossy(&line).trim_end(), &mut sum);
        line.clear();
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::super::tally::read_libtest;
    use super::*;

    #[test]
    fn lines_are_passed_on_and_summed() {
        let text = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
                    test result: FAILED. 1 passed; 3 failed; 0 ignored\nno newline \u{fffd}";
        let mut seen = Vec::new();
        let sum = pass_on(Some(text.as_bytes()), &mut seen, read_libtest).unwrap();
        assert_eq!(seen, text.as_bytes());
        assert_eq!(sum, Tally { passed: 3, failed: 3 });
    }

    #[test]
    fn bytes_that_are_no_text_are_passed_on() {
        let bytes: &[u8] = b"\xff\xfe\ntest result: ok. 1 passed; 0 failed; 0 ignored\r\n";
        let mut seen = Vec::new();
        assert_eq!(
            pass_on(Some(bytes), &mut seen, read_libtest).unwrap(),
            Tally { passed: 1, failed: 0 }
        );
        assert_eq!(seen, bytes);
    }
}
