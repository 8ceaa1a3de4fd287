//! Texts that come from other processes.
use crate::{ReceiptKey, TraceParent};

/// A `traceparent`: what is read is written in the form of version 00, with the same ids.
pub fn trace_parent(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(parent) = text.parse::<TraceParent>() else {
        return;
    };
    assert!(
        parent.trace_id != 0 && parent.span_id != 0,
        "an id that stands for none"
    );
    let written = parent.to_text();
    assert_eq!(written.parse(), Ok(parent));
    assert_eq!(text.get(2..53), written.get(2..53), "other ids than it came with");
    assert!(!text.starts_with("00") || text.len() == written.len());
}

/// A receipt on its way between processes, in JSON and in a binary form.
pub fn receipt_key(bytes: &[u8]) {
    if let Ok(key) = serde_json::from_slice::<ReceiptKey>(bytes) {
        let again = serde_json::to_vec(&key).and_then(|json| serde_json::from_slice(&json));
        assert!(again.is_ok_and(|again: ReceiptKey| again == key));
    }
    if let Ok(key) = postcard::from_bytes::<ReceiptKey>(bytes) {
        let again = postcard::to_stdvec(&key).and_then(|bytes| postcard::from_bytes(&bytes));
        assert_eq!(again, Ok(key));
    }
}
