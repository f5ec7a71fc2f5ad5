//! Scale of a criterion: a checklist answer or score bands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RawScore;

/// Scale on which a criterion is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Scale")]
pub enum CriterionScale {
    /// Met or unmet.
    Checklist,
    /// A whole number from 0 to 10, with a description of each score range.
    Bands(ScoreBands),
}

/// A score range: the scores from `low` to `high` and their meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Band")]
pub struct ScoreBand {
    /// Lowest score of the range.
    pub low: RawScore,
    /// Highest score of the range.
    pub high: RawScore,
    /// Description of an answer in this range.
    pub text: String,
}

/// Score ranges of a criterion in ascending order. They cover 0 to 10 without gaps or overlaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Vec<ScoreBand>", into = "Vec<ScoreBand>")]
#[schemars(rename = "Bands")]
pub struct ScoreBands(Vec<ScoreBand>);

/// Why a list of bands is not a scale from 0 to 10.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScoreBandsError {
    /// There is no band.
    #[error("no bands")]
    Empty,
    /// A band ends before it begins. Holds its index.
    #[error("band {0} ends before it begins")]
    Reversed(usize),
    /// Two bands share a score. Holds the indices of both, in order of their lower bounds.
    #[error("bands {0} and {1} overlap")]
    Overlap(usize, usize),
    /// Scores in no band.
    #[error("scores {low} to {high} are in no band")]
    Gap {
        /// First score that is missing.
        low: u8,
        /// Last score that is missing.
        high: u8,
        /// The band before the gap, if there is one.
        after: Option<usize>,
    },
    /// A band without text. Holds its index.
    #[error("band {0} has no text")]
    NoText(usize),
}

impl ScoreBands {
    /// Their descriptions.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.0.iter_mut().map(|band| &mut band.text)
    }

    /// Checks and sorts the bands. Every violation is reported, with its index in the given list.
    pub fn new(bands: Vec<ScoreBand>) -> Result<Self, Vec<ScoreBandsError>> {
        let mut errors = Vec::new();

        if bands.is_empty() {
            return Err(vec![ScoreBandsError::Empty]);
        }

        for (index, band) in bands.iter().enumerate() {
            if band.low > band.high {
                errors.push(ScoreBandsError::Reversed(index));
            }
            if band.text.trim().is_empty() {
                errors.push(ScoreBandsError::NoText(index));
            }
        }

        // A reversed band has no position in the order. Gaps and overlaps around it would only report the
        // same mistake again.
        if errors.iter().any(|error| matches!(error, ScoreBandsError::Reversed(_))) {
            return Err(errors);
        }

        let mut order: Vec<usize> = (0..bands.len()).collect();
        order.sort_by_key(|&index| (bands[index].low, bands[index].high));

        let mut next_free = 0u8;
        let mut widest: Option<usize> = None;
        for &index in &order {
            let band = &bands[index];
            let (low, high) = (band.low.get(), band.high.get());
            match widest {
                Some(before) if low < next_free => errors.push(ScoreBandsError::Overlap(before, index)),
                _ if low > next_free => {
                    errors.push(ScoreBandsError::Gap { low: next_free, high: low - 1, after: widest });
                }
                _ => {}
            }

            if high + 1 > next_free {
                next_free = high + 1;
                widest = Some(index);
            }
        }

        if next_free <= 10 {
            errors.push(ScoreBandsError::Gap { low: next_free, high: 10, after: widest });
        }
        if !errors.is_empty() {
            return Err(errors);
        }

        let mut bands = bands;
        bands.sort_by_key(|band| band.low);

        Ok(Self(bands))
    }

    /// Returns the bands in ascending order.
    pub fn as_slice(&self) -> &[ScoreBand] {
        &self.0
    }

    /// Returns the band that contains a score.
    pub fn band_for(&self, score: RawScore) -> &ScoreBand {
        // The bands cover 0 to 10, so the last band that begins at or below the score contains it.
        let after = self.0.partition_point(|band| band.low <= score);
        &self.0[after.saturating_sub(1)]
    }
}

impl TryFrom<Vec<ScoreBand>> for ScoreBands {
    type Error = String;

    fn try_from(bands: Vec<ScoreBand>) -> Result<Self, String> {
        Self::new(bands)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

impl From<ScoreBands> for Vec<ScoreBand> {
    fn from(bands: ScoreBands) -> Self {
        bands.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(low: u8, high: u8, text: &str) -> ScoreBand {
        ScoreBand {
            low: RawScore::new(low).expect("in range"),
            high: RawScore::new(high).expect("in range"),
            text: text.into(),
        }
    }

    #[test]
    fn sound_bands_are_sorted_and_looked_up() {
        let bands = ScoreBands::new(vec![band(6, 10, "good"), band(0, 5, "bad")]).expect("sound");
        assert_eq!(bands.as_slice()[0].text, "bad");
        for score in 0..=10 {
            let expected = if score <= 5 { "bad" } else { "good" };
            assert_eq!(bands.band_for(RawScore::new(score).expect("in range")).text, expected);
        }
    }

    #[test]
    fn every_violation_is_reported() {
        let errors =
            ScoreBands::new(vec![band(1, 4, "a"), band(4, 6, " "), band(8, 9, "c")]).expect_err("broken");
        assert_eq!(
            errors,
            vec![
                ScoreBandsError::NoText(1),
                ScoreBandsError::Gap { low: 0, high: 0, after: None },
                ScoreBandsError::Overlap(0, 1),
                ScoreBandsError::Gap { low: 7, high: 7, after: Some(1) },
                ScoreBandsError::Gap { low: 10, high: 10, after: Some(2) },
            ]
        );
    }

    #[test]
    fn a_band_inside_another_is_an_overlap_and_leaves_no_false_gap() {
        let errors = ScoreBands::new(vec![band(0, 10, "all"), band(2, 3, "some")]).expect_err("broken");
        assert_eq!(errors, vec![ScoreBandsError::Overlap(0, 1)]);
    }

    #[test]
    fn no_bands_and_reversed_bands_are_refused() {
        assert_eq!(ScoreBands::new(vec![]), Err(vec![ScoreBandsError::Empty]));
        assert_eq!(
            ScoreBands::new(vec![band(5, 3, "x"), band(0, 10, "y")]),
            Err(vec![ScoreBandsError::Reversed(0)])
        );
    }
}
