//! `derive(Union)`: events of several aggregates.
use crate::{
    attrs,
    shape::{self, Arm},
};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::{DeriveInput, Error, Ident, Path, Result, spanned::Spanned};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let arms = shape::arms(input, &["union"])?;
    shape::all(
        arms.iter()
            .map(|arm| attrs::refuse(arm.attrs, &["union"], "a variant: put it on the enum")),
    )?;
    let mut domain = None;
    attrs::each(&input.attrs, "union", |key, meta| match key {
        "crate" => attrs::set(&mut domain, meta),
        _ => Err(attrs::unknown(meta, "`crate`")),
    })?;
    let domain = attrs::domain(domain);
    refuse_repetitions(&arms)?;

    let ident = &input.ident;
    let catalogs = arms.iter().map(|arm| catalog(arm, &domain));
    let reading = |function: &str| {
        let function = Ident::new(function, Span::mixed_site());
        let members = arms.iter().map(|arm| {
            let (variant, member) = (arm.ident, arm.data);
            quote_spanned! {Span::mixed_site()=>
                if <#member as #domain::EventSet>::reads(event_type) {
                    return <#member as #domain::EventSet>::#function(event_type, version, data).map(Self::#variant);
                }
            }
        });
        quote_spanned! {Span::mixed_site()=>
            fn #function(
                event_type: &str,
                version: &str,
                data: &[u8],
            ) -> ::core::result::Result<Self, #domain::DecodeError> {
                #(#members)*
                ::core::result::Result::Err(#domain::DecodeError::unknown(event_type, version))
            }
        }
    };
    let (decode, decode_lean) = (reading("decode"), reading("decode_lean"));
    let thinned = arms.iter().map(|arm| {
        let member = arm.data;
        quote_spanned! {Span::mixed_site()=>
            if <#member as #domain::EventSet>::reads(event_type) {
                return <#member as #domain::EventSet>::thinned(event_type, version, data);
            }
        }
    });
    let distinct = distinct(ident, &arms, &domain);
    Ok(quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #domain::EventSet for #ident {
            const CATALOG: &'static [&'static [#domain::Descriptor]] = &[#(#catalogs),*];

            #decode

            #decode_lean

            fn thinned(
                event_type: &str,
                version: &str,
                data: &[u8],
            ) -> ::core::option::Option<::std::vec::Vec<u8>> {
                #(#thinned)*
                ::core::option::Option::None
            }
        }

        #distinct
    })
}

/// A member's only list. A union as a member would lose all but its first.
fn catalog(arm: &Arm<'_>, domain: &Path) -> TokenStream {
    let member = arm.data;
    let name = quote!(#member).to_string().replace(' ', "");
    let message = format!("{name} is a union: list its members instead");
    quote_spanned! {member.span()=>
        match <#member as #domain::EventSet>::CATALOG {
            [only] => *only,
            _ => ::core::panic!(#message),
        }
    }
}

fn refuse_repetitions(arms: &[Arm<'_>]) -> Result<()> {
    let mut members = BTreeSet::new();
    shape::all(arms.iter().map(|arm| {
        if members.insert(arm.data.to_token_stream().to_string()) {
            Ok(())
        } else {
            Err(Error::new_spanned(
                arm.data,
                "another variant holds these events: a member is listed once",
            ))
        }
    }))
    .map(|_| ())
}

/// Asserts that no two members share an event type: `decode` would never reach the second.
///
/// Types are compared from their end, where they differ soonest.
fn distinct(union: &Ident, arms: &[Arm<'_>], domain: &Path) -> TokenStream {
    let list = |at: usize| format_ident!("list_{at}", span = Span::mixed_site());
    let lists = (0..arms.len()).map(list);
    let pairs = arms.iter().enumerate().flat_map(|(at, later)| {
        arms.iter()
            .take(at)
            .enumerate()
            .map(move |(before, earlier)| (before, earlier, at, later))
    });
    let assertions = pairs.map(|(before, earlier, at, later)| {
        let message = format!(
            "{union}::{} and {union}::{} share an event type",
            earlier.ident, later.ident
        );
        let (left, right) = (list(before), list(at));
        let overlap = format_ident!("overlap", span = Span::mixed_site());
        quote_spanned! {later.data.span()=>
            ::core::assert!(!#overlap(#left, #right), #message);
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #[allow(long_running_const_eval)]
        const _: () = {
            const fn same(left: &str, right: &str) -> bool {
                let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
                while let ([left_rest @ .., l], [right_rest @ .., r]) = (left, right) {
                    if *l != *r {
                        return false;
                    }
                    (left, right) = (left_rest, right_rest);
                }
                left.is_empty() && right.is_empty()
            }

            const fn overlap(mut left: &[#domain::Descriptor], right: &[#domain::Descriptor]) -> bool {
                while let [one, left_rest @ ..] = left {
                    let mut others = right;
                    while let [other, right_rest @ ..] = others {
                        if same(one.event_type, other.event_type) {
                            return true;
                        }
                        others = right_rest;
                    }
                    left = left_rest;
                }
                false
            }

            if let [#(#lists),*] = <#union as #domain::EventSet>::CATALOG {
                #(#assertions)*
            }
        };
    }
}
