//! What must not compile, with what the compiler says.

/// C-12, X-22
#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*/*.rs");
}
