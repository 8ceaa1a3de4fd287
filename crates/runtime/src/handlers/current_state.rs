//! What a run sees where its own state is gone, or of a version that this build cannot read.
use super::Failure;
use crate::context::Context;
use async_trait::async_trait;
use foldwright_domain::{RawEvent, Recorded};

/// The state of a projection as it is now.
#[async_trait]
pub(crate) trait CurrentState<E, S>: Send + Sync + 'static {
    /// The stored state, where it says more than the one a run was staged with; `None` where the run's own is as good.
    async fn stored(&self, _raw: &RawEvent) -> Result<Option<S>, Failure> {
        Ok(None)
    }

    /// `None` where the projection holds nothing for this event any more, so that there is nothing to run with.
    async fn current(&self, event: &Recorded<E>, raw: &RawEvent, ctx: &Context)
    -> Result<Option<S>, Failure>;
}
