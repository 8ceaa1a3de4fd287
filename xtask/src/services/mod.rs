//! The engines that tests run against. The embedded adapters need none.

mod registry;
mod state;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use self::registry::Service;
use self::state::State;
use crate::error::Error;
use crate::workspace::Workspace;

/// Start, stop and show the engines that tests run against
#[derive(clap::Args)]
pub(crate) struct Services {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Copy, clap::Subcommand)]
enum Action {
    /// Start every service whose address the environment does not give, and write down the addresses
    Up,
    /// Stop every service that `up` started
    Down,
    /// Show each service, its address and whether it answers
    Status,
    /// Print the addresses as lines for a shell: `eval "$(cargo xtask services env)"`
    Env,
}

/// Where state and data of the services lie; git ignores it.
const DIRECTORY: &str = ".services";

impl Services {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<ExitCode, Error> {
        let services = registry::all();
        let directory = workspace.root().join(DIRECTORY);
        let state = State::load(&directory)?;
        match self.action {
            Action::Up => up(&services, &directory, state)?,
            Action::Down => down(&services, &directory, &state)?,
            Action::Status => print!("{}", status(&services, &state, from_environment)),
            Action::Env => print!("{}", exports(&services, &state, from_environment)),
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn from_environment(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn up(services: &[Box<dyn Service>], directory: &Path, mut state: State) -> Result<(), Error> {
    if services.is_empty() {
        println!("services: none needed, the embedded adapters run inside the tests");
    }
    for service in services {
        let given = from_environment(service.url_variable());
        let started = state
            .get(service.url_variable())
            .filter(|url| service.probe(url).is_ok());
        if given.is_none() && started.is_none() {
            let url = service.start(directory)?;
            service.probe(&url)?;
            state.set(service.url_variable(), url);
        }
        println!("services: {} is up", service.name());
    }
    state.save(directory)
}

fn down(services: &[Box<dyn Service>], directory: &Path, state: &State) -> Result<(), Error> {
    for service in services
        .iter()
        .filter(|service| state.get(service.url_variable()).is_some())
    {
        service.stop(directory)?;
        println!("services: {} is down", service.name());
    }
    State::default().save(directory)
}

/// An address in the environment wins over one that `up` wrote down.
fn url_of(service: &dyn Service, state: &State, given: fn(&str) -> Option<String>) -> Option<String> {
    given(service.url_variable()).or_else(|| state.get(service.url_variable()).map(str::to_owned))
}

fn status(services: &[Box<dyn Service>], state: &State, given: fn(&str) -> Option<String>) -> String {
    let mut table = format!("{:<12} {:<28} {:<8} URL\n", "SERVICE", "VARIABLE", "STATE");
    for service in services {
        let url = url_of(service.as_ref(), state, given);
        let answers = url.as_deref().is_some_and(|url| service.probe(url).is_ok());
        let (name, variable) = (service.name(), service.url_variable());
        let (up, url) = (if answers { "up" } else { "down" }, url.as_deref().unwrap_or("-"));
        table.push_str(&format!("{name:<12} {variable:<28} {up:<8} {url}\n"));
    }
    table
}

fn exports(services: &[Box<dyn Service>], state: &State, given: fn(&str) -> Option<String>) -> String {
    let urls = services.iter().filter_map(|service| {
        let url = url_of(service.as_ref(), state, given)?;
        Some(format!(
            "export {}={}\n",
            service.url_variable(),
            shell_quoted(&url)
        ))
    });
    urls.collect()
}

/// In single quotes a shell reads everything as it stands, but for the quote itself.
fn shell_quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fake;

    impl Service for Fake {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn url_variable(&self) -> &'static str {
            "FOLDWRIGHT_XTASK_FAKE_URL"
        }

        fn start(&self, directory: &Path) -> Result<String, Error> {
            Ok(format!(
                "fake://{}",
                directory.file_name().unwrap().to_string_lossy()
            ))
        }

        fn stop(&self, _: &Path) -> Result<(), Error> {
            Ok(())
        }

        fn probe(&self, url: &str) -> Result<(), Error> {
            if url.starts_with("fake://") {
                Ok(())
            } else {
                Err(Error::Command {
                    command: "probe".to_owned(),
                    detail: "no answer".to_owned(),
                })
            }
        }
    }

    fn nothing_given(_: &str) -> Option<String> {
        None
    }

    fn given(_: &str) -> Option<String> {
        Some("other://it's".to_owned())
    }

    #[test]
    fn up_writes_what_env_and_status_show_until_down() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join(DIRECTORY);
        let services: Vec<Box<dyn Service>> = vec![Box::new(Fake)];

        up(&services, &directory, State::load(&directory).unwrap()).unwrap();
        let state = State::load(&directory).unwrap();
        assert_eq!(
            exports(&services, &state, nothing_given),
            "export FOLDWRIGHT_XTASK_FAKE_URL='fake://.services'\n"
        );
        assert!(status(&services, &state, nothing_given).contains(" up "));

        down(&services, &directory, &state).unwrap();
        let state = State::load(&directory).unwrap();
        assert_eq!(exports(&services, &state, nothing_given), "");
        assert!(status(&services, &state, nothing_given).contains(" down "));
    }

    #[test]
    fn the_environment_wins_and_is_quoted() {
        let services: Vec<Box<dyn Service>> = vec![Box::new(Fake)];
        let mut state = State::default();
        state.set("FOLDWRIGHT_XTASK_FAKE_URL", "fake://x".to_owned());
        assert_eq!(
            exports(&services, &state, given),
            "export FOLDWRIGHT_XTASK_FAKE_URL='other://it'\\''s'\n"
        );
        assert!(status(&services, &state, given).contains(" down "));
    }

    #[test]
    fn without_services_the_state_is_written_all_the_same() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join(DIRECTORY);
        up(&[], &directory, State::default()).unwrap();
        assert!(directory.join("env").exists());
        assert_eq!(exports(&[], &State::load(&directory).unwrap(), given), "");
    }
}
