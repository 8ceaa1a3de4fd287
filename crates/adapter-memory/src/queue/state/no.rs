//! Short names for rows, so that indexes stay small and strings are compared once per call.
use crate::keyed::Keyed;
use std::{cmp::Ordering, fmt, hash::Hash, marker::PhantomData};

/// The number of a row of type `T`.
pub(super) struct No<T>(u32, PhantomData<fn() -> T>);

impl<T> No<T> {
    /// Above every other.
    pub(super) const LAST: Self = Self(u32::MAX, PhantomData);

    pub(super) fn of(index: usize) -> Self {
        // Four thousand million rows do not fit into memory.
        Self(u32::try_from(index).unwrap_or(u32::MAX), PhantomData)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl<T> Clone for No<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for No<T> {}
impl<T> PartialEq for No<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Eq for No<T> {}
impl<T> PartialOrd for No<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for No<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<T> Hash for No<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<T> fmt::Debug for No<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Rows by number; numbers of removed rows are used again.
pub(super) struct Slab<T> {
    rows: Vec<Option<T>>,
    free: Vec<No<T>>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, row: T) -> No<T> {
        let free = self.free.pop();
        match free.and_then(|no| Some((no, self.rows.get_mut(no.index())?))) {
            Some((no, slot)) => {
                *slot = Some(row);
                no
            }
            None => {
                self.rows.push(Some(row));
                No::of(self.rows.len() - 1)
            }
        }
    }

    pub(super) fn get(&self, no: No<T>) -> Option<&T> {
        self.rows.get(no.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, no: No<T>) -> Option<&mut T> {
        self.rows.get_mut(no.index())?.as_mut()
    }

    pub(super) fn remove(&mut self, no: No<T>) -> Option<T> {
        let row = self.rows.get_mut(no.index())?.take()?;
        self.free.push(no);
        Some(row)
    }

    /// The rows behind a number, or all of them, by number. A row keeps its number for as long as it is there.
    pub(super) fn behind(&self, from: Option<No<T>>) -> impl Iterator<Item = (No<T>, &T)> {
        let skip = from.map_or(0, |no| no.index() + 1);
        let rows = self.rows.iter().enumerate().skip(skip);
        rows.filter_map(|(index, row)| Some((No::of(index), row.as_ref()?)))
    }

    /// The numbers of all rows, ascending.
    pub(super) fn numbers(&self) -> Vec<No<T>> {
        let taken = self.rows.iter().enumerate().filter(|(_, row)| row.is_some());
        taken.map(|(index, _)| No::of(index)).collect()
    }
}

/// Names that are numbered when they are first seen and kept from then on: there are few of them.
pub(super) struct Names<T> {
    numbers: Keyed<T, No<T>>,
    names: Vec<T>,
}

impl<T> Default for Names<T> {
    fn default() -> Self {
        Self {
            numbers: Keyed::default(),
            names: Vec::new(),
        }
    }
}

impl<T: Hash + Eq + Clone> Names<T> {
    pub(super) fn number(&self, name: &T) -> Option<No<T>> {
        self.numbers.get(name).copied()
    }

    pub(super) fn number_or_add(&mut self, name: &T) -> No<T> {
        if let Some(no) = self.number(name) {
            return no;
        }
        let no = No::of(self.names.len());
        self.names.push(name.clone());
        self.numbers.insert(name.clone(), no);
        no
    }

    pub(super) fn name(&self, no: No<T>) -> Option<&T> {
        self.names.get(no.index())
    }

    /// All names in the order of their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (No<T>, &T)> {
        self.names
            .iter()
            .enumerate()
            .map(|(index, name)| (No::of(index), name))
    }
}
