//! Names for the variants of an enum, written once.

/// Gives an enum `ALL`, `NAMES`, `NAMED`, `name` and `from_name` from a list of its variants and their names.
///
/// The names are used in options, messages and documentation. If serde uses the same names,
/// [`named_enum`](crate::named_enum) declares both.
#[macro_export]
macro_rules! named_variants {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every variant, in the order in which messages list them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];
            /// The names of all variants, in the same order.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Every variant with its name, in the same order.
            pub const NAMED: [(&'static str, Self); [$($name),+].len()] = [$(($name, Self::$variant)),+];

            /// The name of the variant in files, options and output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }
    };
}

/// Declares an enum that serde writes with the names of [`named_variants`](crate::named_variants).
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* pub enum $type:ident {
        $($(#[$of:meta])* $variant:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        pub enum $type {
            $($(#[$of])* #[serde(rename = $name)] $variant),+
        }

        $crate::named_variants!($type { $($variant = $name),+ });
    };
}
