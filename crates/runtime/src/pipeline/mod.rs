//! What a service is made of: names and rules, no adapter. A definition opens nothing and cannot send.
mod command_part;
mod faults;
mod fold_part;
mod global;
mod installer;
mod map_part;
mod part;
mod pipeline;
mod projection;

pub use faults::Faults;
pub use global::Global;
pub(crate) use installer::{Installed, Installer, LaneKind, Switches, Tables};
pub(crate) use part::Part;
pub use pipeline::Pipeline;
pub use projection::Projection;
