//! The golden corpus: bytes of every format and version that was ever written, which have to mean the same for ever.
//!
//! `tests/golden/<format>/<name>.v<version>.hex`: 32 bytes a line, `*n` stands for n zero bytes. Files are added and
//! never changed. Where writing has drifted, a `.new` file beside the old one says what is written now.
use super::{
    Bodies, BodyError, BodyInfo, CommandAnswer, CommandBody, Content, Header, Subject, WireError, Wish,
    decode_event, encode_event,
};
use crate::{
    fold::{Applied, BaseNotes, Ledger, Membership, ReorderWindow},
    subscriber::{Merge, PendingJob},
};
use bytes::Bytes;
use foldwright_adapter_memory::Memory;
use foldwright_domain::{
    AggregateId, CommandId, EventId, Identity, Meta, Millis, RawEvent, Recorded, StreamKey, TenantId,
};
use foldwright_ports::{BlobHash, Body, QueueSettings, SystemClock};
use futures_util::FutureExt;
use std::{
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// What differs between a file and a value: its meaning, or the bytes that are written today.
fn compare<T: PartialEq + Debug>(
    file: &Path,
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, WireError>,
) -> Result<(), String> {
    let written = encode(value);
    let Ok(text) = fs::read_to_string(file) else {
        return Err(drift(file, &written, "there is no golden file"));
    };
    let golden = from_hex(&text);
    match decode(&golden) {
        Ok(read) if read == *value => {}
        Ok(read) => {
            return Err(format!(
                "{}: it means something else now: {read:?}",
                file.display()
            ));
        }
        Err(error) => return Err(format!("{}: {error}", file.display())),
    }
    if written == golden {
        Ok(())
    } else {
        Err(drift(file, &written, "something else is written now"))
    }
}

fn drift(file: &Path, written: &[u8], what: &str) -> String {
    let new = file.with_extension("hex.new");
    fs::create_dir_all(new.parent().unwrap()).unwrap();
    fs::write(&new, to_hex(written)).unwrap();
    format!("{}: {what}, see {}", file.display(), new.display())
}

fn golden<T: PartialEq + Debug>(
    name: &str,
    value: &T,
    encode: impl Fn(&T) -> Vec<u8>,
    decode: impl Fn(&[u8]) -> Result<T, WireError>,
) {
    let compared = compare(&corpus().join(name), value, encode, decode);
    assert_eq!(compared, Ok(()));
}

fn to_hex(bytes: &[u8]) -> String {
    let mut lines = Vec::new();
    let mut zeros = 0;
    for line in bytes.chunks(32) {
        if line.iter().all(|byte| *byte == 0) {
            zeros += line.len();
            continue;
        }
        if zeros > 0 {
            lines.push(format!("*{zeros}"));
            zeros = 0;
        }
        lines.push(line.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    if zeros > 0 {
        lines.push(format!("*{zeros}"));
    }
    lines.join("\n") + "\n"
}

pub(crate) fn from_hex(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines() {
        match line.strip_prefix('*') {
            Some(zeros) => bytes.resize(bytes.len() + zeros.parse::<usize>().unwrap(), 0),
            None => bytes.extend(
                (0..line.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap()),
            ),
        }
    }
    bytes
}

pub(super) fn header(content: Content) -> Header {
    Header {
        route: "traces/fold/trace_summary/subscriber/settled".into(),
        tenant: TenantId::parse("acme-1").unwrap(),
        content,
        subject: Subject {
            aggregate_type: "trace".into(),
            aggregate_id: AggregateId::parse("5b8e/ü").unwrap(),
            id: event_id(),
        },
        trace_context: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into()),
        body: BodyInfo {
            raw_bytes: 70_000,
            blob: Some(BlobHash([0xab; 32])),
        },
    }
}

fn event_id() -> EventId {
    EventId::from_u128(0x019a_d465_3b88_7f00_8123_4567_89ab_c001)
}

pub(super) fn event() -> RawEvent {
    let stream = StreamKey {
        tenant: TenantId::parse("acme-1").unwrap(),
        aggregate_type: "trace".into(),
        id: AggregateId::parse("5b8e/ü").unwrap(),
    };
    let meta = Meta {
        id: event_id(),
        identity: Identity::keyed(&stream, "record_span", 1, "span-7"),
        stream,
        event_type: "otlp.tracing.trace.span_recorded".into(),
        version: "2026-03-01".into(),
        occurred_at: Millis(1_764_500_000_123),
        accepted_at: Millis(1_764_500_000_456),
        idempotency_key: Some("span-7".into()),
        correlation_id: event_id().command(),
        causation_id: EventId::from_u128(7),
        trace_context: None,
    };
    Recorded {
        meta,
        data: Bytes::from_static(br#"{"name":"GET /"}"#),
    }
}

pub(super) fn command() -> CommandBody {
    CommandBody {
        id: event_id().command(),
        occurred_at: Millis(-1),
        accepted_at: Millis(1_764_500_000_456),
        correlation_id: Some(CommandId::from_u128(0x7000)),
        causation_id: None,
        trace_context: None,
        payload: Bytes::from_static(br#"{"run":"r"}"#),
    }
}

fn identity(n: u128) -> Identity {
    Identity::of_id(EventId::from_u128(n))
}

/// Notes of a row that holds identities 0 to 2 exactly, and 7 in its filter.
pub(super) fn ledger() -> Ledger {
    let mut bits = vec![0_u8; 8_192 * 4];
    for bit in crate::fold::PROBES_OF_7 {
        bits[bit / 8] |= 1 << (bit % 8);
    }
    let exact: Vec<_> = (0..3).map(identity).collect();
    let layers = vec![(8_192_u32, 1_u32, Bytes::from(bits))];
    let applied: Applied = postcard::from_bytes(&postcard::to_stdvec(&(exact, layers)).unwrap()).unwrap();
    let pending = PendingJob {
        route: "traces/fold/trace_summary/subscriber/settled".into(),
        group_key: "5b8e/ü".into(),
        merge: Merge::Sliding,
        delay_ms: 2_000,
        event: encode_event(&event()),
    };
    Ledger {
        applied,
        pending: vec![pending],
        undecided: vec![identity(9)],
        window: None,
    }
}

/// B-07, B-22, L-12
#[test]
fn headers_of_every_version_decode() {
    for (name, content) in [
        ("command", Content::Command),
        ("event", Content::Event),
        ("effect", Content::Effect),
    ] {
        golden(
            &format!("header/{name}.v1.hex"),
            &header(content),
            |header| header.encode(1),
            Header::decode,
        );
    }
    let mut bare = header(Content::Command);
    bare.trace_context = None;
    bare.body.blob = None;
    golden(
        "header/bare.v1.hex",
        &bare,
        |header| header.encode(1),
        Header::decode,
    );
}

/// B-22, L-12
#[test]
fn events_of_every_version_decode() {
    golden(
        "event/full.v1.hex",
        &event(),
        |event| encode_event(event).into(),
        decode_event,
    );
    let mut bare = event();
    bare.meta.idempotency_key = None;
    bare.meta.trace_context = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".into());
    bare.meta.occurred_at = Millis(i64::MIN);
    golden(
        "event/bare.v1.hex",
        &bare,
        |event| encode_event(event).into(),
        decode_event,
    );
}

/// B-22
#[test]
fn commands_of_every_version_decode() {
    golden(
        "command/caused.v1.hex",
        &command(),
        |command| command.encode().into(),
        CommandBody::decode,
    );
}

/// B-22
#[test]
fn answers_of_every_version_decode() {
    let answer = CommandAnswer::Rejected {
        code: "already_paid".into(),
        message: "it was paid before".into(),
    };
    golden(
        "answer/rejected.v1.hex",
        &answer,
        |answer| answer.encode().into(),
        CommandAnswer::decode,
    );
    golden(
        "answer/no_events.v2.hex",
        &CommandAnswer::NoEvents,
        |answer| answer.encode().into(),
        CommandAnswer::decode,
    );
    for (name, duplicate) in [("events", false), ("duplicate", true)] {
        let answer = CommandAnswer::Events {
            aggregate_type: "trace".into(),
            aggregate_id: AggregateId::parse("5b8e/ü").unwrap(),
            events: vec![event_id(), EventId::from_u128(event_id().as_u128() + 1)],
            duplicate,
        };
        golden(
            &format!("answer/{name}.v2.hex"),
            &answer,
            |answer| answer.encode().into(),
            CommandAnswer::decode,
        );
    }
}

/// B-22
#[test]
fn wishes_of_every_version_decode() {
    golden(
        "wish/answer.v1.hex",
        &Wish { answer: true },
        |wish| wish.encode().into(),
        Wish::decode,
    );
}

/// B-22, X-11
#[test]
fn ledgers_of_every_version_decode() {
    golden(
        "ledger/filtered.v1.hex",
        &ledger(),
        |ledger| ledger.encode().into(),
        Ledger::decode,
    );
    golden(
        "ledger/empty.v1.hex",
        &Ledger::default(),
        |ledger| ledger.encode().into(),
        Ledger::decode,
    );
    let mut throttled = ledger();
    throttled.pending[0].merge = Merge::Throttled;
    golden(
        "ledger/throttled.v2.hex",
        &throttled,
        |ledger| ledger.encode().into(),
        Ledger::decode,
    );
    let windowed = Ledger {
        window: Some(ReorderWindow::of(
            Bytes::from_static(b"[1,2]"),
            Some(event().meta.position()),
            vec![encode_event(&event())],
        )),
        ..ledger()
    };
    golden(
        "ledger/windowed.v2.hex",
        &windowed,
        |ledger| ledger.encode().into(),
        Ledger::decode,
    );
    let ledger = ledger();
    let index = ledger.applied.index();
    assert_eq!(index.contains(&identity(2)), Membership::Yes);
    assert_eq!(index.contains(&identity(7)), Membership::Unsure);
    assert_eq!(index.contains(&identity(8)), Membership::No);
}

/// B-22
#[test]
fn bases_of_every_version_decode() {
    let notes = BaseNotes {
        identities: vec![identity(1), identity(2)],
        tail: vec![encode_event(&event())],
    };
    golden(
        "base/tail.v1.hex",
        &notes,
        |notes| notes.encode().into(),
        BaseNotes::decode,
    );
}

fn bodies() -> (Bodies, TenantId) {
    let ports = Memory::new(Arc::new(SystemClock), QueueSettings::default()).ports();
    (
        Bodies::new(ports.hot_blobs, ports.cold_blobs),
        TenantId::parse("acme-1").unwrap(),
    )
}

fn write_body(raw: &Bytes) -> Vec<u8> {
    let (bodies, tenant) = bodies();
    match bodies.write(&tenant, raw).now_or_never().unwrap().unwrap().body {
        Body::Inline(stored) => stored.into(),
        Body::Blob { .. } => panic!("the body is small"),
    }
}

fn read_body(stored: &[u8]) -> Result<Bytes, WireError> {
    let (bodies, tenant) = bodies();
    let body = Body::Inline(Bytes::copy_from_slice(stored));
    match bodies.read(&tenant, &body).now_or_never().unwrap() {
        Ok(raw) => Ok(raw),
        Err(BodyError::Wire(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// B-02, B-22
#[test]
fn bodies_of_every_encoding_decode() {
    golden(
        "body/plain.v1.hex",
        &Bytes::from_static(b"below a kibibyte"),
        write_body,
        read_body,
    );
    // A compressor may write other bytes tomorrow; what was written is read for ever.
    let raw = Bytes::from("0123456789".repeat(150));
    let file = corpus().join("body/deflate.v1.hex");
    let written_once =
        |raw: &Bytes| fs::read_to_string(&file).map_or_else(|_| write_body(raw), |text| from_hex(&text));
    golden("body/deflate.v1.hex", &raw, written_once, read_body);
    assert_eq!(write_body(&raw)[0], 2);
}

/// A drift fails, and says what is written now.
#[test]
fn a_drift_leaves_a_new_file_and_fails() {
    let directory = std::env::temp_dir().join(format!("foldwright-golden-{}", std::process::id()));
    let file = directory.join("answer.v1.hex");
    fs::create_dir_all(&directory).unwrap();
    let answer = CommandAnswer::Rejected {
        code: "a".into(),
        message: "b".into(),
    };
    let check = |answer: &CommandAnswer| compare(&file, answer, |a| a.encode().into(), CommandAnswer::decode);
    assert!(check(&answer).unwrap_err().contains("there is no golden file"));
    fs::rename(file.with_extension("hex.new"), &file).unwrap();
    assert_eq!(check(&answer), Ok(()));
    let other = CommandAnswer::Rejected {
        code: "a".into(),
        message: "c".into(),
    };
    assert!(check(&other).unwrap_err().contains("means something else"));
    let mut drifted = from_hex(&fs::read_to_string(&file).unwrap());
    drifted.push(0);
    assert_eq!(from_hex(&to_hex(&drifted)), drifted);
    fs::remove_dir_all(directory).unwrap();
}
