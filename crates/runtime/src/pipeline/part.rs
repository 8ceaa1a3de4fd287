//! One declared command or projection, with its types kept inside.
use super::Installer;

/// A command or projection of a definition.
pub(crate) trait Part: Send + 'static {
    /// `command`, `fold` or `map`.
    fn kind(&self) -> &'static str;
    /// Its name within its kind.
    fn name(&self) -> &'static str;
    /// Makes its handlers and tells the router what it reads.
    fn install(self: Box<Self>, pipeline: &'static str, installer: &mut Installer);
}
