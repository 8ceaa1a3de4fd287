//! What a variant's descriptor is called.
use syn::{Ident, ext::IdentExt};

/// `SpanRecorded` gives `SPAN_RECORDED`, with the span of the variant so that errors point at it.
pub(crate) fn of_variant(variant: &Ident) -> Ident {
    Ident::new(&screaming(&variant.unraw().to_string()), variant.span())
}

fn screaming(name: &str) -> String {
    let mut text = String::new();
    let mut chars = name.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(here) = chars.next() {
        let ends_a_word = before.is_some_and(|b| b.is_lowercase() || b.is_numeric());
        let ends_an_acronym =
            before.is_some_and(char::is_uppercase) && chars.peek().is_some_and(|next| next.is_lowercase());
        if here.is_uppercase() && (ends_a_word || ends_an_acronym) {
            text.push('_');
        }
        text.extend(here.to_uppercase());
        before = Some(here);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split() {
        for (variant, constant) in [
            ("Queued", "QUEUED"),
            ("SpanRecorded", "SPAN_RECORDED"),
            ("HTTPSent", "HTTP_SENT"),
            ("Phase2Done", "PHASE2_DONE"),
            ("Snake_Case", "SNAKE_CASE"),
            ("A", "A"),
        ] {
            assert_eq!(screaming(variant), constant);
        }
    }
}
