//! What a service is made of: names and rules, no adapter. A definition opens nothing and cannot send.
mod command_part;
mod decider_part;
mod faults;
mod fold_part;
mod global;
mod installer;
mod map_part;
mod part;
mod pipeline;
mod projection;
mod registered;

pub use faults::Faults;
pub use global::Global;
pub(crate) use installer::{Installed, InstalledFold, Installer, LaneKind, Switches, Tables};
pub(crate) use part::Part;
pub use pipeline::Pipeline;
pub use projection::Projection;
pub(crate) use registered::Registered;
