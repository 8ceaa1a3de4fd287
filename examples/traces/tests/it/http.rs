//! A small HTTP/1.1 client over a real socket, and bodies of OTLP by hand.
use flate2::{Compression, write::GzEncoder};
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

/// One connection.
pub(crate) struct Client {
    socket: BufReader<TcpStream>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        Ok(Self {
            socket: BufReader::new(socket),
        })
    }

    /// Sends bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.get_mut().write_all(bytes)
    }

    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<Reply> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.write(&[head.as_bytes(), body].concat())?;
        self.reply()
    }

    pub(crate) fn reply(&mut self) -> io::Result<Reply> {
        let status = self.line()?;
        let status = status
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .ok_or_else(|| io::Error::other(format!("no status line: {status:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut reply = Reply {
            status,
            headers,
            body: Vec::new(),
        };
        let length = reply
            .header("content-length")
            .map_or(0, |text| text.parse().unwrap());
        reply.body.resize(length, 0);
        self.socket.read_exact(&mut reply.body)?;
        Ok(reply)
    }

    /// What comes until the other side closes.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        // A reset is an end too.
        let _ = self.socket.read_to_end(&mut rest);
        rest
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.socket.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// One GET on a connection of its own.
pub(crate) fn get(address: SocketAddr, path: &str) -> Reply {
    get_as(address, path, &[])
}

pub(crate) fn get_as(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> Reply {
    Client::connect(address)
        .unwrap()
        .send("GET", path, headers, b"")
        .unwrap()
}

/// One export on a connection of its own.
pub(crate) fn post(address: SocketAddr, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    Client::connect(address)
        .unwrap()
        .send("POST", "/v1/traces", headers, body)
        .unwrap()
}

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");
pub(crate) const PROTOBUF: (&str, &str) = ("content-type", "application/x-protobuf");
pub(crate) const GZIP: (&str, &str) = ("content-encoding", "gzip");

pub(crate) fn of_tenant(name: &str) -> (&'static str, &str) {
    ("x-tenant-id", name)
}

pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(body).unwrap();
    out.finish().unwrap()
}

/// A protobuf field that has a length.
pub(crate) fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = content.len();
    while length > 0x7f {
        out.push(length as u8 & 0x7f | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(content);
    out
}

/// A protobuf span with these ids, that began and ended so many ns after 1970.
pub(crate) fn span(trace: &[u8], id: &[u8], ns: u64) -> Vec<u8> {
    let mut time = vec![7 << 3 | 1];
    time.extend(ns.to_le_bytes());
    time.push(8 << 3 | 1);
    time.extend(ns.to_le_bytes());
    [field(1, trace), field(2, id), field(5, b"a name"), time].concat()
}

/// A request of protobuf spans.
pub(crate) fn request(spans: &[Vec<u8>]) -> Vec<u8> {
    let spans: Vec<u8> = spans.iter().flat_map(|span| field(2, span)).collect();
    field(1, &field(2, &spans))
}

/// A request of one JSON span.
pub(crate) fn json_request(trace: u128, id: u64) -> Vec<u8> {
    format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"{trace:032x}","spanId":"{id:016x}","name":"n",
            "startTimeUnixNano":"1764500000000000000","endTimeUnixNano":"1764500000000000001"}}]}}]}}]}}"#
    )
    .into_bytes()
}
