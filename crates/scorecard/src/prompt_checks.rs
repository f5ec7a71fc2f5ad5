//! Checks of a judge's prompt.

use std::ops::Range;

use assize_diagnostic::{Diagnostic, SourceId, Span};
use assize_document::codes;
use assize_evalfile::reading::DecodeContext;

use super::prompt::{ParsedPrompt, PromptCondition, PromptPart};

/// Checks the parts of a prompt file.
pub(super) fn check_prompt(cx: &mut DecodeContext, source: SourceId, prompt: &ParsedPrompt) {
    let mut checks = PromptChecker { cx, source, prompt };
    checks.check_missing_parts();
    checks.check_behaviours();
    checks.check_conditions();
    checks.check_order();
}

struct PromptChecker<'a> {
    cx: &'a mut DecodeContext,
    source: SourceId,
    prompt: &'a ParsedPrompt,
}

impl PromptChecker<'_> {
    fn span(&self, place: &Range<usize>) -> Span {
        Span::new(self.source, place.start, place.end)
    }

    fn beginning(&self) -> Span {
        Span::new(self.source, 0, 0)
    }

    fn check_missing_parts(&mut self) {
        let lists = [
            (PromptPart::Fail, "Automatic fail if any of the following are true:", &self.prompt.fails),
            (PromptPart::Pass, "Pass conditions (all must be satisfied):", &self.prompt.passes),
        ];
        let (mut lacking, mut advised_lists) = (Vec::new(), Vec::new());
        if self.prompt.behaviours.iter().all(|item| item.text.is_empty()) {
            let at = self
                .prompt
                .find_part(PromptPart::Behaviour)
                .map_or(self.beginning(), |place| self.span(&place));
            lacking.push((at, "BEHAVIOR:", "names no behaviour"));
        }

        // If a prompt names its behaviour, missing lists are only warnings, because it can be sent without them. A
        // prompt without a behaviour and lists can't be sent.
        let missing_lists = if lacking.is_empty() { &mut advised_lists } else { &mut lacking };
        for (part, heading, items) in lists {
            match (self.prompt.find_part(part), items.is_empty()) {
                (Some(place), true) => {
                    missing_lists.push((self.span(&place), heading, "empty list"));
                }
                (None, _) => missing_lists.push((self.beginning(), heading, "not in this file")),
                _ => {}
            }
        }

        for (at, heading, found) in advised_lists {
            Diagnostic::warning(codes::PROMPT_LIST_ADVISED, format!("the prompt lacks `{heading}`"))
                .at(at, found)
                .with_help(
                    "the judge works without it, but judges agree more often with a list of conditions",
                )
                .add_to(&mut self.cx.problems);
        }

        for (at, heading, found) in lacking {
            Diagnostic::error(codes::PROMPT_PART_MISSING, format!("the prompt lacks `{heading}`"))
                .at(at, found)
                .with_help("the judge decides by this part; add it with at least one entry")
                .add_to(&mut self.cx.problems);
        }

        let advised = [
            (PromptPart::System, "SYSTEM:"),
            (PromptPart::Description, "DESCRIPTION:"),
            (PromptPart::Scope, "EVALUATION SCOPE:"),
            (PromptPart::Include, "Include:"),
            (PromptPart::Ignore, "Ignore:"),
            (PromptPart::Rubric, "RUBRIC"),
            (PromptPart::Variations, "Acceptable variations (still treated as pass):"),
            (PromptPart::Uncertainty, "Uncertainty policy:"),
        ];

        let mut absent: Vec<String> = advised
            .into_iter()
            .filter(|(part, _)| self.prompt.find_part(*part).is_none())
            .map(|(_, heading)| format!("`{heading}`"))
            .collect();
        if !self.prompt.asks_json {
            absent.push("a line that asks for JSON".to_owned());
        }

        if !absent.is_empty() {
            Diagnostic::warning(codes::PROMPT_PART_ADVISED, "the prompt is not complete")
                .at(self.beginning(), format!("without {}", absent.join(", ")))
                .with_help("judges agree more often with people when a prompt is complete")
                .add_to(&mut self.cx.problems);
        }
    }

    fn check_behaviours(&mut self) {
        let named: Vec<&PromptCondition> =
            self.prompt.behaviours.iter().filter(|item| !item.text.is_empty()).collect();
        let joined = |text: &str| {
            let folded = text.to_ascii_lowercase();
            [" and ", " & ", ", ", "; "].iter().find(|joint| folded.contains(**joint)).copied()
        };
        let help = "a prompt decides one behaviour with yes or no: write a benchmark with a prompt for each";
        match named.as_slice() {
            [first, second, ..] => Diagnostic::error(
                codes::SEVERAL_BEHAVIOURS,
                format!("the prompt asks about {} behaviours", named.len()),
            )
            .at(self.span(&second.place), "another one")
            .with_secondary(self.span(&first.place), "the first one")
            .with_help(help)
            .add_to(&mut self.cx.problems),
            [only] => {
                if let Some(joint) = joined(&only.text) {
                    Diagnostic::error(codes::SEVERAL_BEHAVIOURS, "the prompt asks about several behaviours")
                        .at(self.span(&only.place), format!("joined by `{}`", joint.trim()))
                        .with_help(help)
                        .add_to(&mut self.cx.problems);
                }
            }
            [] => {}
        }
    }

    fn check_conditions(&mut self) {
        let bare = self.prompt.passes.iter().filter(|item| !item.numbered);
        if let Some(first) = bare.clone().next() {
            let count = bare.count();
            let label =
                if count == 1 { "no number here".to_owned() } else { format!("the first of {count}") };
            Diagnostic::warning(codes::NOT_NUMBERED, "pass conditions are not numbered")
                .at(self.span(&first.place), label)
                .with_help("all of them must hold; begin each with `1.`, `2.` and so on")
                .add_to(&mut self.cx.problems);
        }

        for (index, item) in self.prompt.fails.iter().enumerate() {
            let text = item.text.to_ascii_lowercase();
            if self.prompt.fails.len() > 1 && blames_source(&text) {
                self.report_split(&item.place, "only about the source");
                continue;
            }

            let first_words = text.trim_start_matches(|c: char| !c.is_alphanumeric());
            let continues = index > 0 && first_words.starts_with("and ");
            let ending = text.trim_end_matches(|c: char| !c.is_alphanumeric());
            let goes_on = ending.ends_with(" and") && index + 1 < self.prompt.fails.len();
            if continues || goes_on {
                let label =
                    if continues { "continues the bullet before" } else { "continues in the next bullet" };
                self.report_split(&item.place, label);
            }
        }
    }

    fn report_split(&mut self, place: &Range<usize>, label: &str) {
        Diagnostic::warning(codes::AND_SPLIT, "one condition seems to be split over several bullets")
            .at(self.span(place), label)
            .with_note("each bullet of this list fails the answer by itself")
            .with_help("put conditions that only fail together into one bullet")
            .add_to(&mut self.cx.problems);
    }

    fn check_order(&mut self) {
        let mut highest: Option<(PromptPart, Range<usize>)> = None;
        for (part, place) in &self.prompt.parts {
            if let Some((before, first)) = &highest
                && part < before
            {
                Diagnostic::warning(codes::PROMPT_ORDER, "the parts of the prompt are in an unusual order")
                    .at(self.span(place), "usually comes earlier")
                    .with_secondary(self.span(first), "usually comes after it")
                    .with_help("SYSTEM, BEHAVIOR, DESCRIPTION, EVALUATION SCOPE, RUBRIC, INPUTS")
                    .add_to(&mut self.cx.problems);
                return;
            }
            highest = Some((*part, place.clone()));
        }
    }
}

/// Returns true if a fail condition, given in lower case, only states that the source lacks something. That alone is
/// not a fault of the answer, so the line probably belongs to the bullet before it.
fn blames_source(text: &str) -> bool {
    const SOURCES: [&str; 3] = ["narrative", "source", "transcript"];
    const OUTPUT_WORDS: [&str; 14] = [
        "output", "record", "report", "document", "draft", "answer", "candidate", "states", "adds", "added",
        "claims", "contains", "includes", "invent",
    ];

    let lacks =
        ["not in", "not in the", "absent from", "absent from the", "missing from", "missing from the"];
    let is_about_source =
        SOURCES.iter().any(|source| lacks.iter().any(|words| text.contains(&format!("{words} {source}"))))
            || SOURCES.iter().any(|source| {
                ["does not mention", "does not state", "does not explain", "says nothing"]
                    .iter()
                    .any(|words| text.contains(&format!("{source} {words}")))
            });

    is_about_source && !OUTPUT_WORDS.iter().any(|word| text.contains(word))
}
