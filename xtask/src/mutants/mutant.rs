use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;

/// Where the mutants are listed, one file for each mechanism.
const MUTANTS: &str = "xtask/mutants";

/// A mechanism that a promise rests on, as one file lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mechanism {
    /// In the words of the table in the guarantees.
    mechanism: String,
    mutant: Vec<Mutant>,
}

/// One place where a mechanism is removed, and the test that has to notice.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutant {
    /// Unique over all files.
    pub(crate) name: String,
    /// Relative to the workspace root.
    pub(crate) file: String,
    /// A text that occurs once in that file.
    pub(crate) find: String,
    pub(crate) replace: String,
    /// The package whose tests are run.
    pub(crate) package: String,
    /// The whole name of the test in that package.
    pub(crate) killed_by: String,
    #[serde(skip)]
    pub(crate) mechanism: String,
    /// The file that lists it.
    #[serde(skip)]
    pub(crate) listed_in: String,
}

/// Why a mutant cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrences(pub(crate) usize);

impl Mutant {
    /// The text of its file without the mechanism.
    pub(crate) fn apply(&self, text: &str) -> Result<String, Occurrences> {
        match text.matches(&self.find).count() {
            1 => Ok(text.replacen(&self.find, &self.replace, 1)),
            count => Err(Occurrences(count)),
        }
    }
}

/// Every mutant, by the name of its file.
pub(crate) fn load(root: &Path) -> Result<Vec<Mutant>, Error> {
    let directory = root.join(MUTANTS);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&directory).map_err(Error::file(&directory))? {
        paths.push(entry.map_err(Error::file(&directory))?.path());
    }
    paths.sort();
    let mut mutants = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let listed_in = format!("{MUTANTS}/{name}");
        mutants.extend(parse(&listed_in, &text).map_err(|source| Error::Manifest {
            path: path.clone(),
            source: Box::new(source),
        })?);
    }
    Ok(mutants)
}

fn parse(listed_in: &str, text: &str) -> Result<Vec<Mutant>, toml::de::Error> {
    let Mechanism { mechanism, mutant } = toml::from_str(text)?;
    Ok(mutant
        .into_iter()
        .map(|one| Mutant {
            mechanism: mechanism.clone(),
            listed_in: listed_in.to_owned(),
            ..one
        })
        .collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn mutant(find: &str, replace: &str) -> Mutant {
        Mutant {
            name: "no-fence".to_owned(),
            file: "src/lib.rs".to_owned(),
            find: find.to_owned(),
            replace: replace.to_owned(),
            package: "a".to_owned(),
            killed_by: "late::a_late_write_is_lost".to_owned(),
            mechanism: "fencing".to_owned(),
            listed_in: "xtask/mutants/fencing.toml".to_owned(),
        }
    }

    #[test]
    fn a_mutant_replaces_the_one_place() {
        let one = mutant("a < b", "true");
        assert_eq!(one.apply("if a < b { }"), Ok("if true { }".to_owned()));
        assert_eq!(one.apply("if a > b { }"), Err(Occurrences(0)));
        assert_eq!(one.apply("a < b && a < b"), Err(Occurrences(2)));
    }

    #[test]
    fn a_file_lists_the_mutants_of_one_mechanism() {
        let text = "mechanism = \"fencing\"\n[[mutant]]\nname = \"no-fence\"\nfile = \"src/lib.rs\"\n\
                    find = '''\na < b'''\nreplace = 'true'\npackage = \"a\"\n\
                    killed_by = \"late::a_late_write_is_lost\"\n";
        assert_eq!(
            parse("xtask/mutants/fencing.toml", text).unwrap(),
            [mutant("a < b", "true")]
        );
        assert!(parse("x", "mechanism = \"fencing\"\nmutants = []\n").is_err());
    }
}
