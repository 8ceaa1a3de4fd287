//! The kit tested from the outside, above all that what is wrong fails.

#[cfg(test)]
mod cart;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod false_claims;
#[cfg(test)]
mod kernel;
#[cfg(test)]
mod lean;
#[cfg(test)]
mod recorded;

/// What a test that has to fail says.
#[cfg(test)]
fn failure(test: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).expect_err("it does not fail");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()))
        .unwrap()
}
