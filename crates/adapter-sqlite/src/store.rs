//! What all ports of one file share.
use crate::{SqliteSettings, connection, reader::Readers, writer::Writer};
use foldwright_ports::{Error, Kind};
use std::path::Path;
use tokio::sync::watch;

/// One open file.
pub(crate) struct Store {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    /// Moves whenever this process may have made work for the queue.
    pub(crate) woken: watch::Receiver<()>,
    pub(crate) settings: SqliteSettings,
}

impl Store {
    pub(crate) fn open(path: &Path, settings: SqliteSettings) -> Result<Self, Error> {
        settings.check()?;
        if path.as_os_str().is_empty() || path.as_os_str() == ":memory:" {
            return Err(Error::new(
                Kind::Invalid,
                "open",
                "a file is needed: a store in memory is the memory adapter's",
            ));
        }
        if path.is_dir() {
            let message = format!("{} is a directory: name a file in it", path.display());
            return Err(Error::new(Kind::Invalid, "open", message));
        }
        let db = connection::writer(path, &settings).map_err(|fault| fault.at("open"))?;
        let side = connection::reader(path, &settings).map_err(|fault| fault.at("open"))?;
        let readers = Readers::start(path, &settings)?;
        let (wake, woken) = watch::channel(());
        let writer = Writer::start(db, side, settings.clone(), wake)?;
        Ok(Self {
            writer,
            readers,
            woken,
            settings,
        })
    }

    pub(crate) async fn close(&self) -> Result<(), Error> {
        // Readers first: the writer's last checkpoint needs the file to itself.
        self.readers.close().await;
        self.writer.close().await
    }
}
