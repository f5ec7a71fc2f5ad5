//! What a rule is.

use assize_diagnostic::Code;
use assize_evalfile::Scorecard;

use crate::report::Report;
use crate::view::{CaseView, CriterionView, RubricView};

/// A rule: a kind of mistake, why it is one, and how it is found.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its code. The hundreds group the rules: 00 comments, 01 wording, 02 weights and gates, 03 score
    /// ranges, 04 the rubric as a whole, 05 the case, 06 what only a model can tell, 07 scorecards.
    pub code: Code,
    /// A short name.
    pub name: &'static str,
    /// What is wrong, in one sentence.
    pub title: &'static str,
    /// Why it matters and what to do, in Markdown.
    pub reason: &'static str,
    /// Where that is known from.
    pub source: &'static str,
    /// What the rule finds.
    pub bad: Example,
    /// The same put right.
    pub good: Example,
    /// Whether its suggestions keep the meaning, so that they may be carried out without asking.
    pub fixes: bool,
    pub(crate) check: Check,
}

impl Rule {
    /// What a model is asked, if only a model can apply this rule.
    pub const fn question(&self) -> Option<&Question> {
        match &self.check {
            Check::Model(question) => Some(question),
            _ => None,
        }
    }
}

/// A piece of an eval file of format 2, or a scorecard.
#[derive(Debug, Clone, Copy)]
pub enum Example {
    /// A list of criteria.
    Criteria(&'static str),
    /// A case with all its keys, as an item of `tests`.
    Case(&'static str),
    /// A scorecard in one file.
    Scorecard(&'static str),
}

impl Example {
    /// The text as shown.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Criteria(text) | Self::Case(text) | Self::Scorecard(text) => text,
        }
    }

    /// A whole file around it.
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

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// Each criterion by itself.
    Criterion(fn(&CriterionView<'_>, &mut Report<'_>)),
    /// Each rubric.
    Rubric(fn(&RubricView<'_>, &mut Report<'_>)),
    /// Each scorecard.
    Scorecard(fn(&Scorecard, &mut Report<'_>)),
    /// Each case.
    Case(fn(&CaseView<'_>, &mut Report<'_>)),
    /// Comments: checked when all findings are known.
    Comments,
    /// What only a model can tell.
    Model(Question),
}

/// What a model is asked about a rubric.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// What the question is about.
    pub scope: Scope,
    /// The question. `Yes` is a finding.
    pub text: &'static str,
    /// What is said about a finding, in lower case.
    pub found: &'static str,
    /// What to do about it.
    pub help: &'static str,
}

/// What a question is about, and so what a finding must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each criterion by itself.
    Criterion,
    /// Each criterion beside what its case expects; only where a case says what it expects.
    Outcome,
    /// Each criterion that has score ranges.
    Bands,
    /// Two criteria.
    Pair,
    /// The criteria together, beside what the case expects: what is lacking is quoted from there.
    Missing,
    /// The criteria together.
    Unguarded,
}

impl Scope {
    /// Whether a finding names a criterion.
    pub const fn names_criterion(self) -> bool {
        matches!(self, Self::Criterion | Self::Outcome | Self::Bands | Self::Pair)
    }

    /// Whether a finding quotes the words that it is about.
    pub const fn quotes(self) -> bool {
        !matches!(self, Self::Unguarded)
    }
}
