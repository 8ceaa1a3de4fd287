//! `derive(Event)`: what is declared, and the code that follows from it.
mod declaration;
mod expand;
mod upcasts;

use proc_macro2::TokenStream;
use syn::{DeriveInput, Result};

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    declaration::EventEnum::read(input).map(|declared| expand::expand(&declared))
}
