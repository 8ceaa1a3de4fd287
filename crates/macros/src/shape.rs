//! The shape that all derives ask for: a plain enum of one-field tuple variants.
use crate::attrs;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Result, Type, Variant};

/// One variant and the type in it.
pub(crate) struct Arm<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) data: &'a Type,
    pub(crate) attrs: &'a [Attribute],
}

/// The variants of `input`, or every reason why it has another shape.
///
/// `helpers` are the derive's attributes, which nobody would read on a field.
pub(crate) fn arms<'a>(input: &'a DeriveInput, helpers: &[&str]) -> Result<Vec<Arm<'a>>> {
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(
            &input.ident,
            "events are an enum: one variant for each",
        ));
    };
    if !input.generics.params.is_empty() || input.generics.where_clause.is_some() {
        return Err(Error::new_spanned(
            &input.generics,
            "an enum of events takes no generics",
        ));
    }
    if data.variants.is_empty() {
        return Err(Error::new_spanned(
            &input.ident,
            "an enum of events has at least one variant",
        ));
    }
    all(data.variants.iter().map(|variant| arm(variant, helpers)))
}

fn arm<'a>(variant: &'a Variant, helpers: &[&str]) -> Result<Arm<'a>> {
    let single = match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first(),
        Fields::Unnamed(_) | Fields::Named(_) | Fields::Unit => None,
    };
    let Some(field) = single else {
        let name = &variant.ident;
        return Err(Error::new_spanned(
            variant_body(variant),
            format!("a variant holds one type, as in `{name}({name})`: give it a struct"),
        ));
    };
    attrs::refuse(&field.attrs, helpers, "a field")?;
    Ok(Arm {
        ident: &variant.ident,
        data: &field.ty,
        attrs: &variant.attrs,
    })
}

/// The variant without its attributes, so that the error points at what is wrong.
fn variant_body(variant: &Variant) -> proc_macro2::TokenStream {
    let (ident, fields) = (&variant.ident, &variant.fields);
    quote::quote!(#ident #fields)
}

/// All results, or all errors at once.
pub(crate) fn all<T>(results: impl Iterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut good = Vec::new();
    let mut bad: Option<Error> = None;
    for result in results {
        match (result, &mut bad) {
            (Ok(value), _) => good.push(value),
            (Err(error), Some(first)) => first.combine(error),
            (Err(error), none) => *none = Some(error),
        }
    }
    bad.map_or(Ok(good), Err)
}
