//! The kernel's spans, kept.
use foldwright_runtime::TARGET;
use std::{
    collections::BTreeSet,
    fmt::Debug,
    sync::{Arc, Mutex},
};
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{Layer, layer::Context, prelude::*, registry::LookupSpan};

/// A span of the kernel: its name and its trace.
#[derive(Clone, Default)]
struct Seen {
    name: &'static str,
    trace_id: String,
}

/// Keeps the kernel's spans.
#[derive(Clone, Default)]
pub(super) struct Spans(Arc<Mutex<Vec<Seen>>>);

struct Place(usize);

struct TraceId<'a>(&'a mut String);

impl Visit for TraceId<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "trace_id" {
            *self.0 = format!("{value:?}");
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        if attributes.metadata().target() == TARGET {
            let mut spans = self.0.lock().unwrap();
            context
                .span(id)
                .unwrap()
                .extensions_mut()
                .insert(Place(spans.len()));
            spans.push(Seen {
                name: attributes.metadata().name(),
                trace_id: String::new(),
            });
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        if let Some(Place(at)) = span.extensions().get() {
            values.record(&mut TraceId(&mut self.0.lock().unwrap()[*at].trace_id));
        }
    }
}

impl Spans {
    pub(super) fn listen(&self) -> tracing::subscriber::DefaultGuard {
        tracing_subscriber::registry().with(self.clone()).set_default()
    }

    pub(super) fn names(&self) -> BTreeSet<&'static str> {
        self.0.lock().unwrap().iter().map(|span| span.name).collect()
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.0
            .lock()
            .unwrap()
            .iter()
            .filter(|span| span.name == name)
            .count()
    }

    pub(super) fn traces(&self) -> BTreeSet<String> {
        self.0
            .lock()
            .unwrap()
            .iter()
            .map(|span| span.trace_id.clone())
            .collect()
    }
}
