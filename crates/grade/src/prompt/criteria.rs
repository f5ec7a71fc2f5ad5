//! The part of a request that says what to decide.

use assize_rubric::{Bands, Criterion, EvidencePolicy, Operator, Scale};

use super::block::block;
use super::files::{BATCHED, CHECKLIST, CONTRADICTION, QUOTE, SCORE};
use super::template::fill;

/// How the decision on a criterion looks in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    /// A whole number from 0 to 10 rather than met or unmet.
    pub(crate) score: bool,
    /// Whether "not applicable" is a possible decision.
    pub(crate) may_not_apply: bool,
}

impl Form {
    /// The form of decisions on this criterion.
    pub(crate) fn of(criterion: &Criterion) -> Self {
        Self { score: matches!(criterion.scale, Scale::Bands(_)), may_not_apply: criterion.may_not_apply }
    }

    fn decision(self) -> &'static str {
        match (self.score, self.may_not_apply) {
            (false, false) => r#""met" or "unmet""#,
            (false, true) => r#""met", "unmet" or "not_applicable""#,
            (true, false) => "a whole number from 0 to 10",
            (true, true) => r#"a whole number from 0 to 10, or "not_applicable""#,
        }
    }
}

/// A criterion under the name it has in a batched call.
#[derive(Debug, Clone)]
pub(crate) struct PromptCriterion<'a> {
    /// A name that says nothing and that nobody can guess, such as `c1-7f3a`.
    pub(crate) handle: String,
    /// The criterion behind it.
    pub(crate) criterion: &'a Criterion,
}

const NOT_APPLICABLE: &str = "\nUse \"not_applicable\" only if the situation the criterion speaks of does not arise \
                              in this case, never because the answer leaves something out.\n";

/// The question about one criterion.
pub(crate) fn single_part(criterion: &Criterion, evidence: EvidencePolicy, fence: &str) -> String {
    let decision = Form::of(criterion).decision();
    let text = block("criterion", fence, wording(criterion));
    let text = text.trim_end();
    let mut out = match (&criterion.scale, criterion.operator) {
        (Scale::Bands(bands), _) => {
            let ranges = ranges(bands, fence);
            fill(SCORE, &[("criterion", text), ("ranges", ranges.trim_end()), ("scores", decision)])
        }
        (Scale::Checklist, Operator::Correctness) => {
            fill(CHECKLIST, &[("criterion", text), ("outcomes", decision)])
        }
        (Scale::Checklist, Operator::Contradiction) => {
            fill(CONTRADICTION, &[("criterion", text), ("outcomes", decision)])
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
    let mut forms: Vec<Form> = Vec::new();
    for PromptCriterion { handle, criterion } in asked {
        let form = Form::of(criterion);
        if !forms.contains(&form) {
            forms.push(form);
        }
        let task = match (&criterion.scale, criterion.operator) {
            (Scale::Bands(_), _) => "score how far the answer satisfies this, 0 to 10",
            (Scale::Checklist, Operator::Correctness) => "does the answer meet this?",
            (Scale::Checklist, Operator::Contradiction) => {
                "a statement taken as true; met if nothing in the answer contradicts it (silence is fine), unmet only \
                 if the answer says something that can't be true together with it"
            }
        };
        criteria.extend([handle, ": ", task, "\n"]);
        criteria.push_str(&block("criterion", fence, wording(criterion)));
        if let Scale::Bands(bands) = &criterion.scale {
            criteria.push_str(&ranges(bands, fence));
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
                .filter(|asked| Form::of(asked.criterion) == form)
                .map(|asked| asked.handle.as_str())
                .collect();
            format!(
                "- {}: {{\"id\": \"...\", \"evidence\": [\"quote\", ...], \"reason\": \"...\", \"{member}\": {}}}",
                which.join(", "),
                form.decision()
            )
        })
        .collect::<Vec<_>>()
        .join("\n");
    let count = asked.len().to_string();
    let mut out = fill(
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

/// The criterion in its author's words; criteria that say everything in their ranges point there.
fn wording(criterion: &Criterion) -> &str {
    if criterion.text.trim().is_empty() { "(see the ranges)" } else { &criterion.text }
}

fn ranges(bands: &Bands, fence: &str) -> String {
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
    block("ranges", fence, &lines.join("\n"))
}
