//! What a cursor of this adapter holds: a tag that tells the lists apart, then the last key in fixed parts.
use bytes::{BufMut, BytesMut};
use foldwright_ports::{Cursor, Error, Kind, Result};

/// Writes a cursor.
pub(crate) struct Writer(BytesMut);

impl Writer {
    pub(crate) fn new(tag: u8) -> Self {
        let mut bytes = BytesMut::new();
        bytes.put_u8(tag);
        Self(bytes)
    }

    pub(crate) fn i64(mut self, value: i64) -> Self {
        self.0.put_i64(value);
        self
    }

    pub(crate) fn u64(mut self, value: u64) -> Self {
        self.0.put_u64(value);
        self
    }

    pub(crate) fn u128(mut self, value: u128) -> Self {
        self.0.put_u128(value);
        self
    }

    pub(crate) fn bytes<const N: usize>(mut self, value: [u8; N]) -> Self {
        self.0.put_slice(&value);
        self
    }

    /// Text goes with its length before it, so that two texts in a row stay apart.
    pub(crate) fn text(mut self, value: &str) -> Self {
        self.0.put_u64(value.len() as u64);
        self.0.put_slice(value.as_bytes());
        self
    }

    pub(crate) fn done(self) -> Cursor {
        Cursor(self.0.freeze())
    }
}

/// Reads a cursor; what it did not write itself is [`Kind::Invalid`].
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    operation: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(Cursor(bytes): &'a Cursor, tag: u8, operation: &'static str) -> Result<Self> {
        let mut reader = Self {
            rest: bytes,
            operation,
        };
        match reader.take::<1>()? {
            [found] if found == tag => Ok(reader),
            _ => Err(reader.bad()),
        }
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.take()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.take()?))
    }

    pub(crate) fn u128(&mut self) -> Result<u128> {
        Ok(u128::from_be_bytes(self.take()?))
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take()
    }

    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let length = usize::try_from(self.u64()?).map_err(|_| self.bad())?;
        let (text, rest) = self.rest.split_at_checked(length).ok_or_else(|| self.bad())?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| self.bad())
    }

    pub(crate) fn end(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    pub(crate) fn bad(&self) -> Error {
        Error::new(
            Kind::Invalid,
            self.operation,
            "this cursor was not made by this list",
        )
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.bad())?;
        self.rest = rest;
        Ok(*head)
    }
}

/// A cursor that holds one text.
pub(crate) fn of_text(tag: u8, text: &str) -> Cursor {
    Writer::new(tag).text(text).done()
}

/// Reads a cursor that holds one text.
pub(crate) fn to_text(cursor: &Cursor, tag: u8, operation: &'static str) -> Result<String> {
    let mut reader = Reader::new(cursor, tag, operation)?;
    let text = reader.text()?.to_owned();
    reader.end()?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cursor_reads_back_as_it_was_written() {
        let cursor = Writer::new(7)
            .i64(-3)
            .text("a")
            .text("bc")
            .u128(9)
            .bytes([1, 2])
            .done();
        let mut reader = Reader::new(&cursor, 7, "list").unwrap();
        assert_eq!(reader.i64().unwrap(), -3);
        assert_eq!((reader.text().unwrap(), reader.text().unwrap()), ("a", "bc"));
        assert_eq!(reader.u128().unwrap(), 9);
        assert!(reader.end().is_err());
        assert_eq!(reader.bytes::<2>().unwrap(), [1, 2]);
        assert!(reader.end().is_ok());
        assert_eq!(
            Reader::new(&cursor, 8, "list").err().unwrap().kind(),
            Kind::Invalid
        );
    }

    proptest! {
        #[test]
        fn foreign_bytes_are_refused_and_never_panic(bytes: Vec<u8>) {
            if let Ok(text) = to_text(&Cursor(bytes.clone().into()), 1, "list") {
                prop_assert_eq!(of_text(1, &text).0.to_vec(), bytes);
            }
        }
    }
}
