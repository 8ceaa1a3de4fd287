//! What the attributes of an event enum say, checked.
use super::upcasts::{self, Upcasts};
use crate::{
    attrs, constant, rules,
    shape::{self, Arm},
};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{DeriveInput, Error, Ident, LitStr, Path, Result, Type, Visibility};

const HELPERS: [&str; 2] = ["event", "upcast"];

/// An enum with its aggregate and its variants.
pub(crate) struct EventEnum {
    pub(crate) domain: Path,
    pub(crate) visibility: Visibility,
    pub(crate) ident: Ident,
    pub(crate) aggregate: Path,
    pub(crate) prefix: LitStr,
    pub(crate) variants: Vec<EventVariant>,
}

/// One event: its names, its data and the versions before.
pub(crate) struct EventVariant {
    pub(crate) ident: Ident,
    pub(crate) data: Type,
    pub(crate) constant: Ident,
    pub(crate) name: LitStr,
    pub(crate) event_type: String,
    pub(crate) version: String,
    pub(crate) upcasts: Upcasts,
    pub(crate) lean: Option<Path>,
}

impl EventEnum {
    pub(crate) fn read(input: &DeriveInput) -> Result<Self> {
        let arms = shape::arms(input, &HELPERS)?;
        attrs::refuse(&input.attrs, &["upcast"], "an enum: put it on a variant")?;
        let (mut aggregate, mut prefix, mut domain) = (None, None, None);
        attrs::each(&input.attrs, "event", |key, meta| match key {
            "aggregate" => attrs::set(&mut aggregate, meta),
            "prefix" => attrs::set(&mut prefix, meta),
            "crate" => attrs::set(&mut domain, meta),
            _ => Err(attrs::unknown(meta, "`aggregate`, `prefix` or `crate`")),
        })?;
        let missing = |what| Error::new_spanned(&input.ident, format!("missing {what}"));
        let aggregate = aggregate.ok_or_else(|| missing("`#[event(aggregate = …)]`"))?;
        let prefix: LitStr =
            prefix.ok_or_else(|| missing("`#[event(prefix = \"<source>.<domain>.<aggregate>\")]`"))?;
        let checked = rules::prefix(&prefix)?;
        let variants = shape::all(arms.iter().map(|arm| EventVariant::read(arm, &checked)))?;
        refuse_repetitions(&variants)?;
        Ok(Self {
            domain: attrs::domain(domain),
            visibility: input.vis.clone(),
            ident: input.ident.clone(),
            aggregate,
            prefix,
            variants,
        })
    }
}

impl EventVariant {
    fn read(arm: &Arm<'_>, prefix: &str) -> Result<Self> {
        let (mut name, mut version, mut lean) = (None, None, None);
        attrs::each(arm.attrs, "event", |key, meta| match key {
            "name" => attrs::set(&mut name, meta),
            "version" => attrs::set(&mut version, meta),
            "lean" => attrs::set(&mut lean, meta),
            _ => Err(attrs::unknown(meta, "`name`, `version` or `lean`")),
        })?;
        let missing = |what| Error::new_spanned(arm.ident, format!("missing {what}"));
        let name: LitStr = name.ok_or_else(|| missing("`#[event(name = \"…\")]`"))?;
        let version: LitStr = version.ok_or_else(|| missing("`#[event(version = \"YYYY-MM-DD\")]`"))?;
        let event_type = rules::event_type(prefix, &name)?;
        let version = rules::version(&version)?;
        Ok(Self {
            ident: arm.ident.clone(),
            data: arm.data.clone(),
            constant: constant::of_variant(arm.ident),
            name,
            event_type,
            upcasts: upcasts::read(arm.attrs, &version)?,
            version,
            lean,
        })
    }
}

/// What would otherwise be found late, in generated code, or never.
fn refuse_repetitions(variants: &[EventVariant]) -> Result<()> {
    let (mut types, mut data, mut constants) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let names: BTreeSet<_> = variants.iter().map(|variant| variant.ident.to_string()).collect();
    shape::all(variants.iter().map(|variant| {
        let constant = variant.constant.to_string();
        if !types.insert(variant.event_type.as_str()) {
            Err(Error::new_spanned(
                &variant.name,
                "another variant has this name: a name is given once",
            ))
        } else if !data.insert(variant.data.to_token_stream().to_string()) {
            Err(Error::new_spanned(
                &variant.data,
                "another variant holds this type, so it does not say which event it is: wrap it in a newtype",
            ))
        } else if names.contains(&constant) || !constants.insert(constant.clone()) {
            Err(Error::new_spanned(
                &variant.ident,
                format!("its descriptor would be called `{constant}`, which is taken: rename a variant"),
            ))
        } else {
            Ok(())
        }
    }))
    .map(|_| ())
}
