//! The part of a request that states the criteria.

use std::borrow::Cow;

use assize_rubric::{Criterion, CriterionOperator, CriterionScale, EvidencePolicy, ScoreBands};

use super::block::format_block;
use super::files::{BATCHED, CHECKLIST, CONTRADICTION, QUOTE, SCORE};
use super::template::fill_template;

/// Form of the decision on a criterion in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DecisionForm {
    /// True for a whole number from 0 to 10, false for met or unmet.
    pub(crate) score: bool,
    /// True if "not applicable" is a possible decision.
    pub(crate) may_not_apply: bool,
}

impl DecisionForm {
    /// The form of decisions on this criterion.
    pub(crate) fn for_criterion(criterion: &Criterion) -> Self {
        Self {
            score: matches!(criterion.scale, CriterionScale::Bands(_)),
            may_not_apply: criterion.may_not_apply,
        }
    }

    fn describe_decision(self) -> &'static str {
        match (self.score, self.may_not_apply) {
            (false, false) => r#""met" or "unmet""#,
            (false, true) => r#""met", "unmet" or "not_applicable""#,
            (true, false) => "a whole number from 0 to 10",
            (true, true) => r#"a whole number from 0 to 10, or "not_applicable""#,
        }
    }
}

/// A criterion with its handle in a batched call.
#[derive(Debug, Clone)]
pub(crate) struct PromptCriterion<'a> {
    /// A handle without meaning that no answer can guess, such as `c1-7f3a`.
    pub(crate) handle: String,
    /// The criterion.
    pub(crate) criterion: &'a Criterion,
}

const NOT_APPLICABLE: &str = "\nUse \"not_applicable\" only if the situation the criterion speaks of does not arise \
                              in this case, never because the answer leaves something out.\n";

/// The question about one criterion.
pub(crate) fn single_part(criterion: &Criterion, evidence: EvidencePolicy, fence: &str) -> String {
    let decision = DecisionForm::for_criterion(criterion).describe_decision();
    let text = format_block("criterion", fence, &criterion_text(criterion));
    let text = text.trim_end();
    let mut out = match (&criterion.scale, criterion.operator) {
        (CriterionScale::Bands(bands), _) => {
            let ranges = format_ranges(bands, fence);
            fill_template(SCORE, &[("criterion", text), ("ranges", ranges.trim_end()), ("scores", decision)])
        }
        (CriterionScale::Checklist, CriterionOperator::Correctness) => {
            fill_template(CHECKLIST, &[("criterion", text), ("outcomes", decision)])
        }
        (CriterionScale::Checklist, CriterionOperator::Contradiction) => {
            fill_template(CONTRADICTION, &[("criterion", text), ("outcomes", decision)])
        }
    };
    if criterion.may_not_apply {
        out.push_str(NOT_APPLICABLE);
    }
    if evidence == EvidencePolicy::Required {
        out.push('\n');
        out.push_str(QUOTE);
    }

    out
}

/// The question about several criteria.
pub(crate) fn batched_part(asked: &[PromptCriterion<'_>], evidence: EvidencePolicy, fence: &str) -> String {
    let mut criteria = String::new();
    let mut forms: Vec<DecisionForm> = Vec::new();
    for PromptCriterion { handle, criterion } in asked {
        let form = DecisionForm::for_criterion(criterion);
        if !forms.contains(&form) {
            forms.push(form);
        }

        let task = match (&criterion.scale, criterion.operator) {
            (CriterionScale::Bands(_), _) => "score how far the answer satisfies this, 0 to 10",
            (CriterionScale::Checklist, CriterionOperator::Correctness) => "does the answer meet this?",
            (CriterionScale::Checklist, CriterionOperator::Contradiction) => {
                "a statement taken as true; met if nothing in the answer contradicts it (silence is fine), unmet only \
                 if the answer says something that can't be true together with it"
            }
        };

        criteria.extend([handle, ": ", task, "\n"]);
        criteria.push_str(&format_block("criterion", fence, &criterion_text(criterion)));

        if let CriterionScale::Bands(bands) = &criterion.scale {
            criteria.push_str(&format_ranges(bands, fence));
        }

        criteria.push('\n');
    }

    let ids = asked.iter().map(|asked| asked.handle.as_str()).collect::<Vec<_>>().join(", ");
    let forms_text = forms
        .iter()
        .map(|&form| {
            let member = if form.score { "score" } else { "outcome" };
            let which: Vec<&str> = asked
                .iter()
                .filter(|asked| DecisionForm::for_criterion(asked.criterion) == form)
                .map(|asked| asked.handle.as_str())
                .collect();
            format!(
                "- {}: {{\"id\": \"...\", \"evidence\": [\"quote\", ...], \"reason\": \"...\", \"{member}\": {}}}",
                which.join(", "),
                form.describe_decision()
            )
        })
        .collect::<Vec<_>>()
        .join("\n");

    let count = asked.len().to_string();
    let mut out = fill_template(
        BATCHED,
        &[("count", &count), ("criteria", criteria.trim_end()), ("ids", &ids), ("forms", &forms_text)],
    );
    if asked.iter().any(|asked| asked.criterion.may_not_apply) {
        out.push_str(NOT_APPLICABLE);
    }
    if evidence == EvidencePolicy::Required {
        out.push('\n');
        out.push_str(&QUOTE.replace("this decision", "each decision"));
    }

    out
}

/// The author's text of the criterion. Without a text, the id says what the ranges are about.
pub(super) fn criterion_text(criterion: &Criterion) -> Cow<'_, str> {
    if criterion.text.trim().is_empty() {
        Cow::Owned(criterion.id.as_str().replace(['-', '_'], " "))
    } else {
        Cow::Borrowed(&criterion.text)
    }
}

/// The score ranges of a criterion in a block.
pub(super) fn format_ranges(bands: &ScoreBands, fence: &str) -> String {
    let lines: Vec<String> = bands
        .as_slice()
        .iter()
        .map(|band| {
            let (low, high) = (band.low.get(), band.high.get());
            if low == high {
                format!("{low}: {}", band.text)
            } else {
                format!("{low} to {high}: {}", band.text)
            }
        })
        .collect();
    format_block("ranges", fence, &lines.join("\n"))
}
