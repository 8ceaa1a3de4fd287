//! Tests of the ticket service: its rules, its laws, its kernel, its history and its command.

#[cfg(test)]
mod command;
#[cfg(test)]
mod kernel;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod tutorial;
#[cfg(test)]
mod words;
