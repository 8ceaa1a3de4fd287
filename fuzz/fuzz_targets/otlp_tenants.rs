#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldwright_traces::fuzzing::otlp_tenants(bytes));
