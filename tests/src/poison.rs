//! A service in which one command kills the process that handles it.
use foldwright::{
    Faults,
    prelude::{
        Aggregate, AggregateId, AggregateType, Command, Event, Handler, Intent, InvalidId, Millis, Pipeline,
        Rejected, TenantId,
    },
};
use serde::{Deserialize, Serialize};

/// A document.
pub enum Document {}

impl Aggregate for Document {
    const TYPE: AggregateType = AggregateType::new("document");
    type Event = DocumentEvent;
}

/// What happens to documents.
#[derive(Event)]
#[event(aggregate = Document, prefix = "test.poison.document")]
pub enum DocumentEvent {
    /// It was read.
    #[event(name = "parsed", version = "2026-01-01")]
    Parsed(Parsed),
}

/// That it was read.
#[derive(Serialize, Deserialize)]
pub struct Parsed {
    /// Which.
    pub document: String,
}

/// Reads a document; the one named `die` kills whoever reads it.
#[derive(Serialize, Deserialize)]
pub struct Parse {
    /// Which.
    pub document: String,
}

impl Command for Parse {
    type Of = Document;
    const NAME: &'static str = "parse";

    fn aggregate_id(&self) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(self.document.as_str())
    }
}

impl Handler for Parse {
    fn handle(intent: &Intent<Self>) -> Result<Vec<DocumentEvent>, Rejected> {
        let document = intent.payload.document.clone();
        if document == "die" {
            std::process::abort();
        }
        Ok(vec![DocumentEvent::Parsed(Parsed { document })])
    }
}

/// The pipeline.
///
/// # Errors
/// None in practice.
pub fn pipeline() -> Result<Pipeline<Document>, Faults> {
    Pipeline::define("documents").command::<Parse>().build()
}

/// The command to read a document.
#[must_use]
pub fn parse(tenant: &TenantId, document: &str) -> Intent<Parse> {
    let document = document.to_owned();
    Intent::new(tenant.clone(), Millis(1_767_225_600_000), Parse { document })
}
