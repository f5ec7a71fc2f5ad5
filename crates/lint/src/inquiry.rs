//! Inquiries to a model about a rubric, and the model's findings.

use std::collections::HashSet;

use assize_diagnostic::{Diagnostic, DiagnosticCode, Span};
use assize_model::{CriterionMarks, FilePosition, SourceMark};

use crate::finding::FindingCollector;
use crate::rule::{LintRule, QuestionScope};
use crate::rules::RULES;
use crate::view::{CriterionView, RubricView};

/// A rubric as a model sees it, with its context.
#[derive(Debug, Clone, PartialEq)]
pub struct LintInquiry {
    /// Id of the case that the rubric belongs to. `None` if it belongs to the suite or is in a file of its own.
    pub case: Option<String>,
    /// Where the rubric begins.
    pub place: Option<FilePosition>,
    /// Question to the target; empty without a case.
    pub question: String,
    /// Expected outcome of the case; empty if there is none.
    pub expected_outcome: String,
    /// Reference answer; empty if there is none.
    pub reference: String,
    /// Criteria, in order. Never empty.
    pub criteria: Vec<InquiryCriterion>,
    marks: Vec<CriterionMarks>,
    outcome_mark: Option<SourceMark>,
}

/// A criterion as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct InquiryCriterion {
    /// Text of the criterion.
    pub text: String,
    /// Weight; negative for a penalty.
    pub weight: f64,
    /// True if an answer that misses the criterion, or its minimum, fails.
    pub required: bool,
    /// For each score range, its lowest score, its highest score and its text. Empty for a checklist criterion.
    pub bands: Vec<(u8, u8, String)>,
}

/// A problem that a model found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFinding {
    /// Code of the rule.
    pub rule: DiagnosticCode,
    /// Index of the criterion.
    pub criterion: Option<usize>,
    /// Index of the other criterion of a pair.
    pub other: Option<usize>,
    /// Quoted words of the criterion, or of the expected outcome.
    pub quote: String,
    /// Reason in the model's words.
    pub reason: String,
}

impl LintInquiry {
    fn from_view(view: &RubricView<'_>) -> Self {
        let case = view.own_case();
        let convert = |criterion: CriterionView<'_>| InquiryCriterion {
            text: criterion.text().to_owned(),
            weight: criterion.weight(),
            required: criterion.criterion().gate.is_some(),
            bands: criterion.bands().map_or_else(Vec::new, |bands| {
                bands
                    .as_slice()
                    .iter()
                    .map(|band| (band.low.get(), band.high.get(), band.text.clone()))
                    .collect()
            }),
        };

        let marks = view.grader.marks.clone();
        let head = marks.first().and_then(|marks| marks.head.as_ref());
        Self {
            case: case.map(|case| case.id.to_string()),
            place: head.map(|mark| mark.place.clone()),
            question: case.map(assize_model::Case::question).unwrap_or_default(),
            expected_outcome: case.and_then(|case| case.expected_outcome.clone()).unwrap_or_default(),
            reference: case.and_then(assize_model::Case::reference).unwrap_or_default(),
            criteria: view.criteria().map(convert).collect(),
            outcome_mark: case.and_then(|case| case.marks.expected_outcome.clone()),
            marks,
        }
    }

    /// Returns the model rules that apply to this rubric and that `wanted` accepts.
    pub fn applicable_rules(&self, wanted: impl Fn(DiagnosticCode) -> bool) -> Vec<&'static LintRule> {
        let fits = |scope| match scope {
            QuestionScope::Criterion | QuestionScope::Unguarded => true,
            QuestionScope::Outcome | QuestionScope::Missing => !self.expected_outcome.trim().is_empty(),
            QuestionScope::Bands => self.criteria.iter().any(|criterion| !criterion.bands.is_empty()),
            QuestionScope::Pair => self.criteria.len() > 1,
        };

        let applies = |rule: &&LintRule| {
            rule.question().is_some_and(|question| fits(question.scope)) && wanted(rule.code)
        };
        RULES.iter().filter(applies).collect()
    }

    /// Returns the mark of the criterion of a finding. A comment above it may allow the finding.
    pub(crate) fn head_mark(&self, finding: &ModelFinding) -> Option<&SourceMark> {
        self.marks.get(finding.criterion.unwrap_or(0))?.head.as_ref()
    }

    pub(crate) fn report_finding(&self, finding: &ModelFinding, out: &mut FindingCollector<'_>) {
        let rule = RULES.iter().find(|rule| rule.code == finding.rule);
        let Some((rule, question)) = rule.and_then(|rule| Some((rule, rule.question()?))) else { return };
        let index = finding.criterion.unwrap_or(0);
        let Some(marks) = self.marks.get(index) else { return };
        let text_mark = marks.text.as_ref().or(marks.head.as_ref());
        let span = match question.scope {
            QuestionScope::Missing => {
                quoted_span(self.outcome_mark.as_ref(), &self.expected_outcome, finding, out)
            }
            QuestionScope::Unguarded => out.span(marks.head.as_ref()),
            QuestionScope::Criterion
            | QuestionScope::Outcome
            | QuestionScope::Bands
            | QuestionScope::Pair => quoted_span(text_mark, &self.criteria[index].text, finding, out),
        };

        let Some(span) = span.or_else(|| out.span(marks.head.as_ref())) else { return };
        let other = finding.other.filter(|_| question.scope == QuestionScope::Pair);
        let other = other.and_then(|other| self.marks.get(other)?.text.clone());
        let mut diagnostic = Diagnostic::warning(rule.code, question.found)
            .at(span, "")
            .with_note(format!("the model: {}", finding.reason))
            .with_help(question.help);
        if let Some(other) = out.span(other.as_ref()).filter(|other| *other != span) {
            diagnostic = diagnostic.with_secondary(other, "the other one");
        }

        diagnostic.add_to(out);
    }
}

/// Returns the span of the quoted words if they are found, else of the whole text.
fn quoted_span(
    mark: Option<&SourceMark>,
    text: &str,
    finding: &ModelFinding,
    out: &mut FindingCollector<'_>,
) -> Option<Span> {
    let found = text.find(&finding.quote).filter(|_| !finding.quote.is_empty());
    match found {
        Some(at) => out.part_span(mark, text, at..at + finding.quote.len()),
        None => out.span(mark),
    }
}

/// Inquiries collected while rubrics are checked.
#[derive(Default)]
pub(crate) struct InquiryCollector {
    pub(crate) list: Vec<LintInquiry>,
    /// Where each rubric on the list begins. A rubric of the suite is visited again with every case.
    seen: HashSet<SourceMark>,
}

impl InquiryCollector {
    pub(crate) fn add_rubric(&mut self, view: &RubricView<'_>) {
        let inquiry = LintInquiry::from_view(view);
        let head = inquiry.marks.first().and_then(|marks| marks.head.clone());
        if head.is_some_and(|head| self.seen.insert(head)) {
            self.list.push(inquiry);
        }
    }
}
