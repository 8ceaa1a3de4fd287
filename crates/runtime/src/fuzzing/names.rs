//! Names and ids: what parses is what the rule says, and every way in asks the same rule.
use foldwright_domain::{
    AggregateId, AggregateType, CommandId, EventId, TenantId, is_calendar_date, is_event_type,
    third_segment_is,
};
use foldwright_ports::Route;
use serde::{Serialize, de::DeserializeOwned};

/// Takes the bytes as every name there is.
pub fn names(bytes: &[u8]) {
    ids(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let tenant = TenantId::parse(text).ok();
    let is_tenant = (1..=128).contains(&text.len()) && text.bytes().all(plain);
    assert_eq!(tenant.as_ref().map(TenantId::as_str), is_tenant.then_some(text));
    every_way_in(text, tenant);

    let id = AggregateId::parse(text).ok();
    let is_id = (1..=512).contains(&text.len());
    assert_eq!(id.as_ref().map(AggregateId::as_str), is_id.then_some(text));
    every_way_in(text, id);

    let snake = |segment: &str| {
        segment.starts_with(|first: char| first.is_ascii_lowercase())
            && segment
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    assert_eq!(AggregateType::is_valid(text), snake(text) && text.len() <= 64);
    let event_type = text.len() <= 256 && text.split('.').count() == 4 && text.split('.').all(snake);
    assert_eq!(is_event_type(text), event_type);
    if event_type {
        let third = text.split('.').nth(2).unwrap_or_default();
        assert!(third_segment_is(text, third) && !third_segment_is(text, &text[..third.len() - 1]));
    }
    if is_calendar_date(text) {
        let numbers: Vec<u32> = text.split('-').filter_map(|part| part.parse().ok()).collect();
        assert!(
            matches!(numbers[..], [1..=9_999, 1..=12, 1..=31]) && text.len() == 10,
            "{text} is no date"
        );
    }
    if let Ok(route) = Route::parse(text) {
        assert_eq!(format!("{}/{}", route.pipeline(), route.path()), text);
        assert!(text.split('/').any(|segment| segment == route.name()) && !route.kind().is_empty());
    }
}

/// Deserialising refuses what parsing refuses.
fn every_way_in<T: Serialize + DeserializeOwned + PartialEq>(text: &str, parsed: Option<T>) {
    let json = serde_json::to_vec(text)
        .ok()
        .and_then(|json| serde_json::from_slice::<T>(&json).ok());
    let binary = postcard::to_stdvec(text)
        .ok()
        .and_then(|bytes| postcard::from_bytes::<T>(&bytes).ok());
    assert!(
        json == parsed && binary == parsed,
        "{text:?} comes in one way and not the other"
    );
}

fn ids(bytes: &[u8]) {
    let Some(bits) = bytes.first_chunk().map(|bits| u128::from_be_bytes(*bits)) else {
        return;
    };
    let (event, command) = (EventId::from_u128(bits), CommandId::from_u128(bits));
    assert_eq!(event.command(), command);
    let numbered = usize::try_from(bits & 0xfff)
        .ok()
        .and_then(|index| command.event(index));
    assert_eq!(numbered, Some(event), "an event has another command than made it");
    assert_eq!(command.of_migration().of_migration(), command.of_migration());
}
