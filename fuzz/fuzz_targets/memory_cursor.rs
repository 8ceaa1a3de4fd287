#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| foldwright_adapter_memory::fuzzing::memory_cursor(bytes));
