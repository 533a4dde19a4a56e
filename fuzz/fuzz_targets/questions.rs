#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| profdb_fuzz::check("questions", bytes));
