#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldwright_adapter_sqlite::fuzzing::sqlite_cursor(bytes));
