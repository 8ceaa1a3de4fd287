use std::collections::BTreeMap;
use std::io::{BufRead as _, Read};
use std::path::Path;

use serde::de::IgnoredAny;

use super::decode::Decoded;
use super::encoding::Encoding;
use super::error::OtlpError;
use super::source::{self, Line, Source};
use super::span::Span;

/// The largest request taken, in bytes, without its prefix or line end: far more than exporters
/// send (they batch a few hundred spans), and little enough to hold one in memory.
pub const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

const PREFIX_BYTES: usize = 4;

/// Reads the requests of a file one by one: an iterator over the spans of each request, in the
/// order of the file.
///
/// The file holds either OTLP/JSON, a request a line, or protobuf bodies, each after its length as
/// a big-endian `u32`; plain or compressed with gzip. The content tells which. Blank lines do not
/// count as requests. Only one request is in memory at a time.
///
/// After an [`OtlpError::Decode`] or an [`OtlpError::NotTraces`] the iterator goes on with the next request. Any other error is
/// the last item.
pub struct RequestReader {
    source: Source,
    encoding: Encoding,
    index: usize,
    /// Lines read so far, blank or not: what an editor would show.
    line: usize,
    buffer: Vec<u8>,
    ended: bool,
}

impl RequestReader {
    /// Opens a file of requests. An empty file holds none.
    ///
    /// # Errors
    ///
    /// [`OtlpError::Open`], [`OtlpError::Read`] or [`OtlpError::UnknownFormat`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OtlpError> {
        let path = path.as_ref();
        let source = source::open(path).map_err(|source| OtlpError::Open {
            path: path.to_owned(),
            source,
        })?;
        Self::over(source)
    }

    /// Reads requests from anything that gives bytes, such as standard input.
    ///
    /// # Errors
    ///
    /// [`OtlpError::Read`] or [`OtlpError::UnknownFormat`].
    pub fn new(content: impl Read + Send + 'static) -> Result<Self, OtlpError> {
        let source = source::detect_gzip(content).map_err(|source| OtlpError::Read { index: 0, source })?;
        Self::over(source)
    }

    fn over(mut source: Source) -> Result<Self, OtlpError> {
        let start = source
            .fill_buf()
            .map_err(|source| OtlpError::Read { index: 0, source })?;
        let encoding = match start.first().copied() {
            None | Some(b'{' | b' ' | b'\t' | b'\r' | b'\n') => Encoding::Json,
            // The first byte of any length within the limit; none of those above is one.
            Some(byte) if usize::from(byte) <= MAX_REQUEST_BYTES >> 24 => Encoding::Protobuf,
            Some(first) => return Err(OtlpError::UnknownFormat { first }),
        };
        Ok(Self {
            source,
            encoding,
            index: 0,
            line: 0,
            buffer: Vec::new(),
            ended: false,
        })
    }

    /// Reads the next request's bytes into the buffer. False at the end of the file.
    fn read(&mut self) -> Result<bool, OtlpError> {
        match self.encoding {
            Encoding::Json => self.read_line(),
            Encoding::Protobuf => self.read_prefixed(),
        }
    }

    /// The next request with its faulty spans set apart; as the iterator otherwise.
    pub fn next_request(&mut self) -> Option<Result<Decoded, OtlpError>> {
        if self.ended {
            return None;
        }
        match self.read() {
            Ok(true) => {
                let index = self.index;
                self.index += 1;
                Some(self.decode(index))
            }
            Ok(false) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = true;
                Some(Err(error))
            }
        }
    }

    fn decode(&self, index: usize) -> Result<Decoded, OtlpError> {
        let decoded = self.encoding.decode(&self.buffer);
        let decoded = decoded.map_err(|source| OtlpError::Decode { index, source })?;
        let is_empty = decoded.spans.is_empty() && decoded.faulty.is_empty();
        if is_empty && self.encoding == Encoding::Json && !says_of_traces(&self.buffer) {
            let line = self.line;
            return Err(OtlpError::NotTraces { index, line });
        }
        Ok(decoded)
    }

    /// How many requests are left, without decoding them.
    ///
    /// # Errors
    ///
    /// As the iterator's, but for those of decoding.
    pub fn count_requests(mut self) -> Result<usize, OtlpError> {
        while self.read()? {
            self.index += 1;
        }
        Ok(self.index)
    }

    fn read_line(&mut self) -> Result<bool, OtlpError> {
        let index = self.index;
        loop {
            self.line += 1;
            match source::read_line(&mut self.source, &mut self.buffer, MAX_REQUEST_BYTES) {
                Ok(Line::Blank) => {}
                Ok(Line::Text) => return Ok(true),
                Ok(Line::End) => return Ok(false),
                Ok(Line::TooLong) => {
                    let bytes = self.buffer.len();
                    return Err(OtlpError::TooLarge {
                        index,
                        bytes,
                        limit: MAX_REQUEST_BYTES,
                    });
                }
                Err(source) => return Err(OtlpError::Read { index, source }),
            }
        }
    }

    fn read_prefixed(&mut self) -> Result<bool, OtlpError> {
        let index = self.index;
        if self.fill(PREFIX_BYTES)? == 0 {
            return Ok(false);
        }
        let Ok(prefix) = <[u8; PREFIX_BYTES]>::try_from(self.buffer.as_slice()) else {
            return Err(self.truncated(PREFIX_BYTES));
        };
        let bytes = u32::from_be_bytes(prefix) as usize;
        if bytes > MAX_REQUEST_BYTES {
            return Err(OtlpError::TooLarge {
                index,
                bytes,
                limit: MAX_REQUEST_BYTES,
            });
        }
        if self.fill(bytes)? < bytes {
            return Err(self.truncated(bytes));
        }
        Ok(true)
    }

    /// Replaces the buffer's content with the next `bytes` bytes, or with what is left. The buffer
    /// grows with what is read: a false length costs nothing.
    fn fill(&mut self, bytes: usize) -> Result<usize, OtlpError> {
        self.buffer.clear();
        self.source
            .by_ref()
            .take(bytes as u64)
            .read_to_end(&mut self.buffer)
            .map_err(|source| OtlpError::Read {
                index: self.index,
                source,
            })
    }

    fn truncated(&self, expected: usize) -> OtlpError {
        OtlpError::Truncated {
            index: self.index,
            expected,
            found: self.buffer.len(),
        }
    }
}

impl Iterator for RequestReader {
    type Item = Result<Vec<Span>, OtlpError>;

    fn next(&mut self) -> Option<Self::Item> {
        let request = self.next_request()?;
        let index = self.index.saturating_sub(1);
        Some(request.and_then(|decoded| {
            decoded
                .all()
                .map_err(|source| OtlpError::Decode { index, source })
        }))
    }
}

/// Whether an object that gave no spans is a request all the same. Requests are lenient with unknown fields, so a file
/// of something else would look empty.
#[expect(clippy::zero_sized_map_values, reason = "a set cannot be read from an object")]
fn says_of_traces(object: &[u8]) -> bool {
    serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(object)
        .is_ok_and(|fields| fields.is_empty() || fields.contains_key("resourceSpans"))
}
