//! Identities of texts, numbers, lists and JSON.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Number, Value};

use super::{Identify, IdentityWriter};

macro_rules! whole_numbers {
    ($($number:ty),*) => {$(
        impl Identify for $number {
            fn identify(&self, identity: &mut IdentityWriter) {
                identity.number(u64::from(*self));
            }
        }
    )*};
}

whole_numbers!(bool, u8, u32, u64);

impl Identify for usize {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.number(*self as u64);
    }
}

impl Identify for NonZeroUsize {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.get().identify(identity);
    }
}

impl Identify for f64 {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.number(self.to_bits());
    }
}

impl Identify for str {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self);
    }
}

impl Identify for String {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(self);
    }
}

impl Identify for Path {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.bytes(self.as_os_str().as_encoded_bytes());
    }
}

impl Identify for PathBuf {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.as_path().identify(identity);
    }
}

impl Identify for Duration {
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.number(self.as_secs());
        identity.number(self.subsec_nanos().into());
    }
}

impl<T: Identify + ?Sized> Identify for &T {
    fn identify(&self, identity: &mut IdentityWriter) {
        (**self).identify(identity);
    }
}

impl<T: Identify + ?Sized> Identify for Arc<T> {
    fn identify(&self, identity: &mut IdentityWriter) {
        (**self).identify(identity);
    }
}

impl<T: Identify> Identify for Option<T> {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.is_some().identify(identity);

        if let Some(value) = self {
            value.identify(identity);
        }
    }
}

impl<T: Identify, E: Identify> Identify for Result<T, E> {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.is_ok().identify(identity);

        match self {
            Ok(value) => value.identify(identity),
            Err(error) => error.identify(identity),
        }
    }
}

impl<A: Identify, B: Identify> Identify for (A, B) {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.0.identify(identity);
        self.1.identify(identity);
    }
}

impl<T: Identify> Identify for [T] {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.len().identify(identity);

        for item in self {
            item.identify(identity);
        }
    }
}

impl<T: Identify> Identify for Vec<T> {
    fn identify(&self, identity: &mut IdentityWriter) {
        self.as_slice().identify(identity);
    }
}

impl Identify for Value {
    fn identify(&self, identity: &mut IdentityWriter) {
        match self {
            Self::Null => identity.text("null"),
            Self::Bool(value) => tagged(identity, "bool", value),
            Self::Number(number) => tagged(identity, "number", number),
            Self::String(text) => tagged(identity, "string", text),
            Self::Array(items) => tagged(identity, "array", items),
            Self::Object(members) => tagged(identity, "object", members),
        }
    }
}

fn tagged(identity: &mut IdentityWriter, tag: &str, value: &impl Identify) {
    identity.text(tag);
    value.identify(identity);
}

impl Identify for Number {
    /// The number as JSON writes it.
    fn identify(&self, identity: &mut IdentityWriter) {
        identity.text(&self.to_string());
    }
}

impl Identify for Map<String, Value> {
    /// The members in their order, because programs read them in that order.
    fn identify(&self, identity: &mut IdentityWriter) {
        self.len().identify(identity);

        for (key, value) in self {
            identity.text(key);
            value.identify(identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bytes(value: &(impl Identify + ?Sized)) -> Vec<u8> {
        let mut identity = IdentityWriter::default();
        identity.field(value);
        identity.into_bytes()
    }

    #[test]
    fn values_that_differ_have_different_identities() {
        assert_ne!(bytes(&None::<String>), bytes(&Some(String::new())));
        assert_ne!(bytes(&vec!["a", "b"]), bytes(&vec!["ab"]));
        assert_ne!(bytes(&0.1), bytes(&0.2));
        assert_ne!(bytes(&Duration::from_millis(1)), bytes(&Duration::from_micros(1)));
        assert_ne!(bytes(&Ok::<u32, u32>(1)), bytes(&Err::<u32, u32>(1)));
    }

    #[test]
    fn json_is_told_apart_by_type_value_and_order() {
        let values = [
            json!(null),
            json!("null"),
            json!(true),
            json!(1),
            json!(1.0),
            json!("1"),
            json!([]),
            json!({}),
            json!([1, [2]]),
            json!([[1], 2]),
            json!({ "a": 1, "b": 2 }),
            json!({ "b": 2, "a": 1 }),
        ];

        for (index, value) in values.iter().enumerate() {
            for other in &values[..index] {
                assert_ne!(bytes(value), bytes(other), "{value} and {other}");
            }
        }
    }

    #[test]
    fn bytes_are_held() {
        assert_eq!(bytes(&json!({ "a": [1.5] })), {
            let mut expected = IdentityWriter::default();
            expected.text("object");
            expected.number(1);
            expected.text("a");
            expected.text("array");
            expected.number(1);
            expected.text("number");
            expected.text("1.5");
            expected.into_bytes()
        });
    }
}
