//! The code that an event enum stands for.
use super::declaration::{EventEnum, EventVariant};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

pub(crate) fn expand(declared: &EventEnum) -> TokenStream {
    let parts = [
        descriptors(declared),
        event_set(declared),
        event(declared),
        membership(declared),
        froms(declared),
    ];
    parts.into_iter().collect()
}

/// A constant per variant, which `derive(Subset)` reads.
fn descriptors(declared: &EventEnum) -> TokenStream {
    let EventEnum {
        domain,
        visibility,
        ident,
        variants,
        ..
    } = declared;
    let constants = variants.iter().map(|variant| {
        let EventVariant {
            constant,
            event_type,
            version,
            upcasts,
            ..
        } = variant;
        let older = upcasts.iter().map(|upcast| &upcast.from);
        let doc = format!("Type and versions of [`{ident}::{}`].", variant.ident);
        quote! {
            #[doc = #doc]
            #visibility const #constant: #domain::Descriptor = #domain::Descriptor {
                event_type: #event_type,
                version: #version,
                upcast_from: &[#(#older),*],
            };
        }
    });
    quote! {
        #[automatically_derived]
        impl #ident { #(#constants)* }
    }
}

/// Local names are hygienic, so that an upcaster may be called `data` too.
fn event_set(declared: &EventEnum) -> TokenStream {
    let EventEnum {
        domain,
        ident,
        variants,
        ..
    } = declared;
    let constants = variants.iter().map(|variant| &variant.constant);
    let arms = variants.iter().flat_map(|variant| {
        let EventVariant { ident, data, event_type, version, upcasts, .. } = variant;
        let current = quote_spanned! {Span::mixed_site()=>
            (#event_type, #version) => #domain::__private::serde_json::from_slice::<#data>(data).map(Self::#ident),
        };
        let older = upcasts.iter().map(move |upcast| {
            let from = &upcast.from;
            let stored = quote_spanned!(Span::mixed_site()=> stored);
            let upcasted =
                upcast.through.iter().fold(stored.clone(), |data, function| quote_spanned!(function.span()=> #function(#data)));
            quote_spanned! {Span::mixed_site()=>
                (#event_type, #from) => #domain::__private::serde_json::from_slice(data)
                    .map(|#stored| Self::#ident(#upcasted)),
            }
        });
        std::iter::once(current).chain(older)
    });
    let lean = lean(declared);
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #domain::EventSet for #ident {
            const CATALOG: &'static [&'static [#domain::Descriptor]] = &[&[#(Self::#constants),*]];

            fn decode(
                event_type: &str,
                version: &str,
                data: &[u8],
            ) -> ::core::result::Result<Self, #domain::DecodeError> {
                let read = match (event_type, version) {
                    #(#arms)*
                    _ => return ::core::result::Result::Err(#domain::DecodeError::unknown(event_type, version)),
                };
                read.map_err(|source| #domain::DecodeError::data(event_type, version, source))
            }

            #lean
        }
    }
}

/// Nothing where no variant is thinned: the trait says what holds then.
fn lean(declared: &EventEnum) -> Option<TokenStream> {
    let domain = &declared.domain;
    let thinned = || {
        let variants = declared.variants.iter();
        variants.filter_map(|variant| Some((variant, variant.lean.as_ref()?)))
    };
    thinned().next()?;
    let types = thinned().map(|(variant, _)| &variant.event_type);
    let arms = thinned().map(|(variant, function)| {
        let ident = &variant.ident;
        let data = quote_spanned!(Span::mixed_site()=> data);
        let lean = quote_spanned!(function.span()=> #function(#data));
        quote!(Self::#ident(#data) => Self::#ident(#lean),)
    });
    Some(quote_spanned! {Span::mixed_site()=>
        fn decode_lean(
            event_type: &str,
            version: &str,
            data: &[u8],
        ) -> ::core::result::Result<Self, #domain::DecodeError> {
            let whole = <Self as #domain::EventSet>::decode(event_type, version, data)?;
            ::core::result::Result::Ok(match whole {
                #(#arms)*
                #[allow(unreachable_patterns)]
                other => other,
            })
        }

        fn thinned(
            event_type: &str,
            version: &str,
            data: &[u8],
        ) -> ::core::option::Option<::std::vec::Vec<u8>> {
            match event_type {
                #(#types)|* => #domain::__private::thinned::<Self>(event_type, version, data),
                _ => ::core::option::Option::None,
            }
        }
    })
}

fn event(declared: &EventEnum) -> TokenStream {
    let EventEnum {
        domain,
        ident,
        variants,
        ..
    } = declared;
    let names: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let types = variants.iter().map(|variant| &variant.data);
    let constants = variants.iter().map(|variant| &variant.constant);
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #domain::Event for #ident {
            fn descriptor(&self) -> &'static #domain::Descriptor {
                match self {
                    #(Self::#names(_) => &Self::#constants,)*
                }
            }

            fn encode(&self) -> ::core::result::Result<::std::vec::Vec<u8>, #domain::EncodeError> {
                let written = match self {
                    #(Self::#names(data) => #domain::__private::serde_json::to_vec::<#types>(data),)*
                };
                written.map_err(|source| #domain::EncodeError {
                    event_type: #domain::Event::descriptor(self).event_type,
                    source,
                })
            }
        }
    }
}

/// That the enum and its aggregate belong together, and that the domain finds nothing wrong with the catalogue.
fn membership(declared: &EventEnum) -> TokenStream {
    let EventEnum {
        domain,
        ident,
        aggregate,
        prefix,
        variants,
        ..
    } = declared;
    let constants = variants.iter().map(|variant| &variant.constant);
    let some_type = variants.iter().map(|variant| &variant.event_type).take(1);
    let segment = format!(
        "the third segment of prefix {:?} is not the TYPE of its aggregate {}",
        prefix.value(),
        quote!(#aggregate).to_string().replace(' ', ""),
    );
    let sound = format!("the catalogue of {ident} breaks a rule: see catalog_is_sound");
    let type_name = quote!(<#aggregate as #domain::Aggregate>::TYPE.as_str());
    let third_segment = quote_spanned! {prefix.span()=>
        #(::core::assert!(#domain::third_segment_is(#some_type, #type_name), #segment);)*
    };
    let whole = quote_spanned! {aggregate.span()=>
        const _: fn(#ident) -> <#aggregate as #domain::Aggregate>::Event = |event| event;
    };
    quote! {
        #[automatically_derived]
        impl #domain::EventsOf<#aggregate> for #ident {}

        const _: () = {
            #third_segment
            ::core::assert!(#domain::catalog_is_sound(&[#(#ident::#constants),*], #type_name), #sound);
        };
        #whole
    }
}

fn froms(declared: &EventEnum) -> TokenStream {
    let enumeration = &declared.ident;
    let impls = declared.variants.iter().map(|EventVariant { ident, data, .. }| {
        quote_spanned! {Span::mixed_site()=>
            #[automatically_derived]
            impl ::core::convert::From<#data> for #enumeration {
                fn from(data: #data) -> Self {
                    Self::#ident(data)
                }
            }
        }
    });
    quote!(#(#impls)*)
}
