//! Tables that are read by key alone.
use crate::hasher::FoldHasher;
use std::{
    borrow::Borrow,
    collections::HashMap, // order is not observed
    fmt,
    hash::{BuildHasherDefault, Hash},
};

/// A hash table that cannot be walked through, so that its order cannot be observed. Its hash has a fixed key: the
/// same run allocates the same way.
pub(crate) struct Keyed<K, V>(HashMap<K, V, BuildHasherDefault<FoldHasher>>); // order is not observed

impl<K, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Self(HashMap::default()) // order is not observed
    }
}

impl<K: Hash + Eq, V> Keyed<K, V> {
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    pub(crate) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.0.get_mut(key)
    }

    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.0.entry(key).or_default()
    }

    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.0.insert(key, value)
    }

    pub(crate) fn remove<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.remove(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K, V> fmt::Debug for Keyed<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyed").finish_non_exhaustive()
    }
}
