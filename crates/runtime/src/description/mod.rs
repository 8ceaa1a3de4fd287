//! What was wired, for people and for programs.
mod description;
mod text;

pub(crate) use description::event_types;
pub use description::{
    DescribedCommand, DescribedEnvelope, DescribedFold, DescribedMap, DescribedPipeline, DescribedSubscriber,
    DescribedTable, Description,
};
