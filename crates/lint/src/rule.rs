//! Definition of a rule.

use assize_diagnostic::DiagnosticCode;
use assize_model::Scorecard;

use crate::finding::FindingCollector;
use crate::view::{CaseView, CriterionView, RubricView};

/// A rule: a kind of mistake, why it is one, and the check that finds it.
#[derive(Debug, Clone, Copy)]
pub struct LintRule {
    /// Code of the rule. The hundreds group the rules: 00 comments, 01 wording, 02 weights and gates, 03
    /// score ranges, 04 the rubric as a whole, 05 the case, 06 rules that only a model can apply, 07
    /// scorecards.
    pub code: DiagnosticCode,
    /// Short name.
    pub name: &'static str,
    /// The problem, in one sentence.
    pub title: &'static str,
    /// Why it matters, and advice, in Markdown.
    pub reason: &'static str,
    /// Source of the claim.
    pub source: &'static str,
    /// An example with the mistake.
    pub bad: RuleExample,
    /// The same example without the mistake.
    pub good: RuleExample,
    /// True if its suggestions keep the meaning, so that they can be applied without asking.
    pub fixes: bool,
    pub(crate) check: RuleCheck,
}

impl LintRule {
    /// Returns the question for a model, if only a model can apply this rule.
    pub const fn question(&self) -> Option<&RuleQuestion> {
        match &self.check {
            RuleCheck::Model(question) => Some(question),
            _ => None,
        }
    }

    /// Returns the section about this rule for the list of rules, in Markdown.
    pub fn to_markdown(&self) -> String {
        let fix = if self.fixes { " `--fix` corrects it where the correction is certain." } else { "" };
        let question =
            self.question().map(|question| format!("\n\nAsked: *{}*", question.text)).unwrap_or_default();
        format!(
            "### {} {}\n\n{} {}{fix}{question}\n\nSource: {}.\n\n```yaml\n# found\n{}\n\n# better\n{}\n```\n",
            self.code,
            self.name,
            self.title,
            self.reason,
            self.source,
            self.bad.unindented(),
            self.good.unindented(),
        )
    }
}

/// A part of an eval file in the `tests` format, or a scorecard.
#[derive(Debug, Clone, Copy)]
pub enum RuleExample {
    /// A list of criteria.
    Criteria(&'static str),
    /// A case with all its keys, as an item of `tests`.
    Case(&'static str),
    /// A single-file scorecard.
    Scorecard(&'static str),
}

impl RuleExample {
    /// Returns the text as shown.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Criteria(text) | Self::Case(text) | Self::Scorecard(text) => text,
        }
    }

    /// Returns the text without the indentation that it has in a file.
    pub fn unindented(self) -> String {
        let text = self.text();
        let indent = text.len() - text.trim_start().len();
        let lines: Vec<&str> = text.trim_end().lines().map(|line| line.get(indent..).unwrap_or("")).collect();
        lines.join("\n")
    }

    /// Returns a complete file that contains the text.
    pub fn file(self) -> String {
        match self {
            Self::Case(text) => format!("tests:\n{text}"),
            Self::Scorecard(text) => text.to_owned(),
            Self::Criteria(text) => {
                let indented: Vec<String> = text.lines().map(|line| format!("          {line}")).collect();
                let indented = indented.join("\n");
                format!(
                    "tests:\n  - id: parcel-advice\n    input: Tell me what matters about parcels.\n    assertions:\n      - \
                     type: rubrics\n        criteria:\n{indented}\n"
                )
            }
        }
    }
}

/// Check of a rule, by the part of a file that it applies to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RuleCheck {
    /// Applied to each criterion.
    Criterion(fn(&CriterionView<'_>, &mut FindingCollector<'_>)),
    /// Applied to each rubric.
    Rubric(fn(&RubricView<'_>, &mut FindingCollector<'_>)),
    /// Applied to each scorecard.
    Scorecard(fn(&Scorecard, &mut FindingCollector<'_>)),
    /// Applied to each case.
    Case(fn(&CaseView<'_>, &mut FindingCollector<'_>)),
    /// Applied to comments, after all findings are known.
    Comments,
    /// Applied by a model.
    Model(RuleQuestion),
}

/// A question to a model about a rubric.
#[derive(Debug, Clone, Copy)]
pub struct RuleQuestion {
    /// Scope of the question.
    pub scope: QuestionScope,
    /// Text of the question. `Yes` is a finding.
    pub text: &'static str,
    /// Label of a finding, in lower case.
    pub found: &'static str,
    /// Advice on how to fix it.
    pub help: &'static str,
}

/// Scope of a question. It determines what a finding must contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionScope {
    /// Each criterion by itself.
    Criterion,
    /// Each criterion together with the expected outcome; only for cases that have one.
    Outcome,
    /// Each criterion that has score ranges.
    Bands,
    /// Two criteria.
    Pair,
    /// The criteria together with the expected outcome. A finding quotes the part of the outcome that no
    /// criterion covers.
    Missing,
    /// All criteria together.
    Unguarded,
}

impl QuestionScope {
    /// Returns true if a finding must name a criterion.
    pub const fn names_criterion(self) -> bool {
        matches!(self, Self::Criterion | Self::Outcome | Self::Bands | Self::Pair)
    }

    /// Returns true if a finding must quote words.
    pub const fn requires_quote(self) -> bool {
        !matches!(self, Self::Unguarded)
    }
}
