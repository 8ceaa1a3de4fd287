//! Where OTLP/JSON departs from plain JSON: ids are hex, bytes are base64, 64-bit integers may be
//! strings, enums may be names, `null` means the default, and a value says its type by its key.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::wire::{AnyValue, AnyValueKind};

/// Writes padding, does not ask for it.
pub(super) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

const SPAN_KINDS: [&str; 6] = [
    "SPAN_KIND_UNSPECIFIED",
    "SPAN_KIND_INTERNAL",
    "SPAN_KIND_SERVER",
    "SPAN_KIND_CLIENT",
    "SPAN_KIND_PRODUCER",
    "SPAN_KIND_CONSUMER",
];

const STATUS_CODES: [&str; 3] = ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

pub(super) fn hex_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    match Scalar::deserialize(deserializer)? {
        Scalar::Null => Ok(Vec::new()),
        Scalar::Text(text) => hex::decode(text.as_bytes())
            .map_err(|cause| Error::custom(format_args!("{text:?} is not a hex id: {cause}"))),
        other => Err(other.unexpected("a hex id")),
    }
}

pub(super) fn uint64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Scalar::deserialize(deserializer)?.integer()?.unwrap_or(0))
}

pub(super) fn span_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    enumeration(deserializer, &SPAN_KINDS)
}

pub(super) fn status_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    enumeration(deserializer, &STATUS_CODES)
}

/// Reads a number, or a name whose place in `names` is its number.
fn enumeration<'de, D>(deserializer: D, names: &[&str]) -> Result<i32, D::Error>
where
    D: Deserializer<'de>,
{
    match Scalar::deserialize(deserializer)? {
        Scalar::Text(name) => (0..)
            .zip(names)
            .find_map(|(number, known)| (*known == name).then_some(number))
            .ok_or_else(|| Error::custom(format_args!("unknown enum name {name:?}"))),
        number => Ok(number.integer()?.unwrap_or(0)),
    }
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AnyValueVisitor)
    }
}

struct AnyValueVisitor;

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum AnyValueField {
    StringValue,
    BoolValue,
    IntValue,
    DoubleValue,
    ArrayValue,
    KvlistValue,
    BytesValue,
    #[serde(other)]
    Unknown,
}

impl<'de> Visitor<'de> for AnyValueVisitor {
    type Value = AnyValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object such as {\"stringValue\": \"…\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnyValue, A::Error> {
        let mut kind = None;
        while let Some(field) = map.next_key()? {
            let read = match field {
                AnyValueField::StringValue => map.next_value::<Option<_>>()?.map(AnyValueKind::String),
                AnyValueField::BoolValue => map.next_value::<Option<_>>()?.map(AnyValueKind::Bool),
                AnyValueField::IntValue => map.next_value::<Scalar<'_>>()?.integer()?.map(AnyValueKind::Int),
                AnyValueField::DoubleValue => map
                    .next_value::<Scalar<'_>>()?
                    .double()?
                    .map(AnyValueKind::Double),
                AnyValueField::ArrayValue => map.next_value::<Option<_>>()?.map(AnyValueKind::Array),
                AnyValueField::KvlistValue => map.next_value::<Option<_>>()?.map(AnyValueKind::KeyValueList),
                AnyValueField::BytesValue => {
                    map.next_value::<Scalar<'_>>()?.bytes()?.map(AnyValueKind::Bytes)
                }
                AnyValueField::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    None
                }
            };
            kind = read.or(kind);
        }
        Ok(AnyValue { kind })
    }
}

/// A JSON value that is neither array nor object, borrowed from the input where possible.
enum Scalar<'de> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(Cow<'de, str>),
}

impl Scalar<'_> {
    fn integer<T, E>(self) -> Result<Option<T>, E>
    where
        T: TryFrom<i64> + TryFrom<u64> + FromStr,
        E: Error,
    {
        let number = match &self {
            Self::Null => return Ok(None),
            Self::Signed(number) => T::try_from(*number).ok(),
            Self::Unsigned(number) => T::try_from(*number).ok(),
            Self::Text(text) => text.parse().ok(),
            Self::Bool(_) | Self::Float(_) => None,
        };
        number
            .map(Some)
            .ok_or_else(|| self.unexpected("an integer in range"))
    }

    fn double<E: Error>(self) -> Result<Option<f64>, E> {
        match &self {
            Self::Null => Ok(None),
            Self::Float(number) => Ok(Some(*number)),
            Self::Signed(number) => Ok(Some(*number as f64)),
            Self::Unsigned(number) => Ok(Some(*number as f64)),
            // Takes "NaN", "Infinity" and "-Infinity" too.
            Self::Text(text) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.unexpected("a number")),
            },
            Self::Bool(_) => Err(self.unexpected("a number")),
        }
    }

    fn bytes<E: Error>(self) -> Result<Option<Vec<u8>>, E> {
        match self {
            Self::Null => Ok(None),
            Self::Text(text) => BASE64.decode(text.as_bytes()).map(Some).map_err(Error::custom),
            other => Err(other.unexpected("base64 text")),
        }
    }

    fn unexpected<E: Error>(self, expected: &str) -> E {
        let found = match &self {
            Self::Null => serde::de::Unexpected::Unit,
            Self::Bool(value) => serde::de::Unexpected::Bool(*value),
            Self::Signed(number) => serde::de::Unexpected::Signed(*number),
            Self::Unsigned(number) => serde::de::Unexpected::Unsigned(*number),
            Self::Float(number) => serde::de::Unexpected::Float(*number),
            Self::Text(text) => serde::de::Unexpected::Str(text),
        };
        E::invalid_value(found, &expected)
    }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, a boolean or null")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Signed(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Scalar::Unsigned(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }
}
