use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::error::Error;

/// The addresses of the services that `up` started, kept as `NAME=value` lines in the file `env`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    urls: BTreeMap<String, String>,
}

const FILE: &str = "env";

impl State {
    /// What was saved in `directory`, or nothing.
    pub(crate) fn load(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Error::file(&path)(error)),
        }
    }

    pub(crate) fn save(&self, directory: &Path) -> Result<(), Error> {
        fs::create_dir_all(directory).map_err(Error::file(directory))?;
        let text: String = self
            .urls
            .iter()
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect();
        let path = directory.join(FILE);
        fs::write(&path, text).map_err(Error::file(&path))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.urls.get(name).map(String::as_str)
    }

    pub(crate) fn set(&mut self, name: &str, value: String) {
        self.urls.insert(name.to_owned(), value);
    }

    fn parse(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Self {
            urls: pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("new");
        assert_eq!(State::load(&directory).unwrap(), State::default());
        let mut state = State::default();
        state.set("A_URL", "a://user:p=w@host".to_owned());
        state.set("B_URL", "b://".to_owned());
        state.save(&directory).unwrap();
        assert_eq!(State::load(&directory).unwrap(), state);
    }
}
