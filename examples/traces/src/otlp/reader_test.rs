use std::io::{Cursor, Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;

const ONE_SPAN: &str = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331"}]}]}]}"#;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// One body of `ResourceSpans` without content, after its length.
fn prefixed_empty_request() -> Vec<u8> {
    vec![0, 0, 0, 2, 0x0a, 0]
}

type Items = Vec<Result<usize, OtlpError>>;

/// Spans per request, or the error, of everything that the content holds.
fn read(content: impl Into<Vec<u8>>) -> Items {
    match RequestReader::new(Cursor::new(content.into())) {
        Ok(reader) => reader.map(|item| item.map(|spans| spans.len())).collect(),
        Err(error) => vec![Err(error)],
    }
}

fn counts(items: Items) -> Vec<usize> {
    items.into_iter().collect::<Result<_, _>>().unwrap()
}

#[test]
fn json_lines_are_requests_and_blank_lines_are_not() {
    let content = format!("\r\n{ONE_SPAN}\r\n\n  \n{{}}\n{ONE_SPAN}");
    assert_eq!(counts(read(content.as_bytes())), [1, 0, 1]);
    assert_eq!(counts(read(gzip(content.as_bytes()))), [1, 0, 1]);
}

#[test]
fn prefixed_bodies_are_requests_even_when_empty() {
    let mut content = prefixed_empty_request();
    content.extend([0, 0, 0, 0]);
    content.extend(prefixed_empty_request());
    assert_eq!(counts(read(gzip(&content))), [0, 0, 0]);
    assert_eq!(counts(read(content)), [0, 0, 0]);
}

#[test]
fn gzip_may_have_several_members() {
    let line = format!("{ONE_SPAN}\n");
    let content = [gzip(line.as_bytes()), gzip(line.as_bytes())].concat();
    assert_eq!(counts(read(content)), [1, 1]);
}

#[test]
fn nothing_holds_no_requests() {
    assert_eq!(counts(read("")), [0; 0]);
    assert_eq!(counts(read(gzip(b""))), [0; 0]);
    assert_eq!(counts(read("\n\n")), [0; 0]);
}

#[test]
fn content_of_another_kind_is_refused() {
    for (content, first) in [
        (b"hello".to_vec(), b'h'),
        (b"[]".to_vec(), b'['),
        (gzip(b"<xml>"), b'<'),
    ] {
        let items = read(content);
        assert!(matches!(items[..], [Err(OtlpError::UnknownFormat { first: found })] if found == first));
    }
}

#[test]
fn a_missing_file_is_named() {
    let Err(error) = RequestReader::open("no/such.jsonl") else {
        panic!("opened")
    };
    assert!(matches!(error, OtlpError::Open { .. }));
    assert!(error.to_string().contains("no/such.jsonl"), "{error}");
}

#[test]
fn a_faulty_request_is_named_and_the_next_ones_are_still_read() {
    let items = read(format!("{{}}\n{{\"resourceSpans\":7}}\n{ONE_SPAN}\n"));
    assert!(
        matches!(
            items[..],
            [
                Ok(0),
                Err(OtlpError::Decode {
                    index: 1,
                    source: DecodeError::Json(_)
                }),
                Ok(1)
            ]
        ),
        "{items:?}"
    );

    let mut content = vec![0, 0, 0, 1, 0x0a];
    content.extend(prefixed_empty_request());
    let items = read(content);
    assert!(
        matches!(
            items[..],
            [
                Err(OtlpError::Decode {
                    index: 0,
                    source: DecodeError::Protobuf(_)
                }),
                Ok(0)
            ]
        ),
        "{items:?}"
    );
}

#[test]
fn a_cut_prefix_or_body_is_an_error_and_the_end() {
    let whole = [prefixed_empty_request(), prefixed_empty_request()].concat();
    for cut in 1..whole.len() {
        let items = read(&whole[..cut]);
        match cut {
            6 => assert!(matches!(items[..], [Ok(0)]), "{items:?}"),
            _ => {
                let (index, rest) = (cut / 6, cut % 6);
                let (expected, found) = if rest < 4 { (4, rest) } else { (2, rest - 4) };
                let Some(Err(OtlpError::Truncated {
                    index: at,
                    expected: want,
                    found: got,
                })) = items.last()
                else {
                    panic!("cut at {cut}: {items:?}")
                };
                assert_eq!((*at, *want, *got), (index, expected, found));
                assert_eq!(items.len(), index + 1);
            }
        }
    }
}

#[test]
fn a_cut_last_line_is_an_error() {
    let content = format!("{ONE_SPAN}\n{}", &ONE_SPAN[..40]);
    let items = read(content);
    assert!(
        matches!(items[..], [Ok(1), Err(OtlpError::Decode { index: 1, .. })]),
        "{items:?}"
    );
}

#[test]
fn cut_or_damaged_gzip_is_an_error_wherever_it_breaks() {
    let whole = gzip(format!("{ONE_SPAN}\n{ONE_SPAN}\n").as_bytes());
    for cut in 2..whole.len() {
        let items = read(&whole[..cut]);
        assert!(
            matches!(items.last(), Some(Err(OtlpError::Read { .. }))),
            "cut at {cut}: {items:?}"
        );
    }
    let mut damaged = whole;
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    let items = read(damaged);
    assert!(
        matches!(items[..], [Ok(1), Ok(1), Err(OtlpError::Read { index: 2, .. })]),
        "{items:?}"
    );
}

#[test]
fn a_claimed_length_may_reach_the_limit_and_not_pass_it() {
    let claim = |bytes: usize| [&u32::try_from(bytes).unwrap().to_be_bytes()[..], b"abc"].concat();
    let items = read(claim(MAX_REQUEST_BYTES));
    assert!(
        matches!(
            items[..],
            [Err(OtlpError::Truncated {
                index: 0,
                expected: MAX_REQUEST_BYTES,
                found: 3
            })]
        ),
        "{items:?}"
    );

    let items = read(claim(MAX_REQUEST_BYTES + 1));
    assert!(
        matches!(items[..], [Err(OtlpError::TooLarge { index: 0, limit: MAX_REQUEST_BYTES, bytes })]
            if bytes == MAX_REQUEST_BYTES + 1),
        "{items:?}"
    );

    let items = read([prefixed_empty_request(), vec![0xff; 8]].concat());
    assert!(
        matches!(
            items[..],
            [
                Ok(0),
                Err(OtlpError::TooLarge {
                    index: 1,
                    bytes: 0xffff_ffff,
                    ..
                })
            ]
        ),
        "{items:?}"
    );
}

#[test]
fn a_line_may_reach_the_limit_and_not_pass_it() {
    let line = |bytes: usize| {
        let padding = std::io::repeat(b' ').take((bytes - ONE_SPAN.len()) as u64);
        let content = Cursor::new(ONE_SPAN).chain(padding).chain(Cursor::new("\n{}"));
        RequestReader::new(content)
            .unwrap()
            .map(|item| item.map(|spans| spans.len()))
            .collect::<Items>()
    };
    assert_eq!(counts(line(MAX_REQUEST_BYTES)), [1, 0]);
    let items = line(MAX_REQUEST_BYTES + 1);
    assert!(
        matches!(items[..], [Err(OtlpError::TooLarge { index: 0, .. })]),
        "{items:?}"
    );
}
