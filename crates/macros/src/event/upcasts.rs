//! The `#[upcast(…)]` attributes of a variant.
use crate::{
    attrs,
    chain::{self, Fault, Step},
    rules, shape,
};
use syn::{Attribute, Error, LitStr, Path, Result};

/// The ways to the current version, oldest first.
pub(crate) type Upcasts = Vec<Upcast>;

/// An older version and the functions that make it current, in their order.
pub(crate) struct Upcast {
    pub(crate) from: String,
    pub(crate) through: Vec<Path>,
}

struct Declared {
    from: LitStr,
    to: LitStr,
    with: Path,
    versions: (String, String),
}

pub(crate) fn read(attrs: &[Attribute], current: &str) -> Result<Upcasts> {
    let upcasts = attrs.iter().filter(|attr| attr.path().is_ident("upcast"));
    let declared = shape::all(upcasts.map(Declared::read))?;
    let steps: Vec<_> = declared
        .iter()
        .map(|upcast| Step {
            from: &upcast.versions.0,
            to: &upcast.versions.1,
        })
        .collect();
    let routes = match chain::routes(current, &steps) {
        Ok(routes) => routes,
        Err(faults) => {
            let errors = faults
                .iter()
                .filter_map(|(at, fault)| Some(declared.get(*at)?.error(*fault, current)));
            return shape::all(errors.map(Err));
        }
    };
    let through = |steps: &[usize]| {
        steps
            .iter()
            .filter_map(|at| declared.get(*at))
            .map(|upcast| upcast.with.clone())
            .collect()
    };
    Ok(routes
        .iter()
        .map(|route| Upcast {
            from: route.from.to_owned(),
            through: through(&route.steps),
        })
        .collect())
}

impl Declared {
    fn read(attr: &Attribute) -> Result<Self> {
        let (mut from, mut to, mut with) = (None, None, None);
        attrs::one(attr, |key, meta| match key {
            "from" => attrs::set(&mut from, meta),
            "to" => attrs::set(&mut to, meta),
            "with" => attrs::set(&mut with, meta),
            _ => Err(attrs::unknown(meta, "`from`, `to` or `with`")),
        })?;
        let missing = |what| Error::new_spanned(attr, format!("missing {what}"));
        let from: LitStr = from.ok_or_else(|| missing("`from = \"YYYY-MM-DD\"`"))?;
        let to: LitStr = to.ok_or_else(|| missing("`to = \"YYYY-MM-DD\"`"))?;
        let with = with.ok_or_else(|| missing("`with = function`"))?;
        let versions = (rules::version(&from)?, rules::version(&to)?);
        Ok(Self {
            from,
            to,
            with,
            versions,
        })
    }

    fn error(&self, fault: Fault, current: &str) -> Error {
        let (from, to) = &self.versions;
        match fault {
            Fault::Fork => Error::new_spanned(
                &self.from,
                format!("two upcasts lead from {from}: there is one way to the current version, keep one"),
            ),
            Fault::Backwards => Error::new_spanned(
                &self.from,
                format!("an upcast leads to a later version: {from} is not before {to}"),
            ),
            Fault::Cycle => Error::new_spanned(
                &self.to,
                format!("upcasts lead in a circle, from {to} back to {to}: each leads to a later version"),
            ),
            Fault::FromCurrent => Error::new_spanned(
                &self.from,
                format!("{from} is the current version: upcasts lead to it and not from it"),
            ),
            Fault::Hole => Error::new_spanned(
                &self.to,
                format!(
                    "the chain has a hole: {to} is not the current version {current}, and no upcast leads from it"
                ),
            ),
        }
    }
}
