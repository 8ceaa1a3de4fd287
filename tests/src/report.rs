//! What a bench prints: one JSON object a line.
use serde_json::{Map, Value};

/// One line of a bench: `bench`, `scenario`, then figures with their units in their names.
pub struct Report(Map<String, Value>);

impl Report {
    /// Begins a line.
    #[must_use]
    pub fn new(bench: &str, scenario: &str) -> Self {
        let mut fields = Map::new();
        fields.insert("bench".into(), bench.into());
        fields.insert("scenario".into(), scenario.into());
        Self(fields)
    }

    /// Adds a figure; its name ends in its unit.
    #[must_use]
    pub fn figure(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// Prints the line.
    pub fn print(self) {
        println!("{}", Value::Object(self.0));
    }
}

/// The middle of some figures; 0 where there are none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}
