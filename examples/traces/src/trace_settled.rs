//! Noting that a trace has settled, in a table of this service's own.
use crate::{span_recorded::TraceEvent, trace_summary::Summary};
use foldwright::{
    prelude::*,
    sqlite::{Sqlite, rusqlite},
};

/// The table `settled_traces`, beside the kernel's own in the same file.
#[derive(Clone)]
pub struct SettledTraces(Sqlite);

impl SettledTraces {
    /// Makes the table if it is not there.
    pub async fn open(sqlite: Sqlite) -> Result<Self, foldwright::ports::Error> {
        sqlite
            .write(|tx| {
                tx.execute_batch(
                    "CREATE TABLE IF NOT EXISTS settled_traces (
                         tenant   TEXT NOT NULL,
                         trace_id TEXT NOT NULL,
                         spans    INTEGER NOT NULL,
                         errors   INTEGER NOT NULL,
                         PRIMARY KEY (tenant, trace_id)
                     ) WITHOUT ROWID",
                )
            })
            .await?;
        Ok(Self(sqlite))
    }

    /// Notes a trace. A run that comes late, with fewer spans, changes nothing.
    async fn note(
        &self,
        trace: &Recorded<TraceEvent>,
        summary: &Summary,
    ) -> Result<(), foldwright::ports::Error> {
        let (tenant, trace_id) = (
            trace.meta.stream.tenant.to_string(),
            trace.meta.stream.id.to_string(),
        );
        let (spans, errors) = (summary.span_ids.len() as i64, summary.errors as i64);
        self.0
            .write(move |tx| {
                tx.prepare_cached(
                    "INSERT INTO settled_traces (tenant, trace_id, spans, errors) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET spans = excluded.spans, errors = excluded.errors
                     WHERE excluded.spans >= spans",
                )?
                .execute(rusqlite::params![tenant, trace_id, spans, errors])
                .map(drop)
            })
            .await
    }

    /// How many traces of a tenant have settled, and how many spans they have together.
    pub async fn count(&self, tenant: &TenantId) -> Result<(u64, u64), foldwright::ports::Error> {
        let tenant = tenant.to_string();
        self.0
            .read(move |connection| {
                let sql = "SELECT count(*), coalesce(sum(spans), 0) FROM settled_traces WHERE tenant = ?1";
                let count = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
                let (traces, spans) = connection.prepare_cached(sql)?.query_row([tenant], count)?;
                Ok((traces.unsigned_abs(), spans.unsigned_abs()))
            })
            .await
    }
}

/// Runs when a trace has been quiet for a while.
pub struct TraceSettled {
    table: SettledTraces,
}

impl TraceSettled {
    /// Notes settled traces in `table`.
    #[must_use]
    pub fn new(table: SettledTraces) -> Self {
        Self { table }
    }
}

impl Subscriber for TraceSettled {
    type On = TraceEvent;
    type State = Summary;
    const NAME: &'static str = "trace_settled";

    async fn run(&self, event: &Recorded<TraceEvent>, summary: &Summary) -> Result<(), EffectError> {
        self.table
            .note(event, summary)
            .await
            .map_err(|error| EffectError::retry(error.to_string()))
    }
}
