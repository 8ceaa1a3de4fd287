//! A declared command.
use super::{Installed, Installer, Lane, Part};
use crate::handlers::CommandHandler;
use foldwright_domain::Command;
use std::{marker::PhantomData, sync::Arc};

pub(super) struct CommandPart<C>(pub(super) PhantomData<fn() -> C>);

impl<C: Command> Part for CommandPart<C> {
    fn kind(&self) -> &'static str {
        "command"
    }

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn install(self: Box<Self>, pipeline: &str, installer: &mut Installer) {
        if let Some(route) = installer.route(&[pipeline, self.kind(), C::NAME]) {
            installer.commands.insert(C::NAME, route.clone());
            let handler = Arc::new(CommandHandler::<C>::new());
            installer.add(
                route,
                Installed {
                    handler,
                    version: 0,
                    lane: Lane::Bulk,
                },
            );
        }
    }
}
