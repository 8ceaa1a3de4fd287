//! Tests of the trace service from the outside.

#[cfg(test)]
mod otlp;
