//! A declared command.
use super::{Installed, Installer, LaneKind, Part};
use crate::{handlers::CommandHandler, kernel::DescribedCommand};
use foldwright_domain::{Aggregate, Command};
use std::{marker::PhantomData, sync::Arc};

pub(super) struct CommandPart<C>(pub(super) PhantomData<fn() -> C>);

impl<C: Command> Part for CommandPart<C> {
    fn kind(&self) -> &'static str {
        "command"
    }

    fn name(&self) -> &'static str {
        C::NAME
    }

    fn install(self: Box<Self>, pipeline: &'static str, installer: &mut Installer) {
        if let Some(route) = installer.route(&[pipeline, self.kind(), C::NAME]) {
            installer.commands.insert(C::NAME, route.clone());
            installer.describe(pipeline).commands.push(DescribedCommand {
                name: C::NAME.to_owned(),
                route: route.to_string(),
                aggregate: <C::Of as Aggregate>::TYPE.as_str().to_owned(),
            });
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
}
