//! A declared command with a handler.
use super::{Installed, Installer, LaneKind, Part, Registered};
use crate::{
    fold::aggregate_group_key,
    handlers::{CommandHandler, DECIDE_PATH},
};
use foldwright_domain::{Aggregate, Handler, StreamKey};
use std::{marker::PhantomData, sync::Arc};

pub(super) struct CommandPart<C>(pub(super) PhantomData<fn() -> C>);

impl<C: Handler> Part for CommandPart<C> {
    fn kind(&self) -> &'static str {
        "command"
    }

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn install(self: Box<Self>, pipeline: &'static str, installer: &mut Installer) {
        let Some(route) = installer.route(&[pipeline, self.kind(), C::NAME]) else {
            return;
        };
        if route.path() == DECIDE_PATH {
            installer.faults.push(format!(
                "{route}: `{DECIDE_PATH}` is the path that all deciders share, give the command another name"
            ));
        }
        let path: Arc<str> = route.path().into();
        let group = move |stream: &StreamKey, payload: &C| (path.clone(), group_key(stream, payload));
        let registered = Registered::new(route.clone(), C::Of::TYPE.as_str(), group);
        installer.command(pipeline, C::NAME, registered, None);
        let handler = Arc::new(CommandHandler::<C>::new());
        installer.add(
            route,
            Installed {
                handler,
                version: 0,
                lane: LaneKind::Bulk,
                claimed: true,
            },
        );
    }
}

/// The key of the group that a command runs in.
fn group_key<C: Handler>(stream: &StreamKey, payload: &C) -> Arc<str> {
    match payload.group_key() {
        Some(key) => format!("{}:{key}", stream.aggregate_type).into(),
        None => aggregate_group_key(stream),
    }
}
