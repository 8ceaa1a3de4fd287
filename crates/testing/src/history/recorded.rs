//! A recorded history under today's code.
use super::line::{Line, StoredRecord, StoredState, hex};
use crate::{difference, given::state_of, timeline::read};
use foldwright_domain::{Event, EventSet, Fold, KeyedFold, Map, RawEvent, Recorded, TenantId};
use serde::Serialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Real events of some day and what projections made of them, in a file of JSON lines.
///
/// Today's code reads each event, through its upcasters where it is of an older version, and projects it.
/// [`check`](Self::check) fails the test where it comes to something else than the file says.
#[must_use = "nothing is compared before `check`"]
#[derive(Debug)]
pub struct RecordedHistory {
    path: PathBuf,
    recorded: Vec<Line>,
    events: Vec<RawEvent>,
    readers: Vec<fn(&str) -> bool>,
    made: Vec<Line>,
}

impl RecordedHistory {
    /// Reads the file. [`recorded_history!`](crate::recorded_history) finds it beside the user's `Cargo.toml`.
    ///
    /// # Panics
    /// When it is not there, or a line is none.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let (mut recorded, mut events) = (Vec::new(), Vec::new());
        for (number, text) in (1..).zip(text.lines()) {
            let line = serde_json::from_str(text).map_err(|error| error.to_string());
            let line = line.and_then(|line| {
                if let Line::Event(event) = &line {
                    events.push(event.raw()?);
                }
                Ok(line)
            });
            match line {
                Ok(line) => recorded.push(line),
                Err(error) => panic!("{}, line {number}: {error}", path.display()),
            }
        }
        events.sort_by_key(|event: &RawEvent| event.meta.position());
        Self {
            path,
            recorded,
            events,
            readers: Vec::new(),
            made: Vec::new(),
        }
    }

    /// Reads every event of an aggregate, those that no projection cares for among them.
    ///
    /// # Panics
    /// When one does not decode.
    #[track_caller]
    pub fn events<E: Event>(mut self) -> Self {
        self.read::<E>();
        self
    }

    /// Folds every aggregate with `F`.
    ///
    /// # Panics
    /// When an event does not decode, or the state is nothing that JSON can hold.
    #[track_caller]
    pub fn fold<F: Fold>(self) -> Self {
        self.fold_by::<F>(|event| event.meta.stream.id.as_str().into())
    }

    /// Folds every key with `F`.
    ///
    /// # Panics
    /// As [`fold`](Self::fold), or when a key is nothing that JSON can hold.
    #[track_caller]
    pub fn keyed<F: KeyedFold>(self) -> Self {
        self.fold_by::<F>(|event| value(&F::key(event)).to_string().into())
    }

    /// Maps every event with `M`.
    ///
    /// # Panics
    /// As [`fold`](Self::fold).
    #[track_caller]
    pub fn map<M: Map>(mut self) -> Self {
        for event in self.read::<M::On>() {
            if let Some(record) = M::map(&event) {
                self.made.push(Line::Record(StoredRecord {
                    map: M::NAME.into(),
                    version: M::VERSION,
                    tenant: event.meta.stream.tenant.clone(),
                    event: hex(event.meta.id.as_u128()),
                    record: value(&record),
                }));
            }
        }
        self
    }

    /// Compares what was made with what the file says.
    ///
    /// # Panics
    /// When they differ: then what today's code makes lies beside the file, with `.new` behind its name. If the change is
    /// meant, it replaces the file. Also when nothing reads one of the events.
    #[track_caller]
    pub fn check(self) {
        let unread = self
            .events
            .iter()
            .find(|event| !self.readers.iter().any(|reads| reads(&event.meta.event_type)));
        assert!(
            unread.is_none(),
            "nothing reads {}: name its aggregate with `.events::<…>()`, or what projects it",
            unread.map_or("", |event| &*event.meta.event_type)
        );
        let (events, expected): (Vec<_>, Vec<_>) = self
            .recorded
            .iter()
            .cloned()
            .partition(|line| matches!(line, Line::Event(_)));
        if expected == self.made {
            return;
        }
        let new = PathBuf::from(format!("{}.new", self.path.display()));
        let lines: String = events.iter().chain(&self.made).map(text).collect();
        if let Err(error) = fs::write(&new, lines) {
            panic!("{}: {error}", new.display());
        }
        panic!(
            "{} has drifted\n{}\nwhat today's code makes is in {}: if that is meant, replace the file by it\n\n{}\n",
            self.path.display(),
            advice(&expected, &self.made),
            new.display(),
            differing(&expected, &self.made)
        );
    }

    #[track_caller]
    fn fold_by<F: Fold>(mut self, key: impl Fn(&Recorded<F::On>) -> Arc<str>) -> Self {
        let mut by_key: BTreeMap<(TenantId, Arc<str>), Vec<_>> = BTreeMap::new();
        for event in self.read::<F::On>() {
            by_key
                .entry((event.meta.stream.tenant.clone(), key(&event)))
                .or_default()
                .push(event);
        }
        for ((tenant, key), events) in by_key {
            self.made.push(Line::State(StoredState {
                fold: F::NAME.into(),
                version: F::VERSION,
                tenant,
                key,
                state: value(&state_of::<F>(&events)),
            }));
        }
        self
    }

    #[track_caller]
    fn read<S: EventSet>(&mut self) -> Vec<Recorded<S>> {
        self.readers.push(S::reads);
        read(&self.events)
    }
}

/// What a line stands for, the version of what made it, and what was made.
fn named(line: &Line) -> Option<(String, u32, &Value)> {
    match line {
        Line::Event(_) => None,
        Line::State(made) => {
            let name = format!("fold `{}`, {}, {}", made.fold, made.tenant, made.key);
            Some((name, made.version, &made.state))
        }
        Line::Record(made) => {
            let name = format!("map `{}`, {}, {}", made.map, made.tenant, made.event);
            Some((name, made.version, &made.record))
        }
    }
}

/// Both lists as one object each, so that a line is compared with the one of the same name.
fn differing(expected: &[Line], made: &[Line]) -> String {
    let object = |lines: &[Line], others: &[Line]| {
        let changed = lines.iter().filter(|line| !others.contains(line));
        let named = changed.filter_map(|line| {
            let (name, version, made) = named(line)?;
            Some((format!("{name}, version {version}"), made.clone()))
        });
        Value::Object(named.collect())
    };
    difference::between(&object(expected, made), &object(made, expected))
}

/// A state that changed under an unchanged version is what nobody would rebuild.
fn advice(expected: &[Line], made: &[Line]) -> String {
    if expected.is_empty() {
        return "it holds events alone".to_owned();
    }
    let before: BTreeMap<_, _> = expected
        .iter()
        .filter_map(named)
        .map(|(name, version, state)| ((name, version), state))
        .collect();
    let silent = made.iter().filter_map(named).find_map(|(name, version, state)| {
        let key = (name, version);
        before.get(&key).is_some_and(|old| *old != state).then_some(key)
    });
    silent.map_or_else(String::new, |(name, version)| {
        format!("{name} is another one although its VERSION is {version} as before: raise it, or stored rows stay as they are")
    })
}

/// A line as it stands in a file, its fields in their order.
fn text(line: &Line) -> String {
    match serde_json::to_string(line) {
        Ok(text) => text + "\n",
        Err(error) => panic!("a line is nothing that JSON can hold: {error}"),
    }
}

#[track_caller]
fn value<T: Serialize>(value: &T) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!(
            "{} is nothing that JSON can hold: {error}",
            std::any::type_name::<T>()
        ),
    }
}
