//! What the result of a case rests on, as one hash: a case with the same hash need not be run again.

use std::fmt;
use std::io::Write as _;

use assize_evalfile::{
    Baseline, Case, Command, CompositeAggregator, Conversation, Grader, GraderKind, Message, PairwiseGrader,
    PanelSpec, Prompt, RubricGrader,
};
use assize_rubric::{Criterion, GraderStanding, Operator, Scale, Tokens};
use assize_targets::Answer;
use serde_json::Value;

use crate::material::target_input;
use crate::panel::panel_wishes;
use crate::{Source, WorkItem};

/// Version of what is hashed. Raised when the same inputs would lead to other results.
const VERSION: &str = "5";

/// Room for the fields of a usual case.
const USUAL_BYTES: usize = 4096;

/// The hash of everything that decides about an item's result, in hexadecimal: the case as targets and judges see it,
/// its graders and lines, the target's settings, the answer if it was given, and who judges how.
///
/// Places in files have no part in it: moving a case within its file changes nothing. Neither has what is inside the
/// programs that commands run.
pub fn fingerprint(item: &WorkItem) -> String {
    let mut hash = Fields(Vec::with_capacity(USUAL_BYTES));
    let case = &item.case;
    hash.field(VERSION);
    hash.field(&item.suite);
    hash.perhaps(item.format);
    hash.number(item.repeat.into());
    hash.number(item.lines.pass().get().to_bits());
    hash.perhaps(item.lines.borderline());
    hash.field(case.id.as_str());
    // A case that is run once and for itself has the fingerprint it had before there was anything else.
    let relations = &item.relations;
    if relations.repeats.count > 1 || !relations.after.is_empty() {
        hash.shown(format_args!("{:?} {:?} {:?}", relations.repeats, relations.after, relations.on_failure));
    }
    match &item.source {
        Source::Given(answer) => add_answer(&mut hash, answer),
        Source::Missing { kind, message } => hash.shown(format_args!("missing {kind} {message}")),
        Source::Target(target) => {
            hash.field("target");
            hash.field(&target.settings());
            // What can't be put together is the same failure every time.
            hash.shown(format_args!("{:?}", target_input(case, item.repeat)));
            if let Some(place) = &item.workplace {
                hash.shown(format_args!("workspace {}", place.identity()));
            }
        }
    }
    hash.field(&case.question());
    hash.maybe(case.expected_outcome.as_deref());
    hash.maybe(case.reference().as_deref());
    hash.shown(format_args!("{:?} {:?} {:?}", item.judging, item.evidence, item.truncate));
    hash.perhaps(item.judging_override);
    hash.perhaps(item.truncate_override);
    if let Some(talk) = &case.conversation {
        let Conversation { turns, aggregation, on_turn_failure, window_size } = talk;
        hash.shown(format_args!(
            "conversation {} {aggregation:?} {on_turn_failure:?} {window_size:?}",
            turns.len()
        ));
        for turn in turns {
            let asked = case.of_turn(turn, &[]);
            hash.shown(format_args!("{:?} {:?}", target_input(&asked, item.repeat), asked.reference()));
            add_surroundings(&mut hash, &asked);
            for grader in &turn.graders {
                add_grader(&mut hash, item, grader);
            }
        }
    }
    for grader in &case.graders {
        add_grader(&mut hash, item, grader);
    }
    blake3::hash(&hash.0).to_hex().to_string()
}

/// An answer that was given. Its text is the long part, which nothing has to be written about; that it is taken apart
/// here lets no field that is added later be forgotten.
fn add_answer(hash: &mut Fields, answer: &Answer) {
    let Answer {
        text,
        messages,
        tokens,
        cost,
        duration,
        model,
        tool_calls,
        file_changes,
        cut_off,
        attempts,
        answered_by,
        workspace,
    } = answer;
    hash.field("given");
    hash.field(text);
    hash.perhaps(messages.as_ref());
    hash.perhaps(Some(tokens).filter(|tokens| **tokens != Tokens::default()));
    hash.perhaps(*cost);
    hash.perhaps(Some(duration).filter(|duration| !duration.is_zero()));
    hash.perhaps(model.as_ref());
    hash.perhaps(Some(tool_calls).filter(|calls| !calls.is_empty()));
    hash.perhaps(file_changes.as_ref());
    hash.number((*cut_off).into());
    hash.number((*attempts).into());
    hash.perhaps(answered_by.as_ref());
    hash.perhaps(workspace.as_ref());
}

/// A criterion, taken apart for the same reasons.
fn add_criterion(hash: &mut Fields, criterion: &Criterion) {
    let Criterion { id, text, weight, scale, gate, operator, may_not_apply } = criterion;
    hash.field(id.as_str());
    hash.field(text);
    hash.number(weight.get().to_bits());
    hash.number(match operator {
        Operator::Correctness => 0,
        Operator::Contradiction => 1,
    });
    hash.number(u64::from(*may_not_apply));
    match (scale, gate) {
        (Scale::Checklist, None) => hash.field(""),
        graded => hash.shown(format_args!("{graded:?}")),
    }
}

