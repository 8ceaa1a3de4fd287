//! Tests of the trace service from the outside.

#[cfg(test)]
mod command;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod otlp;
#[cfg(test)]
mod settled;
#[cfg(test)]
mod show;
