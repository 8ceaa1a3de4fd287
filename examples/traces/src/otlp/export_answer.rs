//! What an exporter gets back.

use prost::Message;
use serde_json::json;

use super::encoding::Encoding;

/// The part of a request that was refused. Its sender must not send it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialSuccess {
    /// How many spans.
    pub rejected_spans: usize,
    /// Which, and why.
    pub message: String,
}

#[derive(Clone, PartialEq, Message)]
struct ExportTraceServiceResponse {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<ExportTracePartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
struct ExportTracePartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_spans: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

/// `google.rpc.Status`.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// An `ExportTraceServiceResponse`.
#[must_use]
pub fn encode_success(encoding: Encoding, partial: Option<PartialSuccess>) -> Vec<u8> {
    match encoding {
        Encoding::Json => match partial {
            None => b"{}".to_vec(),
            // Protobuf's JSON writes integers of 64 bits as text.
            Some(partial) => json!({"partialSuccess": {
                "rejectedSpans": partial.rejected_spans.to_string(),
                "errorMessage": partial.message,
            }})
            .to_string()
            .into_bytes(),
        },
        Encoding::Protobuf => ExportTraceServiceResponse {
            partial_success: partial.map(|partial| ExportTracePartialSuccess {
                rejected_spans: partial.rejected_spans as i64,
                error_message: partial.message,
            }),
        }
        .encode_to_vec(),
    }
}

/// A `google.rpc.Status` with one of the codes of gRPC.
#[must_use]
pub fn encode_failure(encoding: Encoding, code: i32, message: &str) -> Vec<u8> {
    match encoding {
        Encoding::Json => json!({"code": code, "message": message}).to_string().into_bytes(),
        Encoding::Protobuf => Status {
            code,
            message: message.to_owned(),
        }
        .encode_to_vec(),
    }
}