/// A grader, who judges for it, and everything it is made of.
fn add_grader(hash: &mut Fields, item: &WorkItem, grader: &Grader) {
    let GraderStanding { weight, required, min_score, negate } = grader.standing;
    hash.field(&grader.name);
    hash.field(&grader.type_name);
    hash.number(weight.get().to_bits());
    hash.number(required.into());
    hash.perhaps(min_score);
    hash.number(negate.into());
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            let RubricGrader { rubric: criteria, judging, evidence, truncate, .. } = rubric;
            hash.perhaps(*judging);
            hash.perhaps(*evidence);
            hash.perhaps(*truncate);
            hash.number(criteria.criteria().len() as u64);
            for criterion in criteria.criteria() {
                add_criterion(hash, criterion);
            }
            add_panel(hash, item, &rubric.panel, rubric.judge.as_deref());
        }
        GraderKind::Llm(llm) => {
            hash.shown(format_args!("llm {:?} {:?} {:?}", llm.temperature, llm.max_steps, llm.config));
            add_prompt(hash, grader, llm.prompt.as_ref());
            add_surroundings(hash, &item.case);
            add_panel(hash, item, &llm.panel, llm.judge.as_deref());
        }
        GraderKind::Pairwise(pairwise) => {
            let PairwiseGrader { baseline, criteria, scores, .. } = pairwise;
            // What a run answered counts, not where the run lies.
            match baseline {
                Baseline::Run { answer, .. } => hash.field(&format!("pairwise run {answer:?}")),
                other => hash.field(&format!("pairwise {other:?}")),
            }
            hash.field(&format!("{criteria:?} {scores:?}"));
            add_panel(hash, item, &pairwise.panel, pairwise.judge.as_deref());
        }
        GraderKind::Code(code) => {
            hash.shown(format_args!("code {:?} {:?} {:?}", code.timeout, code.max_calls, code.config));
            if code.max_calls.is_some() {
                add_judge(hash, item, None);
            }
            add_command(hash, grader, &format!("{:?} {:?}", code.command, code.cwd));
            add_surroundings(hash, &item.case);
        }
        GraderKind::Custom(custom) => {
            hash.shown(format_args!("custom {:?}", custom.config));
            add_command(hash, grader, &custom.path.to_string_lossy());
            add_surroundings(hash, &item.case);
        }
        GraderKind::Composite(composite) => {
            hash.shown(format_args!("composite {}", composite.members.len()));
            for member in &composite.members {
                add_grader(hash, item, member);
            }
            match &composite.aggregator {
                CompositeAggregator::Code { command, cwd } => {
                    add_command(hash, grader, &format!("{command:?} {cwd:?}"));
                    add_surroundings(hash, &item.case);
                }
                CompositeAggregator::Llm { prompt, judge } => {
                    add_prompt(hash, grader, prompt.as_ref());
                    add_surroundings(hash, &item.case);
                    add_judge(hash, item, judge.as_deref());
                }
                arithmetic => hash.shown(format_args!("{arithmetic:?}")),
            }
        }
        GraderKind::Benchmark(benchmark) => {
            hash.shown(format_args!(
                "benchmark {:?} {} {:?} {:?}",
                benchmark.evaluator, benchmark.all_must_pass, benchmark.behaviour, benchmark.labels
            ));
            hash.field(&benchmark.checks.len().to_string());
            for check in &benchmark.checks {
                add_grader(hash, item, check);
            }
            if benchmark.behaviour.is_some() {
                add_panel(hash, item, &PanelSpec::default(), None);
            }
        }
        check => hash.shown(format_args!("{check:?}")),
    }
}

/// Everybody who may judge, and what becomes of their votes.
fn add_panel(hash: &mut Fields, item: &WorkItem, panel: &PanelSpec, named: Option<&str>) {
    let spec = item.panels.spec(panel, named);
    // A file without panels has the fingerprint it had before there were any.
    if *spec != PanelSpec::default() {
        hash.shown(format_args!("panel {}", item.panels.words(&spec)));
    }
    for wish in panel_wishes(&spec, item.judge_wish(named)) {
        hash.field(&item.judges.settings(wish));
    }
}

fn add_judge(hash: &mut Fields, item: &WorkItem, named: Option<&str>) {
    hash.field(&item.judges.settings(item.judge_wish(named)));
}

fn add_prompt(hash: &mut Fields, grader: &Grader, prompt: Option<&Prompt>) {
    match prompt {
        None => hash.field("built-in prompt"),
        Some(Prompt::Text { text, .. }) => hash.shown(format_args!("prompt {text}")),
        Some(Prompt::Program(Command::Argv(words))) => add_command(hash, grader, &format!("{words:?}")),
        Some(Prompt::Program(Command::Shell(line))) => add_command(hash, grader, line),
    }
}

/// A command and the folder it runs in unless it names one.
fn add_command(hash: &mut Fields, grader: &Grader, command: &str) {
    hash.shown(format_args!("command {command} {:?}", grader.place.path().parent()));
}

/// What programs and prompts see of a case beyond its question.
fn add_surroundings(hash: &mut Fields, case: &Case) {
    for messages in [&case.input, &case.expected_output] {
        hash.field(&Value::Array(messages.iter().map(Message::to_json).collect()).to_string());
    }
    let files: Vec<_> = case.attachments().collect();
    hash.shown(format_args!("{files:?} {:?}", case.metadata));
}

/// Texts with their lengths before them, so that no two lists of texts look the same.
struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn field(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn maybe(&mut self, text: Option<&str>) {
        self.number(u64::from(text.is_some()));
        self.field(text.unwrap_or_default());
    }

    /// Something that is usually not there, which then costs nothing to write about.
    fn perhaps(&mut self, value: Option<impl fmt::Debug>) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            self.shown(format_args!("{value:?}"));
        }
    }

    /// A text as it is formatted, without a string of its own.
    fn shown(&mut self, text: fmt::Arguments<'_>) {
        let place = self.0.len();
        self.number(0);
        let begin = self.0.len();
        // Memory takes everything.
        let _ = self.0.write_fmt(text);
        let length = (self.0.len() - begin) as u64;
        self.0[place..begin].copy_from_slice(&length.to_le_bytes());
    }
}
