//! Who judges for a grader, and how often.

use assize_rubric::{PanelRule, Scale, Ties};
use assize_spec::{EscalateWhen, PanelSpec, Scoring};

use crate::item::{JudgeWish, WorkItem};

/// The panel of a grader after every default and override.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel<'a> {
    /// The judges and their weights; never empty.
    pub(crate) members: Vec<Member<'a>>,
    /// How often each is asked.
    pub(crate) repeats: u32,
    /// How votes become one decision, if anybody says.
    pub(crate) combine: Option<PanelRule>,
    pub(crate) ties: Ties,
    pub(crate) temperature: Option<f64>,
    pub(crate) probabilities: bool,
    /// Who is asked where the panel is not sure, and when that is.
    pub(crate) escalate: Option<(JudgeWish<'a>, &'a str, EscalateWhen)>,
}

/// A judge of a panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Member<'a> {
    pub(crate) wish: JudgeWish<'a>,
    pub(crate) weight: f64,
}

impl Panel<'_> {
    /// Whether it is one judge that is asked once.
    pub(crate) fn is_single(&self) -> bool {
        self.members.len() == 1 && self.repeats == 1 && self.escalate.is_none()
    }

    /// How votes on this scale become one decision.
    pub(crate) fn rule(&self, scale: &Scale) -> PanelRule {
        self.combine.unwrap_or_else(|| PanelRule::usual(scale))
    }
}

impl WorkItem {
    /// What is said about the panel of a grader that says this of it and names this judge, all in all.
    pub fn panel_spec(&self, grader: &PanelSpec, named: Option<&str>) -> PanelSpec {
        let (command, mut rest) = (&self.panel_override, self.panel.clone());
        // Weights belong to the judges they are written beside: other judges have none of them.
        let weightless = |rule: &PanelRule| *rule != PanelRule::Weighted;
        let mut grader = grader.clone();
        if !command.judges.is_empty() {
            (grader.combine, rest.combine) =
                (grader.combine.filter(weightless), rest.combine.filter(weightless));
        }
        if named.is_some() && grader.judges.is_empty() {
            // A judge that the grader names itself is its panel.
            rest.judges.clear();
            rest.combine = rest.combine.filter(weightless);
        }
        command.clone().or(&grader).or(&rest)
    }

    /// The judges that may be asked for a grader that says this of its panel and names this judge, that of the
    /// escalation last.
    pub fn panel_wishes<'a>(&'a self, spec: &'a PanelSpec, named: Option<&'a str>) -> Vec<JudgeWish<'a>> {
        let panel = self.panel_of(spec, named);
        panel.members.iter().map(|member| member.wish).chain(panel.escalate.map(|(wish, ..)| wish)).collect()
    }

    /// The panel of a grader; `spec` is what [`WorkItem::panel_spec`] says.
    pub(crate) fn panel_of<'a>(&'a self, spec: &'a PanelSpec, named: Option<&'a str>) -> Panel<'a> {
        let wish = self.judge_wish(named);
        let exactly = |name: &'a str| JudgeWish { exactly: Some(name), ..wish };
        let mut members: Vec<Member<'a>> = spec
            .judges
            .iter()
            .map(|judge| Member {
                wish: exactly(&judge.name),
                weight: judge.weight.map_or(1.0, assize_rubric::Weight::get),
            })
            .collect();
        if members.is_empty() {
            members.push(Member { wish, weight: 1.0 });
        }
        Panel {
            members,
            repeats: spec.repeats.unwrap_or(1).clamp(1, PanelSpec::MAX_REPEATS),
            combine: spec.combine,
            ties: spec.ties.unwrap_or_default(),
            temperature: spec.temperature,
            probabilities: spec.scoring == Some(Scoring::Logprobs),
            escalate: spec.escalate.as_ref().map(|to| (exactly(&to.to), to.to.as_str(), to.when)),
        }
    }
}
