//! JSON as `serde_json` writes it, byte for byte, in a third of the steps.
//!
//! Most of a row are the names of its fields, in each row the same ones, and text in which hardly anything has to be
//! escaped. `serde_json` looks at each byte of both. Here names are copied, and text is looked at in pieces.

use std::fmt::Display;

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

/// Appends a value as JSON.
pub(crate) fn append(to: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
    value.serialize(Json(to))
}

/// Bytes of a text that are looked at together.
const PIECE: usize = 16;

fn append_text(to: &mut Vec<u8>, text: &str) {
    to.reserve(text.len() + 2);
    to.push(b'"');
    let (pieces, rest) = text.as_bytes().as_chunks::<PIECE>();
    for piece in pieces {
        // Without a way out of the loop, so that the bytes are looked at side by side.
        if piece.iter().fold(false, |found, byte| found | is_escaped(*byte)) {
            append_bytes(to, piece);
        } else {
            to.extend_from_slice(piece);
        }
    }
    append_bytes(to, rest);
    to.push(b'"');
}

/// A few bytes of a text, one by one.
fn append_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    for byte in bytes {
        append_byte(to, *byte);
    }
}

const fn is_escaped(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

fn append_byte(to: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let escape = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        0..b' ' => {
            let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            to.extend_from_slice(b"\\u00");
            to.extend_from_slice(&digits);
            return;
        }
        plain => return to.push(plain),
    };
    to.extend_from_slice(&[b'\\', escape]);
}

/// A name from the program itself, an identifier as a rule, without its quotes.
fn append_plain(to: &mut Vec<u8>, name: &'static str) {
    debug_assert!(!name.bytes().any(is_escaped), "the name {name:?} would have to be escaped");
    to.extend_from_slice(name.as_bytes());
}

fn append_name(to: &mut Vec<u8>, name: &'static str) {
    to.push(b'"');
    append_plain(to, name);
    to.push(b'"');
}

struct Json<'a>(&'a mut Vec<u8>);

impl<'a> Json<'a> {
    /// Something made of parts, between `open` and `close`.
    fn parts(self, open: &'static str, close: &'static str) -> Parts<'a> {
        self.0.extend_from_slice(open.as_bytes());
        Parts { to: self.0, any: false, close }
    }

    /// The same for a variant with a name.
    fn variant(self, name: &'static str, open: &'static str, close: &'static str) -> Parts<'a> {
        self.0.push(b'{');
        append_name(self.0, name);
        self.0.push(b':');
        self.parts(open, close)
    }
}

