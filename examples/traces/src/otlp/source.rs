use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

pub(super) type Source = Box<dyn BufRead + Send>;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

pub(super) fn open(path: &Path) -> io::Result<Source> {
    detect_gzip(File::open(path)?)
}

/// Decompresses gzip, told by its first two bytes and with any number of members; passes on the rest.
pub(super) fn detect_gzip(content: impl Read + Send + 'static) -> io::Result<Source> {
    let mut content = BufReader::new(content);
    let mut head = Vec::new();
    content
        .by_ref()
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut head)?;
    let is_gzip = head == GZIP_MAGIC;
    let content = Cursor::new(head).chain(content);
    Ok(if is_gzip {
        Box::new(BufReader::new(MultiGzDecoder::new(content)))
    } else {
        Box::new(content)
    })
}

/// What [`read_line`] left in its buffer.
pub(super) enum Line {
    /// A line without its end.
    Text,
    /// White space at most.
    Blank,
    /// The beginning of a line over the limit.
    TooLong,
    /// Nothing: there is no line left.
    End,
}

/// Reads the next line into `buffer`, at most one byte over `limit` of it.
pub(super) fn read_line(source: &mut Source, buffer: &mut Vec<u8>, limit: usize) -> io::Result<Line> {
    buffer.clear();
    if source.by_ref().take(limit as u64 + 1).read_until(b'\n', buffer)? == 0 {
        return Ok(Line::End);
    }
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    }
    Ok(if buffer.len() > limit {
        Line::TooLong
    } else if buffer.trim_ascii().is_empty() {
        Line::Blank
    } else {
        Line::Text
    })
}
