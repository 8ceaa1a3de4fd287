//! What the command line takes, and what each command does with it.
mod environment;
mod ingest;
mod serve;
mod show;
mod telemetry;
mod units;

use clap::{Parser, Subcommand};
use foldwright::{prelude::TenantId, telemetry::Otlp};
use std::error::Error;

pub(crate) use environment::check as check_environment;
pub(crate) use telemetry::install as install_telemetry;

/// Why a command failed.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// A multi-tenant trace service in one file.
///
/// Every option of a command can be given by the variable of the environment that its help names; the option wins.
#[derive(Parser)]
#[command(name = "traces", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Reads OTLP requests (JSON lines or length-prefixed protobuf, plain or gzip) and waits until every projection
    /// has caught up.
    Ingest(ingest::Args),
    /// Receives spans over OTLP/HTTP (POST /v1/traces) and answers reads (GET /api/tenants), until it is told to stop.
    Serve(serve::Args),
    /// Shows traces: all of them as a table, or one as a tree.
    Show(show::Args),
}

impl Cli {
    /// Where the traces of this process itself go, if anywhere.
    pub(crate) fn otlp_endpoint(&self) -> Option<&str> {
        match &self.command {
            Command::Serve(args) => args.otlp_endpoint(),
            Command::Ingest(_) | Command::Show(_) => None,
        }
    }

    pub(crate) async fn run(self, otlp: Option<Otlp>) -> Result<(), Failure> {
        match self.command {
            Command::Ingest(args) => ingest::run(args).await,
            Command::Serve(args) => serve::run(args, otlp).await,
            Command::Show(args) => show::run(args).await,
        }
    }
}

fn tenant(name: &str) -> Result<TenantId, foldwright::domain::SecurityError> {
    TenantId::parse(name)
}
