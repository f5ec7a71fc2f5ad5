//! A JSON parser that rejects duplicate member names. With two values for one name, either could be meant.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// A JSON value in which every member name occurs once per object.
#[derive(Debug)]
pub struct UnambiguousJson(pub Value);

impl<'de> Deserialize<'de> for UnambiguousJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UnambiguousVisitor).map(Self)
    }
}

struct UnambiguousVisitor;

impl<'de> Visitor<'de> for UnambiguousVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(UnambiguousJson(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            match object.entry(name) {
                Entry::Vacant(entry) => {
                    let UnambiguousJson(value) = members.next_value()?;
                    entry.insert(value);
                }
                Entry::Occupied(entry) => {
                    let name = entry.key();
                    return Err(A::Error::custom(format!(
                        "the member \"{name}\" occurs twice in one object"
                    )));
                }
            }
        }

        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_occur_twice_are_found_at_any_depth() {
        for (text, name) in [
            (r#"{"choices":[1],"x":{},"choices":[2]}"#, Some("choices")),
            (r#"{"choices":[{"message":{"content":"a","content":"b"}}]}"#, Some("content")),
            (r#"{"choices":1,"choi\u0063es":2}"#, Some("choices")),
            (r#"[{"a":1},{"a":null,"b":[true,-1,1.5,"{\"a\":1,\"a\":2}"]}]"#, None),
        ] {
            let found = serde_json::from_str::<UnambiguousJson>(text).err().map(|error| error.to_string());
            let expected = name.map(|name| format!("the member \"{name}\" occurs twice in one object"));
            let reason = found.as_ref().and_then(|found| found.split(" at line").next());
            assert_eq!(reason, expected.as_deref(), "{text}");
        }
    }
}
