//! What must not compile, with what the compiler says.

/// C-05, C-11, C-13, S-01, T-01, X-05
#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
