//! Systematic biases of a judge.

use assize_stats::{
    DifferenceReach, MeanAccumulator, UndefinedReason, bounded_difference,
    judge_quality::{bonett_wright, spearman},
};

use super::item::CalibrationItem;
use super::pairing::{JudgePeoplePair, group_positions, resampled_statistic};
use crate::metric::{MetricEstimate, ResamplingOptions};

/// Known biases of judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BiasKind {
    /// Too lenient or too strict on all answers.
    Severity,
    /// Higher scores for long answers.
    Length,
    /// Higher scores for the answer shown first.
    Position,
    /// Higher scores for answers of its own family of models.
    SelfPreference,
}

impl BiasKind {
    /// Returns the name used in records.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Severity => "severity",
            Self::Length => "length",
            Self::Position => "position",
            Self::SelfPreference => "self_preference",
        }
    }

    /// Returns the name shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Severity => "severity",
            Self::Length => "length",
            Self::Position => "position",
            Self::SelfPreference => "self-preference",
        }
    }
}

/// A bias: its measurement, or the reason why it can't be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeBias {
    /// Kind of bias.
    pub kind: BiasKind,
    /// The metric, or the reason why it can't be measured.
    pub measured: Result<MetricEstimate, &'static str>,
}

/// Returns the family a model belongs to: the leading letters of its name, without the provider. `None` if
/// the name begins with no letter. Names that begin with `o` and a digit belong to the same family as `gpt`.
pub fn model_family(model: &str) -> Option<String> {
    let name = model.rsplit(['/', ':']).next().unwrap_or(model).to_ascii_lowercase();
    let letters: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
    match letters.as_str() {
        "" => None,
        "o" | "chatgpt" => Some("gpt".to_owned()),
        _ => Some(letters),
    }
}

/// Measures all four biases, as far as the data allows. `reach` is the largest possible distance of two
/// decisions.
pub(crate) fn measure_biases(
    items: &[&CalibrationItem],
    pairs: &[JudgePeoplePair],
    reach: f64,
    resampling: ResamplingOptions,
) -> Vec<JudgeBias> {
    let own = |kind, measured| JudgeBias { kind, measured };
    vec![
        own(BiasKind::Severity, Ok(measure_severity(pairs, reach, resampling))),
        own(BiasKind::Length, measure_length_bias(items, pairs, resampling)),
        own(
            BiasKind::Position,
            Err("each answer was judged alone; pairs judged in both orders show it (`--pairs`)"),
        ),
        own(BiasKind::SelfPreference, measure_self_preference(items, pairs, resampling)),
    ]
}

fn differences(pairs: &[JudgePeoplePair]) -> Vec<f64> {
    pairs.iter().map(|pair| pair.judge - pair.people).collect()
}

fn measure_severity(pairs: &[JudgePeoplePair], reach: f64, resampling: ResamplingOptions) -> MetricEstimate {
    let clusters: Vec<usize> = pairs.iter().map(|pair| pair.cluster).collect();
    let found = bounded_difference(&differences(pairs), &clusters, DifferenceReach::symmetric(reach));
    MetricEstimate {
        id: "severity",
        name: "judge minus people",
        value: found.map(|found| found.difference),
        interval: found.and_then(|found| found.interval(resampling.level)),
        n: pairs.len() as u64,
        of: "pairs",
        says: "Judge minus people: above 0, the judge is lenient; below 0, strict.",
    }
}

fn measure_length_bias(
    items: &[&CalibrationItem],
    pairs: &[JudgePeoplePair],
    resampling: ResamplingOptions,
) -> Result<MetricEstimate, &'static str> {
    let known: Vec<(&JudgePeoplePair, f64)> =
        pairs.iter().filter_map(|pair| Some((pair, items.get(pair.item)?.length?))).collect();
    if known.is_empty() {
        return Err(
            "the length of the answers is unknown (add a column `length`, or use a run that stores answers)",
        );
    }

    let lengths: Vec<f64> = known.iter().map(|(_, length)| *length).collect();
    let away: Vec<f64> = known.iter().map(|(pair, _)| pair.judge - pair.people).collect();
    let groups = group_positions(known.iter().map(|(pair, _)| pair.cluster));
    let n = known.len() as u64;
    let value = spearman(&away, &lengths);
    let interval = if groups.len() == known.len() {
        value.and_then(|r| bonett_wright(r, n, resampling.level))
    } else {
        value.and_then(|_| {
            resampling
                .bootstrap_interval(groups.len(), resampled_statistic((&away, &lengths), &groups, spearman))
        })
    };

    Ok(MetricEstimate {
        id: "length",
        name: "Spearman of (judge minus people) and length",
        value,
        interval,
        n,
        of: "pairs",
        says: "Above 0, the judge favours long answers more than people do; a CI that contains 0 shows no bias.",
    })
}

fn measure_self_preference(
    items: &[&CalibrationItem],
    pairs: &[JudgePeoplePair],
    resampling: ResamplingOptions,
) -> Result<MetricEstimate, &'static str> {
    let known: Vec<(&JudgePeoplePair, bool)> = pairs
        .iter()
        .filter_map(|pair| Some((pair, items.get(pair.item)?.judge.as_ref()?.same_family?)))
        .collect();
    let sides = [true, false].map(|own| known.iter().filter(|(_, same)| *same == own).count());
    match sides {
        [0, 0] => return Err("the models that gave the answers are unknown"),
        [_, 0] => {
            return Err("every answer is from the judge's own family; answers of others are needed as well");
        }
        [0, _] => return Err("no answer is from the judge's own family"),
        _ => {}
    }

    let away: Vec<f64> = known.iter().map(|(pair, _)| pair.judge - pair.people).collect();
    let same: Vec<f64> = known.iter().map(|(_, same)| f64::from(u8::from(*same))).collect();
    let groups = group_positions(known.iter().map(|(pair, _)| pair.cluster));
    let between = |away: &[f64], same: &[f64]| {
        let mean = |own: f64| {
            let side: Vec<f64> =
                away.iter().zip(same).filter(|(_, side)| **side == own).map(|(value, _)| *value).collect();
            side.into_iter().collect::<MeanAccumulator>().mean(resampling.level).mean
        };
        Ok::<f64, UndefinedReason>(mean(1.0)? - mean(0.0)?)
    };

    let value = between(&away, &same);
    let interval = value.and_then(|_| {
        resampling.bootstrap_interval(groups.len(), resampled_statistic((&away, &same), &groups, between))
    });
    Ok(MetricEstimate {
        id: "self_preference",
        name: "(judge minus people), own family minus others",
        value,
        interval,
        n: known.len() as u64,
        of: "pairs",
        says: "Above 0, the judge favours answers of its own family, compared with people.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_read_off_names() {
        let family = |name: &str| model_family(name);
        assert_eq!(family("openai:gpt-4o-mini"), Some("gpt".to_owned()));
        assert_eq!(family("openai:o3-mini"), family("gpt-5"));
        assert_eq!(family("openrouter:meta-llama/Llama-3-70b"), Some("llama".to_owned()));
        assert_eq!(family("4b-model"), None);
    }
}
