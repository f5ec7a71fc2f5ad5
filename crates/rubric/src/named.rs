//! Words for the variants of an enum, written once.

/// Gives an enum `ALL`, `NAMES`, `name` and `from_name` from a list of its variants with their words.
///
/// The words are those of options, messages and pages; where serde writes the enum too, they are the same unless the list
/// says otherwise.
#[macro_export]
macro_rules! named_variants {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// Every variant, in the order in which messages list them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];
            /// The words of all variants, in the same order.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// The word for the variant in files, options and output.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// The variant with this word.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }
    };
}
