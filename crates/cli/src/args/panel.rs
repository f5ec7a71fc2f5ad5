//! Options about several judges, and about one that is asked several times.

use assize_engine::PanelOptions;
use assize_evalfile::ScoringMethod;
use assize_grade::WarmUp;
use assize_rubric::{PanelRule, TiePolicy, Weight};
use clap::ValueEnum;

/// Options about panels.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PanelArgs {
    /// Weight of a judge, for `--combine weighted`; given once for each judge.
    #[arg(long, value_parser = weight, value_name = "JUDGE=WEIGHT")]
    pub(crate) judge_weight: Vec<(String, Weight)>,
    /// Number of times each judge is asked, 1 to 100.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N")]
    pub(crate) judge_repeats: Option<u32>,
    /// Sampling temperature of the judges, 0 to 2; 0 unless given.
    #[arg(long, value_parser = temperature, value_name = "T")]
    pub(crate) judge_temperature: Option<f64>,
    /// Rule that makes one decision of the votes; majority on met and unmet and mean on scores unless given.
    #[arg(long, value_enum, value_name = "RULE")]
    pub(crate) combine: Option<CombineChoice>,
    /// Result of a tie; ungraded unless given.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) ties: Option<TiesChoice>,
    /// Source of a decision: the judge's written reply, or the probabilities of its tokens. Written unless given.
    #[arg(long, value_enum, value_name = "HOW")]
    pub(crate) scoring: Option<ScoringChoice>,
    /// Judge that is asked only where the others are not sure.
    #[arg(long, value_name = "JUDGE")]
    pub(crate) escalate: Option<String>,
    /// Wait for the first call about an answer before sending the others, so that they hit the provider's cache. `auto`
    /// waits where each cache miss costs extra.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) warm_up: WarmUpChoice,
}

/// Values of `--combine`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombineChoice {
    /// More votes for it than against it; the score given most often.
    Majority,
    /// The mean of scores; met if more than half of the votes say so.
    Mean,
    /// The middle score.
    Median,
    /// Met if all votes say so; the lowest score.
    Unanimous,
    /// Met if any vote says so; the highest score.
    Any,
    /// The mean by `--judge-weight`.
    Weighted,
}

/// Values of `--ties`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TiesChoice {
    /// Nothing was decided.
    Ungraded,
    /// Unmet; the lowest of the tied scores.
    Fail,
    /// Met; the highest of the tied scores.
    Pass,
}

/// Values of `--scoring`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoringChoice {
    /// The decision as written.
    Written,
    /// The expected decision, from log-probabilities; needs a judge that tells them.
    Logprobs,
}

impl From<ScoringChoice> for ScoringMethod {
    fn from(choice: ScoringChoice) -> Self {
        match choice {
            ScoringChoice::Written => Self::Written,
            ScoringChoice::Logprobs => Self::Logprobs,
        }
    }
}

/// Values of `--warm-up`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum WarmUpChoice {
    /// Only if it saves a fee.
    #[default]
    Auto,
    /// With every provider.
    Always,
    /// Never: all calls at once.
    Never,
}

impl From<WarmUpChoice> for WarmUp {
    fn from(choice: WarmUpChoice) -> Self {
        match choice {
            WarmUpChoice::Auto => Self::Auto,
            WarmUpChoice::Always => Self::Always,
            WarmUpChoice::Never => Self::Never,
        }
    }
}

impl PanelArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> PanelOptions {
        PanelOptions {
            weights: self.judge_weight.clone(),
            repeats: self.judge_repeats,
            temperature: self.judge_temperature,
            combine: self.combine.and_then(|choice| PanelRule::from_name(&word(choice))),
            ties: self.ties.and_then(|choice| TiePolicy::from_name(&word(choice))),
            scoring: self.scoring.map(ScoringMethod::from),
            escalate: self.escalate.clone(),
            warm_up: self.warm_up.into(),
        }
    }
}

/// A choice as it is written.
fn word(choice: impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn weight(text: &str) -> Result<(String, Weight), String> {
    let expected = || "expected JUDGE=WEIGHT with a weight above 0, such as `openai:gpt-4o=2`".to_owned();
    // Names of models may hold an equals sign, numbers do not.
    let (judge, number) = text.rsplit_once('=').ok_or_else(expected)?;
    let number: f64 = number.trim().parse().map_err(|_| expected())?;
    let weight = Weight::new(number).map_err(|_| expected())?;
    if judge.trim().is_empty() || weight.get() <= 0.0 {
        Err(expected())
    } else {
        Ok((judge.to_owned(), weight))
    }
}

fn temperature(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok().filter(|value| (0.0..=2.0).contains(value));
    value.ok_or_else(|| "expected a number from 0 to 2, such as 0.7".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_behind_the_last_equals_sign() {
        assert_eq!(weight("a=b=2"), Ok(("a=b".to_owned(), Weight::new(2.0).unwrap())));
        for wrong in ["a", "a=", "=2", "a=0", "a=-1", "a=inf", "a=x"] {
            assert!(weight(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_choice_is_a_rule() {
        for choice in CombineChoice::value_variants() {
            assert!(PanelRule::from_name(&word(*choice)).is_some());
        }
        for choice in TiesChoice::value_variants() {
            assert!(TiePolicy::from_name(&word(*choice)).is_some());
        }
    }
}
