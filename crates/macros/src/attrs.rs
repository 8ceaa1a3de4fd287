//! Reading `#[name(key = value, …)]`: each key at most once, no key that nobody reads.
use syn::{Attribute, Error, Path, Result, meta::ParseNestedMeta, parse::Parse, parse_quote};

/// Hands every key of the attributes called `name` to `read`.
pub(crate) fn each(
    attrs: &[Attribute],
    name: &str,
    mut read: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        one(attr, &mut read)?;
    }
    Ok(())
}

/// Hands every key of one attribute to `read`.
pub(crate) fn one(
    attr: &Attribute,
    mut read: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    attr.parse_nested_meta(|meta| {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        read(&key, &meta)
    })
}

/// Reads the value of a key that may be given once.
pub(crate) fn set<T: Parse>(slot: &mut Option<T>, meta: &ParseNestedMeta<'_>) -> Result<()> {
    let value = meta.value()?.parse()?;
    if slot.replace(value).is_some() {
        return Err(Error::new_spanned(
            &meta.path,
            "this key is given twice: keep one",
        ));
    }
    Ok(())
}

/// The error for a key that is none of `known`.
pub(crate) fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> Error {
    Error::new_spanned(&meta.path, format!("unknown key: expected {known}"))
}

/// Refuses attributes in a place where a derive would not read them.
pub(crate) fn refuse(attrs: &[Attribute], names: &[&str], place: &str) -> Result<()> {
    match attrs
        .iter()
        .find(|attr| names.iter().any(|name| attr.path().is_ident(name)))
    {
        Some(attr) => Err(Error::new_spanned(
            attr,
            format!("this attribute has no place on {place}"),
        )),
        None => Ok(()),
    }
}

/// Where generated code finds the domain: what `crate = …` says, else the facade.
pub(crate) fn domain(given: Option<Path>) -> Path {
    given.unwrap_or_else(|| parse_quote!(::foldwright::domain))
}
