//! Options about panels of judges and about repeats of one judge.

use assize_engine::PanelOptions;
use assize_grade::WarmUp;
use assize_model::ScoringMethod;
use assize_rubric::{PanelRule, TiePolicy, Weight};

use super::headings::JUDGE;
use super::values::{OptionValues, one_of};

/// Values of `--combine`.
const PANEL_RULES: &OptionValues<PanelRule> = &[
    ("majority", PanelRule::Majority, "The outcome or score with the most votes"),
    ("mean", PanelRule::Mean, "The mean of the scores; met if more than half of the votes are met"),
    ("median", PanelRule::Median, "The median score"),
    ("unanimous", PanelRule::Unanimous, "Met if all votes are met; the lowest score"),
    ("any", PanelRule::Any, "Met if any vote is met; the highest score"),
    ("weighted", PanelRule::Weighted, "The mean weighted by `--judge-weight`"),
];

/// Values of `--ties`.
const TIE_POLICIES: &OptionValues<TiePolicy> = &[
    ("ungraded", TiePolicy::Ungraded, "Nothing was decided"),
    ("fail", TiePolicy::Fail, "Unmet; the lowest of the tied scores"),
    ("pass", TiePolicy::Pass, "Met; the highest of the tied scores"),
];

/// Values of `--scoring`.
const SCORING_METHODS: &OptionValues<ScoringMethod> = &[
    ("written", ScoringMethod::Written, "The decision as written"),
    (
        "logprobs",
        ScoringMethod::Logprobs,
        "The expected decision, from log-probabilities; needs a judge that returns them",
    ),
];

/// Values of `--warm-up`.
const WARM_UPS: &OptionValues<WarmUp> = &[
    ("auto", WarmUp::Auto, "Where a cache miss costs extra"),
    ("always", WarmUp::Always, "With every provider"),
    ("never", WarmUp::Never, "Never: all calls at once"),
];

/// Options about panels.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PanelArgs {
    /// Ask each judge N times, 1 to 100.
    #[arg(
        long, value_parser = clap::value_parser!(u32).range(1..=100), value_name = "N", help_heading = JUDGE
    )]
    pub(crate) judge_repeats: Option<u32>,
    /// Ask this judge only where the others are unsure.
    #[arg(long, value_name = "JUDGE", help_heading = JUDGE, hide_short_help = true)]
    pub(crate) escalate: Option<String>,
    /// Rule that combines votes [default: majority; mean for scores].
    #[arg(
        long, value_parser = one_of(PANEL_RULES), value_name = "RULE", help_heading = JUDGE,
        hide_short_help = true
    )]
    pub(crate) combine: Option<PanelRule>,
    /// Result of a tie [default: ungraded].
    #[arg(
        long, value_parser = one_of(TIE_POLICIES), value_name = "WHAT", help_heading = JUDGE,
        hide_short_help = true
    )]
    pub(crate) ties: Option<TiePolicy>,
    /// Weight of a judge under `--combine weighted`; repeatable.
    #[arg(
        long, value_parser = weight, value_name = "JUDGE=WEIGHT", help_heading = JUDGE, hide_short_help = true
    )]
    pub(crate) judge_weight: Vec<(String, Weight)>,
    /// Sampling temperature of the judges, 0 to 2 [default: 0].
    #[arg(long, value_parser = temperature, value_name = "T", help_heading = JUDGE, hide_short_help = true)]
    pub(crate) judge_temperature: Option<f64>,
    /// Read decisions from the judge's text or its token probabilities [default: written].
    #[arg(
        long, value_parser = one_of(SCORING_METHODS), value_name = "HOW", help_heading = JUDGE,
        hide_short_help = true
    )]
    pub(crate) scoring: Option<ScoringMethod>,
    /// Send one call first so that the rest hit the provider's prompt cache.
    #[arg(
        long, value_parser = one_of(WARM_UPS), default_value = "auto", value_name = "WHEN",
        help_heading = JUDGE, hide_short_help = true
    )]
    pub(crate) warm_up: WarmUp,
}

impl PanelArgs {
    /// Typed options of these flags.
    pub(crate) fn options(&self) -> PanelOptions {
        PanelOptions {
            weights: self.judge_weight.clone(),
            repeats: self.judge_repeats,
            temperature: self.judge_temperature,
            combine: self.combine,
            ties: self.ties,
            scoring: self.scoring,
            escalate: self.escalate.clone(),
            warm_up: self.warm_up,
        }
    }
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
        for (name, rule, _) in PANEL_RULES {
            assert_eq!(PanelRule::from_name(name), Some(*rule));
        }
        for (name, policy, _) in TIE_POLICIES {
            assert_eq!(TiePolicy::from_name(name), Some(*policy));
        }
    }
}
