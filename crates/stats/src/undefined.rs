//! Why a figure has no value.

/// The reason a figure is undefined. Its text completes "undefined, because ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Undefined {
    /// There is nothing to compute it from.
    #[error("there are no values")]
    NoValues,
    /// The spread of a single value can't be known.
    #[error("a single value says nothing about spread")]
    OneValue,
    /// A value is NaN or infinite, or the values are too large to be added up.
    #[error("the values do not add up to a finite number")]
    NotFinite,
    /// More passes than attempts were counted.
    #[error("there are more successes than trials")]
    MoreSuccessesThanTrials,
}