/// What is left to `serde_json`: numbers are short, and everything about them is its own.
macro_rules! as_serde_json_does {
    ($($method:ident: $type:ty),* $(,)?) => {
        $(fn $method(self, value: $type) -> Result<(), Error> {
            serde_json::to_writer(self.0, &value)
        })*
    };
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Parts<'a>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Parts<'a>;

    as_serde_json_does! {
        serialize_bool: bool, serialize_char: char, serialize_bytes: &[u8],
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_f32: f32, serialize_f64: f64,
    }

    fn serialize_str(self, text: &str) -> Result<(), Error> {
        append_text(self.0, text);
        Ok(())
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.serialize_str(&value.to_string())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        append_name(self.0, variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let parts = self.variant(variant, "", "}");
        value.serialize(Json(&mut *parts.to))?;
        parts.done()
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(self.parts("[", "]"))
    }

    fn serialize_tuple(self, _length: usize) -> Result<Parts<'a>, Error> {
        Ok(self.parts("[", "]"))
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Parts<'a>, Error> {
        Ok(self.parts("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Parts<'a>, Error> {
        Ok(self.variant(variant, "[", "]}"))
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(self.parts("{", "}"))
    }

    fn serialize_struct(self, name: &'static str, _length: usize) -> Result<Parts<'a>, Error> {
        debug_assert!(!name.starts_with('$'), "`serde_json` alone knows how to write {name}");
        Ok(self.parts("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
        _length: usize,
    ) -> Result<Parts<'a>, Error> {
        Ok(self.variant(variant, "{", "}}"))
    }
}

/// A list or an object that is begun.
struct Parts<'a> {
    to: &'a mut Vec<u8>,
    /// Whether there is a part already.
    any: bool,
    close: &'static str,
}

impl Parts<'_> {
    fn separate(&mut self) {
        if std::mem::replace(&mut self.any, true) {
            self.to.push(b',');
        }
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.separate();
        append(self.to, value)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        // As one piece each, what stands around the name.
        if std::mem::replace(&mut self.any, true) {
            self.to.extend_from_slice(b",\"");
        } else {
            self.to.push(b'"');
        }
        append_plain(self.to, name);
        self.to.extend_from_slice(b"\":");
        append(self.to, value)
    }

    // As serde wants it of what it calls at the end.
    #[expect(clippy::unnecessary_wraps, reason = "it is the last word of traits whose others may fail")]
    fn done(self) -> Result<(), Error> {
        self.to.extend_from_slice(self.close.as_bytes());
        Ok(())
    }
}

macro_rules! parts {
    ($($of:ident: $method:ident($($name:ident)?) as $as:ident),* $(,)?) => {
        $(impl $of for Parts<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($name: &'static str,)?
                value: &T,
            ) -> Result<(), Error> {
                self.$as($($name,)? value)
            }

            fn end(self) -> Result<(), Error> {
                self.done()
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element() as element,
    SerializeTuple: serialize_element() as element,
    SerializeTupleStruct: serialize_field() as element,
    SerializeTupleVariant: serialize_field() as element,
    SerializeStruct: serialize_field(name) as field,
    SerializeStructVariant: serialize_field(name) as field,
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.separate();
        let begin = self.to.len();
        append(self.to, key)?;
        match self.to.get(begin) {
            Some(b'"') => Ok(()),
            _ => Err(Error::custom("the keys of what is kept are texts")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.to.push(b':');
        append(self.to, value)
    }

    fn end(self) -> Result<(), Error> {
        self.done()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[track_caller]
    fn same(value: &(impl Serialize + ?Sized)) {
        let mut written = Vec::new();
        append(&mut written, value).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), serde_json::to_string(value).unwrap());
    }

    #[test]
    fn every_character_is_escaped_as_serde_json_escapes_it() {
        let all: String = (0..0x0300).chain([0x2028, 0xfffd, 0x1f600]).filter_map(char::from_u32).collect();
        same(&all);
        for character in all.chars() {
            // At every place of a piece, and behind it.
            for before in 0..=PIECE {
                same(&format!("{}{character}ab", "x".repeat(before)));
            }
        }
        same("");
    }

    #[test]
    fn every_kind_of_value_is_written_as_serde_json_writes_it() {
        #[derive(Serialize)]
        #[serde(rename_all = "snake_case")]
        enum Kind {
            Unit,
            NewType(Option<u8>),
            Tuple(u8, &'static str),
            Struct { one: (), two: [f64; 2] },
        }
        #[derive(Serialize)]
        struct Empty {}
        #[derive(Serialize)]
        struct Nothing;
        #[derive(Serialize)]
        struct Pair(i8, char);
        #[derive(Serialize)]
        struct All {
            kinds: Vec<Kind>,
            empty: (Empty, Nothing, Pair, Vec<u8>, BTreeMap<String, u8>),
            #[serde(skip_serializing_if = "Option::is_none")]
            absent: Option<u8>,
            numbers: (i64, u64, i128, u128, f32, f64, f64, f64, bool),
            value: serde_json::Value,
            map: BTreeMap<&'static str, Option<bool>>,
        }
        same(&All {
            kinds: vec![
                Kind::Unit,
                Kind::NewType(None),
                Kind::NewType(Some(3)),
                Kind::Tuple(1, "a\"b"),
                Kind::Struct { one: (), two: [0.1, -0.0] },
            ],
            empty: (Empty {}, Nothing, Pair(-1, '"'), Vec::new(), BTreeMap::new()),
            absent: None,
            numbers: (i64::MIN, u64::MAX, i128::MIN, u128::MAX, 0.1, 1e300, f64::NAN, 5.0, true),
            value: json!({ "a\n": [1, 2.5, null, { "b": {} }], "c": "d\te" }),
            map: BTreeMap::from([("k", None), ("\u{1}", Some(false))]),
        });
    }

    #[test]
    fn a_key_that_is_no_text_is_refused() {
        append(&mut Vec::new(), &BTreeMap::from([(1, 2)])).unwrap_err();
    }
}
