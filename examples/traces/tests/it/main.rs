//! Tests of the trace service from the outside.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod command;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod http;
#[cfg(test)]
mod ingest_stop;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod otlp;
#[cfg(test)]
mod serve_export;
#[cfg(test)]
mod serve_kills;
#[cfg(test)]
mod serve_limits;
#[cfg(test)]
mod serve_read;
#[cfg(test)]
mod serve_stop;
#[cfg(test)]
mod serve_traced;
#[cfg(test)]
mod server;
#[cfg(test)]
mod settled;
#[cfg(test)]
mod show;
