use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::source::{self, Line, Source};

/// The longest line taken of a requests file, in bytes: many times what the few fields need.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// Says which tenant sent each request of an input file, from a requests file: one JSON object a
/// line, in the same order, whose `tenant` counts. Other fields are ignored, and so are blank
/// lines. The file may be compressed with gzip.
///
/// ```no_run
/// # use foldwright_traces::otlp::{RequestReader, RequestTenants};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut tenants = RequestTenants::open("requests.jsonl")?;
/// for request in RequestReader::open("traces.otlp.jsonl.gz")? {
///     let (spans, tenant) = (request?, tenants.next_tenant()?);
///     println!("{tenant} sent {} spans", spans.len());
/// }
/// tenants.finish()?;
/// # Ok(())
/// # }
/// ```
pub struct RequestTenants {
    source: Source,
    buffer: Vec<u8>,
    /// Lines read so far, blank or not: what an editor would show.
    line: usize,
    /// Requests told so far.
    requests: usize,
}

#[derive(Deserialize)]
struct Request {
    tenant: String,
}

impl RequestTenants {
    /// Opens a requests file.
    ///
    /// # Errors
    ///
    /// [`RequestsError::Open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RequestsError> {
        let path = path.as_ref();
        let source = source::open(path).map_err(|source| RequestsError::Open {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            source,
            buffer: Vec::new(),
            line: 0,
            requests: 0,
        })
    }

    /// Reads the lines from anything that gives bytes.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn new(content: impl std::io::Read + Send + 'static) -> io::Result<Self> {
        Ok(Self {
            source: source::detect_gzip(content)?,
            buffer: Vec::new(),
            line: 0,
            requests: 0,
        })
    }

    /// The tenant of the next request of the input.
    ///
    /// # Errors
    ///
    /// [`RequestsError::TooFewLines`] when the requests file has ended before the input; the other
    /// kinds when the line cannot be read.
    pub fn next_tenant(&mut self) -> Result<String, RequestsError> {
        if !self.read_line()? {
            return Err(RequestsError::TooFewLines { lines: self.requests });
        }
        self.tenant()
    }

    /// The tenant of the line in the buffer.
    fn tenant(&mut self) -> Result<String, RequestsError> {
        let request: Request =
            serde_json::from_slice(&self.buffer).map_err(|source| RequestsError::Line {
                line: self.line,
                source,
            })?;
        self.requests += 1;
        Ok(request.tenant)
    }

    /// The line that was read last, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// How many requests are left, and that each has a tenant that `accept` takes.
    ///
    /// # Errors
    ///
    /// As [`next_tenant`](Self::next_tenant), or what `accept` says.
    pub fn count_requests<E>(
        mut self,
        mut accept: impl FnMut(usize, String) -> Result<(), E>,
    ) -> Result<usize, E>
    where
        E: From<RequestsError>,
    {
        while self.read_line()? {
            let tenant = self.tenant()?;
            accept(self.line, tenant)?;
        }
        Ok(self.requests)
    }

    /// Call it when the input has ended, to learn whether the requests file has as well.
    ///
    /// # Errors
    ///
    /// [`RequestsError::TooManyLines`], or why the rest could not be read.
    pub fn finish(mut self) -> Result<(), RequestsError> {
        let requests = self.requests;
        let mut lines = requests;
        while self.read_line()? {
            lines += 1;
        }
        if lines > requests {
            return Err(RequestsError::TooManyLines { lines, requests });
        }
        Ok(())
    }

    /// Reads the next line that is not blank into the buffer. False at the end of the file.
    fn read_line(&mut self) -> Result<bool, RequestsError> {
        loop {
            self.line += 1;
            let line = self.line;
            match source::read_line(&mut self.source, &mut self.buffer, MAX_LINE_BYTES) {
                Ok(Line::Blank) => {}
                Ok(Line::Text) => return Ok(true),
                Ok(Line::End) => return Ok(false),
                Ok(Line::TooLong) => {
                    return Err(RequestsError::LineTooLong {
                        line,
                        limit: MAX_LINE_BYTES,
                    });
                }
                Err(source) => return Err(RequestsError::Read { line, source }),
            }
        }
    }
}

/// Why the tenant of a request cannot be told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestsError {
    /// The requests file is missing or unreadable.
    #[error("cannot open the requests file {}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read line {line} of the requests file")]
    Read {
        /// The line, counted from 1.
        line: usize,
        /// The cause.
        source: io::Error,
    },
    /// The line is over [`MAX_LINE_BYTES`].
    #[error("line {line} of the requests file is longer than {limit} bytes")]
    LineTooLong {
        /// The line, counted from 1.
        line: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// The line is not a JSON object with a `tenant`.
    #[error("line {line} of the requests file names no tenant")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
    /// The input has more requests than the requests file has lines.
    #[error("the requests file has {lines} lines, but the input has more requests")]
    TooFewLines {
        /// Lines of the requests file, blank lines left out.
        lines: usize,
    },
    /// The input has fewer requests than the requests file has lines.
    #[error("the requests file has {lines} lines, but the input has only {requests} requests")]
    TooManyLines {
        /// Lines of the requests file, blank lines left out.
        lines: usize,
        /// Requests of the input.
        requests: usize,
    },
}
