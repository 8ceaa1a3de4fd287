//! The operator's access.
use crate::{context::Context, retention::KeepsBase};
use foldwright_domain::{SecurityError, TenantId};
use foldwright_ports::{Error, Kind, Result};
use std::sync::Arc;

/// What a person does to a running service: looking into the queue and mending it, rebuilding jobs from the log, and
/// letting old events go. Cheap to clone; works in every role.
///
/// [`of`](Self::of) narrows it to one tenant: then a call that names, or an answer that holds, anything of another tenant
/// is an error of [`Kind::Security`](foldwright_ports::Kind), and so is a call about all tenants.
///
/// The verbs of the queue are those of [`QueueAdmin`](foldwright_ports::QueueAdmin), whose contract they keep: looking
/// changes nothing, a verb on something unknown says so, all may be repeated, lists and bulk verbs go page by page.
#[derive(Clone)]
pub struct Operator {
    pub(super) ctx: Arc<Context>,
    pub(super) bases: Arc<[Arc<dyn KeepsBase>]>,
    tenant: Option<TenantId>,
}

impl Operator {
    pub(super) fn new(ctx: Arc<Context>, bases: Arc<[Arc<dyn KeepsBase>]>) -> Self {
        Self {
            ctx,
            bases,
            tenant: None,
        }
    }

    /// The same for one tenant alone. Narrowing it again to another tenant leaves it where it is, so that a handle never
    /// grows.
    #[must_use]
    pub fn of(&self, tenant: &TenantId) -> Self {
        Self {
            tenant: Some(self.tenant.clone().unwrap_or_else(|| tenant.clone())),
            ..self.clone()
        }
    }

    /// The tenant it is narrowed to.
    #[must_use]
    pub fn tenant_id(&self) -> Option<&TenantId> {
        self.tenant.as_ref()
    }

    /// For calls about all tenants.
    pub(super) fn whole(&self, operation: &'static str) -> Result<()> {
        match &self.tenant {
            None => Ok(()),
            Some(tenant) => {
                let advice = format!("this is about all tenants, the handle about {tenant} alone");
                Err(Error::new(Kind::Security, operation, advice))
            }
        }
    }

    /// For calls about something of this tenant.
    pub(super) fn own(&self, tenant: &TenantId) -> Result<()> {
        match &self.tenant {
            Some(own) if own != tenant => Err(SecurityError::ForeignTenant { what: "operator" }.into()),
            _ => Ok(()),
        }
    }

    /// The tenant to ask about where the caller may leave it open.
    pub(super) fn narrowed<'a>(&'a self, tenant: Option<&'a TenantId>) -> Result<Option<&'a TenantId>> {
        if let Some(tenant) = tenant {
            self.own(tenant)?;
        }
        Ok(tenant.or(self.tenant.as_ref()))
    }

    /// Rows that a store answered for this tenant are this tenant's.
    pub(super) fn all_own<'a>(&self, tenants: impl IntoIterator<Item = &'a TenantId>) -> Result<()> {
        tenants.into_iter().try_for_each(|tenant| self.own(tenant))
    }
}

impl std::fmt::Debug for Operator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operator")
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}
