//! `traces show`.
use super::Failure;
use foldwright::prelude::TenantId;
use foldwright_traces::{
    show::{Query, ShowError, show},
    store::Store,
};
use std::{
    io::{self, BufWriter, Write},
    path::PathBuf,
};

#[derive(clap::Args)]
pub(super) struct Args {
    /// Only this tenant.
    #[arg(long, value_parser = super::tenant)]
    tenant: Option<TenantId>,
    /// Only this trace; as a tree, unless --json is given.
    #[arg(long)]
    trace: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
    /// The store.
    #[arg(long, env = "TRACES_STORE", default_value = "./foldwright.db")]
    store: PathBuf,
}

pub(super) async fn run(args: Args) -> Result<(), Failure> {
    let store = Store::open_existing(&args.store)?;
    let mut out = BufWriter::new(io::stdout());
    let query = Query {
        tenant: args.tenant,
        trace: args.trace,
        json: args.json,
    };
    let shown = show(&store.reader(), &query, &mut out).await;
    store.close().await?;
    let written = shown.and_then(|()| Ok(out.flush()?));
    match written {
        // Whoever reads the output may stop early, as `head` does.
        Err(ShowError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}
