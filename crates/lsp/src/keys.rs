//! The keys of eval files and rubric files with what they mean: what hover shows and completion offers.

/// The part of a file that keys stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The top of an eval file.
    Suite,
    /// `execution`.
    Execution,
    /// An item of `tests` or `evalcases`.
    Case,
    /// A message of an input or an answer.
    Message,
    /// An item of `assertions` or `evaluators`.
    Grader,
    /// An item of `criteria` or `rubrics`.
    Criterion,
    /// An item of `score_ranges`.
    ScoreRange,
    /// The top of a rubric file.
    Rubric,
    /// Somewhere else.
    Other,
}

/// A key.
pub(crate) struct Key {
    pub(crate) section: Section,
    pub(crate) name: &'static str,
    /// What it means, in Markdown.
    pub(crate) about: &'static str,
    /// The words it takes, if they are few.
    pub(crate) values: &'static [&'static str],
}

const fn key(section: Section, name: &'static str, about: &'static str) -> Key {
    Key { section, name, about, values: &[] }
}

const fn word(
    section: Section,
    name: &'static str,
    about: &'static str,
    values: &'static [&'static str],
) -> Key {
    Key { section, name, about, values }
}

const YES_NO: &[&str] = &["true", "false"];
const JUDGING: &[&str] = &["per-criterion", "batched"];
const EVIDENCE: &[&str] = &["checked", "required"];
const TRUNCATE: &[&str] = &["never", "head", "tail", "middle", "chunk"];
const TYPES: &[&str] = &[
    "rubrics",
    "llm-grader",
    "pairwise",
    "code-grader",
    "contains",
    "contains-any",
    "contains-all",
    "icontains",
    "icontains-any",
    "icontains-all",
    "starts-with",
    "ends-with",
    "equals",
    "regex",
    "is-json",
    "field-accuracy",
    "tool-trajectory",
    "latency",
    "cost",
    "token-usage",
    "execution-metrics",
    "skill-trigger",
    "composite",
];

use Section::{Case, Criterion, Execution, Grader, Message, Rubric, ScoreRange, Suite};

