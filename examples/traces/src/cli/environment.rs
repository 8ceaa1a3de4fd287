//! Variables of the environment that nothing reads.
use super::{Cli, Failure};
use clap::CommandFactory;
use std::collections::BTreeSet;

const PREFIX: &str = "TRACES_";

/// Refuses what looks like a setting and is none: a typing error would leave a default in force, unseen.
pub(crate) fn check() -> Result<(), Failure> {
    let command = Cli::command();
    let known: BTreeSet<_> = command
        .get_subcommands()
        .flat_map(clap::Command::get_arguments)
        .filter_map(|argument| argument.get_env()?.to_str())
        .collect();
    let unknown: BTreeSet<_> = std::env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name.as_str()))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    Err(format!(
        "the environment has settings that are none: {}; known are {}",
        list(&mut unknown.iter().map(String::as_str)),
        list(&mut known.iter().copied()),
    )
    .into())
}
