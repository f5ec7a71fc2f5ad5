//! Judges of a grader, and their repeats.

use std::borrow::Cow;

use assize_model::{EscalateWhen, PanelSpec, ScoringMethod};
use assize_rubric::{CriterionScale, PanelRule, TiePolicy};

use crate::JudgeSelector;

/// The panel of a grader after all defaults and overrides.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgePanel<'a> {
    /// The judges and their weights; never empty.
    pub(crate) members: Vec<PanelMember<'a>>,
    /// How often each judge votes.
    pub(crate) repeats: u32,
    /// The rule that combines votes, if one is named.
    pub(crate) combine: Option<PanelRule>,
    pub(crate) ties: TiePolicy,
    pub(crate) temperature: Option<f64>,
    pub(crate) probabilities: bool,
    /// The judge for decisions that the panel is not sure of, and the condition for calling it.
    pub(crate) escalate: Option<(JudgeSelector<'a>, &'a str, EscalateWhen)>,
}

/// A judge of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PanelMember<'a> {
    pub(crate) selector: JudgeSelector<'a>,
    pub(crate) weight: f64,
}

impl JudgePanel<'_> {
    /// Whether it is a single judge that votes once.
    pub(crate) fn is_single(&self) -> bool {
        self.members.len() == 1 && self.repeats == 1 && self.escalate.is_none()
    }

    /// The rule for votes on this scale.
    pub(crate) fn rule(&self, scale: &CriterionScale) -> PanelRule {
        self.combine.unwrap_or_else(|| PanelRule::default_for(scale))
    }
}

/// Panel settings in addition to the graders' own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PanelSettings {
    command: PanelSpec,
    defaults: PanelSpec,
    /// Both merged, for graders without their own settings, which is the usual case.
    usual: PanelSpec,
}

impl PanelSettings {
    /// `command` overrides graders; `defaults` applies to settings that they don't have.
    pub fn new(command: PanelSpec, defaults: PanelSpec) -> Self {
        let usual = merge_specs(&command, PanelSpec::default(), defaults.clone(), None);
        Self { command, defaults, usual }
    }

    /// The merged panel settings of a grader with these settings that names this judge.
    pub fn spec(&self, grader: &PanelSpec, named: Option<&str>) -> Cow<'_, PanelSpec> {
        if named.is_none() && *grader == PanelSpec::default() {
            return Cow::Borrowed(&self.usual);
        }
        Cow::Owned(merge_specs(&self.command, grader.clone(), self.defaults.clone(), named))
    }
}

fn merge_specs(
    command: &PanelSpec,
    mut grader: PanelSpec,
    mut defaults: PanelSpec,
    named: Option<&str>,
) -> PanelSpec {
    // Weights belong to the judges that they were written for, not to others.
    if !command.judges.is_empty() {
        grader = grader.without_weighted();
        defaults = defaults.without_weighted();
    }

    if named.is_some() && grader.judges.is_empty() {
        // A judge that the grader names is its panel.
        defaults = defaults.without_judges();
    }

    command.clone().or(&grader).or(&defaults)
}

/// The judges that a panel may use, with the escalation judge last. `selector` is the single judge that would be used
/// without a panel.
pub fn panel_selectors<'a>(spec: &'a PanelSpec, selector: JudgeSelector<'a>) -> Vec<JudgeSelector<'a>> {
    let panel = JudgePanel::new(spec, selector);
    panel
        .members
        .iter()
        .map(|member| member.selector)
        .chain(panel.escalate.map(|(selector, ..)| selector))
        .collect()
}

impl<'a> JudgePanel<'a> {
    /// The panel of a grader. `spec` is the result of [`PanelSettings::spec`].
    pub(crate) fn new(spec: &'a PanelSpec, selector: JudgeSelector<'a>) -> Self {
        let exactly = |name: &'a str| JudgeSelector { exactly: Some(name), ..selector };
        let mut members: Vec<PanelMember<'a>> = spec
            .judges
            .iter()
            .map(|judge| PanelMember {
                selector: exactly(&judge.name),
                weight: judge.weight.map_or(1.0, assize_rubric::Weight::get),
            })
            .collect();
        if members.is_empty() {
            members.push(PanelMember { selector, weight: 1.0 });
        }

        Self {
            members,
            repeats: spec.repeats.unwrap_or(1).clamp(1, PanelSpec::MAX_REPEATS),
            combine: spec.combine,
            ties: spec.ties.unwrap_or_default(),
            temperature: spec.temperature,
            probabilities: spec.scoring == Some(ScoringMethod::Logprobs),
            escalate: spec.escalate.as_ref().map(|to| (exactly(&to.to), to.to.as_str(), to.when)),
        }
    }
}
