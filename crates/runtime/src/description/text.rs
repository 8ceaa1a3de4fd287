//! A description for people.
use super::{DescribedSubscriber, DescribedTable, Description};

/// Lines of two columns.
#[derive(Default)]
pub(super) struct Lines(Vec<(String, String)>);

impl Lines {
    pub(super) fn of(description: &Description) -> Self {
        let mut lines = Self::default();
        let envelope = &description.envelope;
        lines.add(0, "role", &description.role);
        let formats = format!("reads up to {}, writes {}", envelope.reads, envelope.writes);
        lines.add(0, "envelope", formats);
        for pipeline in &description.pipelines {
            lines.add(0, "pipeline", &pipeline.name);
            for command in &pipeline.commands {
                let mut what = format!("aggregate {}", command.aggregate);
                if let Some(fold) = &command.decides_on {
                    what.push_str(&format!(", decides on fold {fold}"));
                }
                lines.add(1, &format!("command {}", command.name), what);
            }
            for fold in &pipeline.folds {
                let order = if fold.by_occurrence {
                    "by occurrence"
                } else {
                    "commutative"
                };
                let what = format!(
                    "v{}, {order}, key {}{}",
                    fold.version,
                    fold.key,
                    bound(fold.table)
                );
                lines.add(1, &format!("fold {}", fold.name), what);
                lines.projection(&fold.events, &fold.subscribers);
            }
            for map in &pipeline.maps {
                lines.add(
                    1,
                    &format!("map {}", map.name),
                    format!("v{}{}", map.version, bound(map.table)),
                );
                lines.projection(&map.events, &map.subscribers);
            }
        }
        for (port, adapter) in &description.adapters {
            lines.add(0, &format!("adapter {port}"), adapter);
        }
        for (name, value) in &description.settings {
            lines.add(0, &format!("setting {name}"), value);
        }
        lines
    }

    /// The lines, the second column aligned.
    pub(super) fn aligned(&self) -> String {
        let width = self.0.iter().map(|(left, _)| left.len()).max().unwrap_or(0);
        let lines = self.0.iter();
        lines
            .map(|(left, right)| format!("{left:width$}  {right}\n"))
            .collect()
    }

    fn projection(&mut self, events: &[String], subscribers: &[DescribedSubscriber]) {
        for event in events {
            self.add(2, "reads", event);
        }
        for subscriber in subscribers {
            let mut what = subscriber.dispatch.clone();
            if let Some(roles) = &subscriber.run_in {
                what.push_str(&format!(", in {}", roles.join(" or ")));
            }
            if subscriber.kill_switch {
                what.push_str(", with a kill switch");
            }
            self.add(2, &format!("subscriber {}", subscriber.name), what);
        }
    }

    fn add(&mut self, depth: usize, left: &str, right: impl Into<String>) {
        self.0
            .push((format!("{}{left}", "  ".repeat(depth)), right.into()));
    }
}

const fn bound(table: DescribedTable) -> &'static str {
    match table {
        DescribedTable::Kernel => "",
        DescribedTable::Bound => ", in a table of its own",
    }
}