/// Every key that is explained.
pub(crate) const KEYS: &[Key] = &[
    key(Suite, "name", "Name of the suite in results; the file name without its endings unless given."),
    key(Suite, "description", "What the suite is about."),
    key(Suite, "tags", "Labels for `--tag`; they count for all its cases."),
    key(Suite, "metadata", "Free data, kept with the results."),
    key(Suite, "tests", "The cases (format 2): a list, or the path of a file or folder that holds them."),
    key(Suite, "evalcases", "The cases (format 1): a list, or the path of a file or folder that holds them."),
    key(Suite, "input", "Messages before those of each case."),
    key(Suite, "input_files", "Attachments of cases that have none of their own."),
    key(Suite, "assertions", "Graders of each case, added after its own."),
    key(Suite, "execution", "Settings of the run: target, judge, lines, workers."),
    key(Suite, "threshold", "The pass line, 0 to 1; 0.8 unless given."),
    key(Suite, "borderline", "The line below the pass line, 0 to 1: scores between the two are borderline."),
    key(Execution, "target", "Name of the target that answers, from the targets file."),
    key(
        Execution,
        "targets",
        "Several targets: names, or maps `{name, use_target}`; each case is run against each.",
    ),
    key(Execution, "workers", "Cases at once, 1 to 50."),
    key(Execution, "threshold", "The pass line, 0 to 1; 0.8 unless given."),
    key(Execution, "borderline", "The line below the pass line, 0 to 1."),
    key(
        Execution,
        "judge",
        "Who judges: a model such as `openai:gpt-4o-mini`, the name of a target, or `offline`.",
    ),
    word(
        Execution,
        "judging",
        "Criteria in one judge call: one (`per-criterion`), or several (`batched`).",
        JUDGING,
    ),
    word(Execution, "evidence", "Whether a decision needs a quote that is found in the answer.", EVIDENCE),
    word(Execution, "truncate", "What is done when a judge can't read all of the material.", TRUNCATE),
    key(Execution, "panel", "Several judges, repeats, escalation."),
    key(Execution, "budget_usd", "US dollars that the run may spend."),
    key(Case, "id", "Unique in its suite. A text: numbers need quotes."),
    key(Case, "input", "What is asked: a text (one user message) or a list of messages."),
    key(Case, "input_messages", "What is asked, as messages (format 1)."),
    key(Case, "output", "The answer itself, if it is already there: no target is run then."),
    key(Case, "criteria", "What a good answer does, in a sentence (format 2); shown to the judge."),
    key(Case, "expected_outcome", "What a good answer does, in a sentence (format 1); shown to the judge."),
    key(Case, "expected_output", "An example of a good answer; shown to the judge."),
    key(Case, "expected_messages", "An example of a good answer, as messages (format 1)."),
    key(Case, "assertions", "Graders of this case. A plain text is a required criterion."),
    key(Case, "rubrics", "Criteria: the short form of one rubrics grader."),
    key(Case, "input_files", "Paths put before the text of the last user message."),
    key(Case, "vars", "Values for `{{ name }}` in the texts of the case."),
    key(Case, "tags", "Labels for `--tag`."),
    key(Case, "metadata", "Free data. `cluster` names what cases of the same origin share."),
    key(Case, "execution", "Settings of this case: target, lines, `skip_defaults`."),
    key(Case, "conversation_id", "The conversation this case is a part of."),
    word(Message, "role", "Who speaks.", &["system", "user", "assistant", "tool"]),
    key(Message, "content", "A text, an object, or a list of blocks."),
    word(
        Grader,
        "type",
        "Which grader this is; a name of your own is a program in `.assize/graders`.",
        TYPES,
    ),
    key(Grader, "name", "Name in results; the type unless given."),
    key(Grader, "weight", "Weight in the case's score, 0 or more; 1 unless given."),
    word(Grader, "required", "Whether the case fails if the grader stays below its line.", YES_NO),
    key(Grader, "min_score", "The grader's own line, above 0 and at most 1."),
    word(Grader, "negate", "Turns score and verdict around.", YES_NO),
    key(Grader, "include", "A template whose graders are put in: `.assize/templates/NAME.yaml`, or a path."),
    key(
        Grader,
        "criteria",
        "The criteria of a rubrics grader; of a `pairwise` grader, what makes an answer the better one.",
    ),
    word(Grader, "judging", "Criteria in one judge call.", JUDGING),
    word(Grader, "evidence", "Whether a decision needs a quote that is found in the answer.", EVIDENCE),
    word(Grader, "truncate", "What is done when a judge can't read all of the material.", TRUNCATE),
    key(Grader, "judge", "Who judges for this grader."),
    key(Grader, "prompt", "The prompt of an `llm-grader`: a text, or the path of a file."),
    key(
        Grader,
        "baseline",
        "What a `pairwise` grader compares the answer with: `reference`, a text, or `{run: RUN}`.",
    ),
    key(Grader, "tie_score", "What a tie is worth to a `pairwise` grader; 0.5 unless given."),
    key(
        Grader,
        "inconsistent_score",
        "What orders that disagree are worth to a `pairwise` grader; 0.5 unless given.",
    ),
    key(Grader, "value", "What the answer is compared with."),
    key(Grader, "command", "The program of a `code-grader`: a list, or a text for `sh`."),
    key(Criterion, "id", "Unique in its rubric; `rubric-N` by position unless given."),
    key(
        Criterion,
        "outcome",
        "What is checked, in a sentence (format 2). One thing that can be seen in the answer.",
    ),
    key(Criterion, "expected_outcome", "What is checked, in a sentence (format 1)."),
    key(
        Criterion,
        "weight",
        "Share in the score against the other criteria; 1 unless given. Negative: a penalty when met.",
    ),
    word(
        Criterion,
        "required",
        "Whether the case fails without it. By default `true` for a plain text and in format 1, `false` for a map in format 2.",
        YES_NO,
    ),
    key(Criterion, "min_score", "Lowest value that will do, 0 to 1."),
    key(Criterion, "required_min_score", "Lowest raw score that will do, 0 to 10; needs `score_ranges`."),
    key(
        Criterion,
        "score_ranges",
        "Makes it a criterion scored 0 to 10: ranges without gap or overlap, each with a text.",
    ),
    word(
        Criterion,
        "operator",
        "`contradiction`: the text is a fact, met as long as nothing contradicts it.",
        &["correctness", "contradiction"],
    ),
    word(Criterion, "allow_not_applicable", "Whether the judge may answer \"not applicable\".", YES_NO),
    key(ScoreRange, "score_range", "`[LOW, HIGH]`: whole numbers from 0 to 10, both included."),
    key(ScoreRange, "outcome", "What an answer in this range is like (format 2)."),
    key(ScoreRange, "expected_outcome", "What an answer in this range is like (format 1)."),
    key(Rubric, "name", "Name of the rubric; the file name unless given."),
    key(Rubric, "description", "What the rubric is about."),
    key(Rubric, "criteria", "The criteria."),
    key(Rubric, "rubrics", "The criteria (format 1)."),
    key(Rubric, "threshold", "The pass line, 0 to 1; 0.8 unless given."),
    key(Rubric, "borderline", "The line below the pass line, 0 to 1."),
    word(Rubric, "judging", "Criteria in one judge call.", JUDGING),
    word(Rubric, "evidence", "Whether a decision needs a quote that is found in the answer.", EVIDENCE),
    word(Rubric, "truncate", "What is done when a judge can't read all of the material.", TRUNCATE),
    key(Rubric, "judge", "Who judges."),
    key(Rubric, "panel", "Several judges, repeats, escalation."),
];

