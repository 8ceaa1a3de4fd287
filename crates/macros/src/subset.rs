//! `derive(Subset)`: some events of one aggregate.
use crate::{attrs, constant, shape};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Error, Ident, Path, Result, spanned::Spanned};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let arms = shape::arms(input, &["subset"])?;
    shape::all(
        arms.iter()
            .map(|arm| attrs::refuse(arm.attrs, &["subset"], "a variant: put it on the enum")),
    )?;
    let (mut of, mut domain) = (None, None);
    attrs::each(&input.attrs, "subset", |key, meta| match key {
        "of" => attrs::set(&mut of, meta),
        "crate" => attrs::set(&mut domain, meta),
        _ => Err(attrs::unknown(meta, "`of` or `crate`")),
    })?;
    let domain = attrs::domain(domain);
    let parent: Path = of.ok_or_else(|| {
        Error::new_spanned(&input.ident, "missing `#[subset(of = …)]`: name the whole enum")
    })?;

    let ident = &input.ident;
    let descriptors = arms.iter().map(|arm| {
        let constant = constant::of_variant(arm.ident);
        quote!(<#parent>::#constant)
    });
    let moved = arms.iter().map(|arm| {
        let variant = arm.ident;
        let data = quote_spanned!(arm.data.span()=> data);
        quote! {
            #parent::#variant(#data) => ::core::result::Result::Ok(Self::#variant(#data)),
        }
    });
    let moved: Vec<_> = moved.collect();
    let reading = |function: &str| {
        let function = Ident::new(function, Span::mixed_site());
        quote_spanned! {Span::mixed_site()=>
            fn #function(
                event_type: &str,
                version: &str,
                data: &[u8],
            ) -> ::core::result::Result<Self, #domain::DecodeError> {
                let unknown = || #domain::DecodeError::unknown(event_type, version);
                if !<Self as #domain::EventSet>::reads(event_type) {
                    return ::core::result::Result::Err(unknown());
                }
                match <#parent as #domain::EventSet>::#function(event_type, version, data)? {
                    #(#moved)*
                    #[allow(unreachable_patterns)]
                    _ => ::core::result::Result::Err(unknown()),
                }
            }
        }
    };
    let (decode, decode_lean) = (reading("decode"), reading("decode_lean"));
    Ok(quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #domain::EventSet for #ident {
            const CATALOG: &'static [&'static [#domain::Descriptor]] = &[&[#(#descriptors),*]];

            #decode

            #decode_lean

            fn thinned(
                event_type: &str,
                version: &str,
                data: &[u8],
            ) -> ::core::option::Option<::std::vec::Vec<u8>> {
                <#parent as #domain::EventSet>::thinned(event_type, version, data)
            }
        }

        #[automatically_derived]
        impl<__A: ?Sized> #domain::EventsOf<__A> for #ident where #parent: #domain::EventsOf<__A> {}
    })
}
