//! Reasons why a statistic has no value, and their texts.

use std::fmt::Display;

/// Word for a value that can't be computed.
pub const UNDEFINED: &str = "undefined";

/// Describes a value that can't be computed.
pub fn undefined_because(reason: impl Display) -> String {
    format!("{UNDEFINED}, because {reason}")
}

/// Describes an interval that can't be computed.
pub fn no_interval(reason: impl Display) -> String {
    format!("no CI: {reason}")
}

/// Reason why a statistic is undefined. Its text completes "undefined, because ...".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum UndefinedReason {
    /// There is nothing to compute it from.
    #[error("there are no values")]
    NoValues,
    /// The spread of a single value can't be known.
    #[error("a single value says nothing about spread")]
    OneValue,
    /// There are too few values for the method.
    #[error("there are too few values for this method")]
    TooFew,
    /// A value is NaN or infinite, or the values are too large to be added.
    #[error("the values do not add up to a finite number")]
    NotFinite,
    /// More passes than attempts were counted.
    #[error("there are more successes than trials")]
    MoreSuccessesThanTrials,
    /// All values are equal, and the statistic divides by their spread.
    #[error("all values are the same")]
    NoSpread,
    /// Two lists that belong together have different lengths.
    #[error("the lists that belong together have different lengths")]
    UnequalLengths,
    /// A number is outside the range in which the method is meaningful.
    #[error("a number is outside the range of this method")]
    OutOfRange,
    /// The share is of a class without members.
    #[error("no case is in the class that this is a share of")]
    EmptyClass,
    /// Only one of two classes occurs, so that there is nothing to distinguish.
    #[error("only one class occurs")]
    OneClass,
    /// A clustered error needs at least two clusters.
    #[error("a single cluster says nothing about the spread between clusters")]
    OneCluster,
    /// Chance alone would already give full agreement.
    #[error("all ratings are the same, so agreement by chance is certain")]
    ChanceIsCertain,
    /// No unit was rated twice.
    #[error("no unit has two ratings")]
    NoPairs,
    /// Raters can only be assessed by items that others rated too.
    #[error(
        "raters share too few items: some items need three votes, and every rater needs items with other votes"
    )]
    NoOverlap,
    /// The judge's rate can't arise from its error rates.
    #[error("the judge's rate is impossible with these error rates, so they do not hold here")]
    IncompatibleRates,
    /// An interval includes the value that guessing achieves.
    #[error("its interval includes what guessing achieves")]
    NotAboveGuessing,
    /// A rating is not on the declared scale.
    #[error("a rating is not on the declared scale")]
    NotOnScale,
    /// A rating is between points of the declared scale, and the statistic counts how often each point was
    /// given.
    #[error(
        "a rating lies between the points of the scale, as means do (`--truth consensus` avoids those of people), and this counts points"
    )]
    BetweenPoints,
    /// Each known interval would contain the value too seldom.
    #[error("each known interval would contain it too seldom")]
    NoKnownInterval,
    /// The method needs every cell of a table, and some are missing.
    #[error("ratings are missing, and this method needs them all")]
    MissingCells,
    /// The judge's sensitivity and specificity sum to 1 or less, so that it is no better than guessing.
    #[error("sensitivity and specificity add up to 1 or less: the judge carries no information")]
    UninformativeJudge,
    /// There are fewer attempts than requested draws.
    #[error("there are fewer attempts than draws")]
    MoreDrawsThanAttempts,
    /// The two sides are equal, and the statistic divides by the differences.
    #[error("no pair differs")]
    NothingDiffers,
    /// No score has any probability.
    #[error("no probability was observed on any score")]
    NoMass,
    /// The counts exceed what the exact method can handle.
    #[error("the counts are too large for the exact method")]
    TooLarge,
    /// Some systems were never compared with the others, not even through a third.
    #[error("some were never compared with the others, not even through a third")]
    NotConnected,
    /// A group won every contest with the others, so that its estimated lead would be infinite.
    #[error("some won every contest with the others, so their lead is unbounded")]
    OneSided,
    /// No method gives an interval for the metric.
    #[error("no method gives an interval for it")]
    NoIntervalMethod,
    /// The likelihood has no maximum, such as if one criterion divides the answers exactly as all others
    /// together do.
    #[error("a steeper curve always fits the data better, so no curve is best")]
    Unbounded,
    /// The slope of a curve may be 0, so that no ability is the one at which half of the answers reach a step.
    #[error("its slope may be 0")]
    FlatCurve,
    /// Even the largest possible difference would not be detected.
    #[error("there are too few pairs to detect any difference with this power")]
    Undetectable,
    /// No number of cases suffices.
    #[error("no number of cases would be enough")]
    Unreachable,
}

/// Returns a value unless it is NaN or infinite.
pub(crate) fn check_finite(figure: f64) -> Result<f64, UndefinedReason> {
    if figure.is_finite() { Ok(figure) } else { Err(UndefinedReason::NotFinite) }
}

/// Rejects lists with a NaN or an infinity.
pub(crate) fn check_all_finite(values: &[f64]) -> Result<(), UndefinedReason> {
    if values.iter().all(|value| value.is_finite()) { Ok(()) } else { Err(UndefinedReason::NotFinite) }
}

/// Rejects lists that belong together but have different lengths.
pub(crate) fn check_lengths(first: usize, second: usize) -> Result<(), UndefinedReason> {
    if first == second { Ok(()) } else { Err(UndefinedReason::UnequalLengths) }
}

/// Rejects an empty list.
pub(crate) fn check_not_empty(length: usize) -> Result<(), UndefinedReason> {
    if length == 0 { Err(UndefinedReason::NoValues) } else { Ok(()) }
}
