use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// What a bench program says of one scenario.
#[derive(Debug, PartialEq)]
pub(crate) struct BenchLine {
    pub(crate) bench: String,
    pub(crate) scenario: String,
    /// Name and value, in the order of the program.
    pub(crate) figures: Vec<(String, String)>,
}

impl BenchLine {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Fields(fields) =
            serde_json::from_str(text).map_err(|error| format!("not a JSON object ({error})"))?;
        let (mut bench, mut scenario, mut figures) = (None, None, Vec::new());
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("bench", Value::String(value)) => bench = Some(value),
                ("scenario", Value::String(value)) => scenario = Some(value),
                (_, Value::String(value)) => figures.push((name, value)),
                (_, value) => figures.push((name, value.to_string())),
            }
        }
        Ok(Self {
            bench: bench.ok_or("the text `bench` is missing")?,
            scenario: scenario.ok_or("the text `scenario` is missing")?,
            figures,
        })
    }
}

/// An object's fields in the order of the text. A `serde_json` map would sort them, and its feature that does not
/// would change every crate that is built beside this one.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_the_order_of_the_program() {
        let text = r#"{"bench":"ingest","scenario":"sqlite","spans_per_s":9001.5,"bytes":12,"store":"wal"}"#;
        let line = BenchLine::parse(text).unwrap();
        assert_eq!(
            (line.bench.as_str(), line.scenario.as_str()),
            ("ingest", "sqlite")
        );
        let figures = [("spans_per_s", "9001.5"), ("bytes", "12"), ("store", "wal")];
        assert_eq!(
            line.figures,
            figures.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "done",
            "[1]",
            r#"{"bench":"x"}"#,
            r#"{"bench":1,"scenario":"y"}"#,
        ] {
            assert!(BenchLine::parse(text).is_err(), "{text}");
        }
    }
}
