//! What a client hands in beside spans, for the fuzz targets.
use super::{body::Compression, budget::Budget, cursor};

/// How much the body may have once it is decompressed, and what is paid for at most.
const LIMIT: usize = 128 << 10;
const BUDGET: usize = 2 * LIMIT;

/// A compressed body: it is within the limit or refused, and what was held is given back.
pub(crate) fn compressed(bytes: &[u8]) {
    let budget = Budget::new(1, BUDGET);
    for compression in [Compression::None, Compression::Gzip, Compression::Deflate] {
        let Ok(mut share) = budget.admit() else {
            panic!("there is room for one");
        };
        if let Ok(body) = compression.undo(bytes.to_vec(), LIMIT.max(bytes.len()), &mut share) {
            assert!(body.len() <= LIMIT.max(bytes.len()));
        }
        drop(share);
        assert_eq!(budget.free_bytes(), BUDGET);
    }
}

/// The text of a cursor.
pub(crate) fn cursor(text: &str) {
    if let Ok(cursor) = cursor::of_text(text) {
        assert_eq!(cursor::to_text(Some(&cursor)), Some(text.to_ascii_lowercase()));
    }
}
