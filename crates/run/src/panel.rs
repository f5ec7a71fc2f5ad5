//! Judges of a grader, and their repeats.

use std::borrow::Cow;

use assize_model::{EscalateWhen, PanelSpec, ScoringMethod};
use assize_rubric::{CriterionScale, PanelRule, TiePolicy};

use crate::JudgeSelector;

/// The panel of a grader after every default and override.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgePanel<'a> {
    /// The judges and their weights; never empty.
    pub(crate) members: Vec<PanelMember<'a>>,
    /// Number of times each judge is asked.
    pub(crate) repeats: u32,
    /// Rule that makes one decision of the votes, if one is named.
    pub(crate) combine: Option<PanelRule>,
    pub(crate) ties: TiePolicy,
    pub(crate) temperature: Option<f64>,
    pub(crate) probabilities: bool,
    /// Judge for decisions the panel is not sure of, and the condition on which it is asked.
    pub(crate) escalate: Option<(JudgeSelector<'a>, &'a str, EscalateWhen)>,
}

/// A judge of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PanelMember<'a> {
    pub(crate) selector: JudgeSelector<'a>,
    pub(crate) weight: f64,
}

impl JudgePanel<'_> {
    /// Returns true if it is one judge that is asked once.
    pub(crate) fn is_single(&self) -> bool {
        self.members.len() == 1 && self.repeats == 1 && self.escalate.is_none()
    }

    /// Rule for votes on this scale.
    pub(crate) fn rule(&self, scale: &CriterionScale) -> PanelRule {
        self.combine.unwrap_or_else(|| PanelRule::default_for(scale))
    }
}

/// Panel settings beside those of the graders themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelSettings {
    command: PanelSpec,
    defaults: PanelSpec,
    /// Both merged for a grader without settings of its own, as most are.
    usual: PanelSpec,
}

impl PanelSettings {
    /// `command` counts whatever graders say, `defaults` where they do not say.
    pub fn new(command: PanelSpec, defaults: PanelSpec) -> Self {
        let usual = merge_specs(&command, PanelSpec::default(), defaults.clone(), None);
        Self { command, defaults, usual }
    }

    /// Merged panel settings of a grader that has these and names this judge.
    pub fn spec(&self, grader: &PanelSpec, named: Option<&str>) -> Cow<'_, PanelSpec> {
        if named.is_none() && *grader == PanelSpec::default() {
            return Cow::Borrowed(&self.usual);
        }
        Cow::Owned(merge_specs(&self.command, grader.clone(), self.defaults.clone(), named))
    }
}

impl Default for PanelSettings {
    fn default() -> Self {
        Self::new(PanelSpec::default(), PanelSpec::default())
    }
}

fn merge_specs(
    command: &PanelSpec,
    mut grader: PanelSpec,
    mut defaults: PanelSpec,
    named: Option<&str>,
) -> PanelSpec {
    // Weights belong to the judges they are written beside: other judges have none of them.
    if !command.judges.is_empty() {
        grader = grader.without_weighted();
        defaults = defaults.without_weighted();
    }

    if named.is_some() && grader.judges.is_empty() {
        // A judge that the grader names itself is its panel.
        defaults = defaults.without_judges();
    }

    command.clone().or(&grader).or(&defaults)
}

/// The judges that a panel may ask, that of the escalation last; `selector` is that of the one judge there would be without
/// a panel.
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
    /// The panel of a grader; `spec` is what [`PanelSettings::spec`] says.
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
