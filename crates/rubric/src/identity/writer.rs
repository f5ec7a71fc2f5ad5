//! The encoding of identities: fields in a fixed order, each with its length or in a fixed width.

/// A value that is part of identities, which are stored or compared.
///
/// An implementation writes field by field, with the names of variants as literals, so that renaming a type,
/// field or variant does not change the identity. It destructures structs without `..`, so that a field that
/// is added later does not compile until its author has decided whether it belongs to the identity.
pub trait Identify {
    /// Writes everything that distinguishes this value from others.
    fn identify(&self, identity: &mut IdentityWriter);
}

/// Writer of an identity. Different values never have the same bytes, because every field has a fixed width
/// or is preceded by its length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IdentityWriter {
    bytes: Vec<u8>,
}

impl IdentityWriter {
    /// Creates a writer for a kind of identity, such as `case`. Raising the version changes the identities of
    /// all values.
    pub fn new(kind: &'static str, version: u64) -> Self {
        Self::with_capacity(0, kind, version)
    }

    /// Creates a writer like [`Self::new`], with this capacity in bytes.
    pub fn with_capacity(capacity: usize, kind: &'static str, version: u64) -> Self {
        let mut identity = Self { bytes: Vec::with_capacity(capacity) };
        identity.begin(kind, version);
        identity
    }

    /// Begins a part with its own kind and version.
    pub fn begin(&mut self, kind: &'static str, version: u64) {
        self.text(kind);
        self.number(version);
    }

    /// Writes a value that implements [`Identify`].
    pub fn field<T: Identify + ?Sized>(&mut self, value: &T) {
        value.identify(self);
    }

    /// Writes values that implement [`Identify`], one after the other.
    pub fn fields(&mut self, values: &[&dyn Identify]) {
        for value in values {
            value.identify(self);
        }
    }

    /// Writes bytes, preceded by their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a text, or the name of a variant.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes a whole number.
    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// The bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Implements [`Identify`] for a struct: the fields that are written, in this order, and after `not` the fields that
/// are not part of the identity. A field that is in neither list does not compile.
#[macro_export]
macro_rules! identify_struct {
    ($type:ident { $($field:ident),+ $(; not $($other:ident),+)? $(,)? }) => {
        impl $crate::Identify for $type {
            fn identify(&self, identity: &mut $crate::IdentityWriter) {
                let Self { $($field,)+ $($($other: _,)+)? } = self;
                $(identity.field($field);)+
            }
        }
    };
}

/// Implements [`Identify`] for an enum: for each variant, its text in the identity, followed by its fields.
#[macro_export]
macro_rules! identify_enum {
    ($type:ident { $($variant:ident $({ $($field:ident),+ })? $(($value:ident))? = $name:literal),+ $(,)? }) => {
        impl $crate::Identify for $type {
            fn identify(&self, identity: &mut $crate::IdentityWriter) {
                match self {
                    $(Self::$variant $({ $($field),+ })? $(($value))? => {
                        identity.text($name);
                        $($(identity.field($field);)+)?
                        $(identity.field($value);)?
                    })+
                }
            }
        }
    };
}

/// Implements [`Identify`] for enums by the names of their variants.
#[macro_export]
macro_rules! identify_named {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::Identify for $type {
            fn identify(&self, identity: &mut $crate::IdentityWriter) {
                identity.text(self.name());
            }
        }
    )+};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_is_lengths_and_little_endian_numbers() {
        let mut identity = IdentityWriter::new("k", 2);
        identity.text("ab");
        let expected = b"\x01\0\0\0\0\0\0\0k\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0ab";
        assert_eq!(identity.as_bytes(), expected);
        assert_eq!(identity.into_bytes(), expected);
    }

    #[test]
    fn fields_do_not_run_into_each_other() {
        let written = |texts: &[&str]| {
            let mut identity = IdentityWriter::default();
            for text in texts {
                identity.text(text);
            }
            identity
        };
        assert_ne!(written(&["ab", "c"]), written(&["a", "bc"]));
        assert_ne!(written(&["a", ""]), written(&["", "a"]));
    }
}
