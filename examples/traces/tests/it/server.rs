//! Servers under test: in this process, and as a process of its own.
use crate::{command::Traces, http::get};
use foldwright_traces::{
    serve::{Server, Settings, Stopped},
    store::Store,
};
use metrics_exporter_prometheus::PrometheusBuilder;
use std::{
    io::{BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};
use tokio::{runtime::Runtime, sync::oneshot, task::JoinHandle};

/// A server in this process, with a store of its own.
pub(crate) struct InProcess {
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Stopped>,
    runtime: Runtime,
    _dir: tempfile::TempDir,
}

impl InProcess {
    pub(crate) fn start(settings: Settings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runtime = Runtime::new().unwrap();
        let store = Store::open(&dir.path().join("traces.db")).unwrap();
        let settings = Settings {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            ..settings
        };
        assert_eq!(settings.faults(), Vec::<String>::new());
        let server = runtime.block_on(async {
            let kernel = store.start().await.unwrap();
            let metrics = PrometheusBuilder::new().build_recorder().handle();
            Server::bind(settings, kernel, store.clock(), metrics)
                .await
                .unwrap()
        });
        let address = server.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving = runtime.spawn(server.run(async {
            stopped.await.unwrap();
        }));
        Self {
            address,
            store,
            stop,
            serving,
            runtime,
            _dir: dir,
        }
    }

    /// Closes the store under the running server.
    pub(crate) fn close_store(&self) {
        self.runtime.block_on(self.store.sqlite().close()).unwrap();
    }

    /// Stops it; answers how many connections had to be cut off.
    pub(crate) fn stop(self) -> usize {
        self.stop.send(()).unwrap();
        self.runtime.block_on(async {
            let stopped = self.serving.await.unwrap();
            stopped.kernel.expect("nobody else holds it").close().await;
            self.store.close().await.unwrap();
            stopped.cut_off
        })
    }
}

/// A server as a process of its own.
pub(crate) struct Process {
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Process {
    /// Starts it on a free port, or on the one that an earlier one had.
    pub(crate) fn start(traces: &Traces, address: Option<SocketAddr>, args: &[&str]) -> Self {
        let listen = address.map_or_else(|| "127.0.0.1:0".to_owned(), |address| address.to_string());
        let mut child = traces
            .command(&[&["serve", "--listen", &listen], args].concat())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .unwrap_or_else(|| panic!("it did not start: {line:?}"))
            .parse()
            .unwrap();
        Self { address, child }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn terminate(&self) {
        terminate(&self.child);
    }

    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Asks it to stop and waits until it has.
    pub(crate) fn stop(self) {
        self.terminate();
        let status = self.wait();
        assert!(status.success(), "{status}");
    }

    /// One metric's value, if it is there.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        let text = get(self.address, "/metrics").text();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        Some(line.parse().unwrap())
    }

    /// Waits until every command, fold and map has run.
    pub(crate) fn caught_up(&self) {
        until(|| self.metric("traces_backlog_open") == Some(0.0));
    }
}

/// Asks a process to stop.
pub(crate) fn terminate(child: &Child) {
    let pid = child.id().to_string();
    let told = Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(told.success());
}

/// Looks again and again until it is so.
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        pause();
    }
}

/// Lets others run.
pub(crate) fn pause() {
    std::thread::park_timeout(Duration::from_millis(5));
}