/// The keys of a section.
pub(crate) fn of(section: Section) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section == section)
}

/// What a key means in a section.
pub(crate) fn find(section: Section, name: &str) -> Option<&'static Key> {
    of(section).find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use assize_spec::{LoadOptions, codes, read_rubric, read_suite};

    use super::*;

    /// A file with the key in its place.
    fn file(key: &Key, value: &str) -> Option<String> {
        let line = format!("{}: {value}", key.name);
        Some(match key.section {
            Section::Suite => format!("{line}\ntests: []\n"),
            Section::Execution => format!("execution:\n  {line}\ntests: []\n"),
            Section::Case => format!("tests:\n  - {line}\n"),
            Section::Message => format!("tests:\n  - id: a\n    input:\n      - {line}\n"),
            // Which other keys a grader takes depends on its type.
            Section::Grader if matches!(key.name, "type" | "include" | "prompt" | "value" | "command") => {
                return None;
            }
            Section::Grader if matches!(key.name, "baseline" | "tie_score" | "inconsistent_score") => {
                format!("tests:\n  - id: a\n    assertions:\n      - type: pairwise\n        {line}\n")
            }
            Section::Grader => {
                format!("tests:\n  - id: a\n    assertions:\n      - type: rubrics\n        {line}\n")
            }
            Section::Criterion => format!("tests:\n  - id: a\n    rubrics:\n      - {line}\n"),
            Section::ScoreRange => {
                format!(
                    "tests:\n  - id: a\n    rubrics:\n      - id: b\n        score_ranges:\n          - {line}\n"
                )
            }
            Section::Rubric => format!("{line}\n"),
            Section::Other => return None,
        })
    }

    #[test]
    fn every_key_and_word_is_known_to_the_loader() {
        let options = LoadOptions {
            environment: Arc::new(|_| None),
            working_folder: "/".into(),
            extra_roots: Vec::new(),
        };
        for key in KEYS {
            for value in key.values.iter().copied().chain(["x"]) {
                let Some(text) = file(key, value) else { continue };
                let found = match key.section {
                    Section::Rubric => read_rubric(Path::new("a.yaml"), &text).diagnostics,
                    _ => read_suite(Path::new("a.yaml"), &text, &options).diagnostics,
                };
                let unknown = found.iter().any(|diagnostic| diagnostic.code == codes::UNKNOWN_KEY);
                assert!(!unknown, "{text}\n{found:?}");
                let refused = found.iter().any(|diagnostic| diagnostic.title.contains(value));
                assert!(value == "x" || !refused, "{text}\n{found:?}");
            }
        }
    }
}
