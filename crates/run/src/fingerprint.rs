//! What the result of a case rests on, as one hash: a case with the same hash need not be run again.

use assize_spec::{
    Case, Command, CompositeAggregator, Conversation, Grader, GraderKind, PanelSpec, Prompt, RubricGrader,
};
use serde_json::Value;

use crate::grading::message;
use crate::material::target_input;
use crate::panel::panel_wishes;
use crate::{Source, WorkItem};

/// Version of what is hashed. Raised when the same inputs would lead to other results.
const VERSION: &str = "3";

/// The hash of everything that decides about an item's result, in hexadecimal: the case as targets and judges see it,
/// its graders and lines, the target's settings, the answer if it was given, and who judges how.
///
/// Places in files have no part in it: moving a case within its file changes nothing. Neither has what is inside the
/// programs that commands run.
pub fn fingerprint(item: &WorkItem) -> String {
    let mut hash = Fields(blake3::Hasher::new());
    let case = &item.case;
    hash.field(VERSION);
    hash.field(&item.suite);
    hash.field(&format!("{:?} {} {:?}", item.format, item.repeat, item.lines));
    hash.field(case.id.as_str());
    // A case that is run once and for itself has the fingerprint it had before there was anything else.
    let relations = &item.relations;
    if relations.repeats.count > 1 || !relations.after.is_empty() {
        hash.field(&format!("{:?} {:?} {:?}", relations.repeats, relations.after, relations.on_failure));
    }
    match &item.source {
        Source::Given(answer) => hash.field(&format!("given {answer:?}")),
        Source::Missing { kind, message } => hash.field(&format!("missing {kind} {message}")),
        Source::Target(target) => {
            hash.field("target");
            hash.field(&target.settings());
            // What can't be put together is the same failure every time.
            hash.field(&format!("{:?}", target_input(case, item.repeat)));
            if let Some(place) = &item.workplace {
                hash.field(&format!("workspace {}", place.identity()));
            }
        }
    }
    hash.field(&case.question());
    hash.field(&format!("{:?} {:?}", case.expected_outcome, case.reference()));
    hash.field(&format!("{:?} {:?} {:?}", item.judging_override, item.judging, item.evidence));
    hash.field(&format!("{:?} {:?}", item.truncate_override, item.truncate));
    if let Some(talk) = &case.conversation {
        let Conversation { turns, aggregation, on_turn_failure, window_size } = talk;
        hash.field(&format!(
            "conversation {} {aggregation:?} {on_turn_failure:?} {window_size:?}",
            turns.len()
        ));
        for turn in turns {
            let asked = case.of_turn(turn, &[]);
            hash.field(&format!("{:?} {:?}", target_input(&asked, item.repeat), asked.reference()));
            add_surroundings(&mut hash, &asked);
            for grader in &turn.graders {
                add_grader(&mut hash, item, grader);
            }
        }
    }
    for grader in &case.graders {
        add_grader(&mut hash, item, grader);
    }
    hash.0.finalize().to_hex().to_string()
}

/// A grader, who judges for it, and everything it is made of.
fn add_grader(hash: &mut Fields, item: &WorkItem, grader: &Grader) {
    hash.field(&format!("{} {} {:?}", grader.name, grader.type_name, grader.standing));
    match &grader.kind {
        GraderKind::Rubric(rubric) => {
            let RubricGrader { rubric: criteria, judging, evidence, truncate, .. } = rubric;
            hash.field(&format!("{criteria:?} {judging:?} {evidence:?} {truncate:?}"));
            add_panel(hash, item, &rubric.panel, rubric.judge.as_deref());
        }
        GraderKind::Llm(llm) => {
            hash.field(&format!("llm {:?} {:?} {:?}", llm.temperature, llm.max_steps, llm.config));
            add_prompt(hash, grader, llm.prompt.as_ref());
            add_surroundings(hash, &item.case);
            add_panel(hash, item, &llm.panel, llm.judge.as_deref());
        }
        GraderKind::Code(code) => {
            hash.field(&format!("code {:?} {:?} {:?}", code.timeout, code.max_calls, code.config));
            if code.max_calls.is_some() {
                add_judge(hash, item, None);
            }
            add_command(hash, grader, &format!("{:?} {:?}", code.command, code.cwd));
            add_surroundings(hash, &item.case);
        }
        GraderKind::Custom(custom) => {
            hash.field(&format!("custom {:?}", custom.config));
            add_command(hash, grader, &custom.path.to_string_lossy());
            add_surroundings(hash, &item.case);
        }
        GraderKind::Composite(composite) => {
            hash.field(&format!("composite {}", composite.members.len()));
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
                arithmetic => hash.field(&format!("{arithmetic:?}")),
            }
        }
        GraderKind::Benchmark(benchmark) => {
            hash.field(&format!(
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
        check => hash.field(&format!("{check:?}")),
    }
}

/// Everybody who may judge, and what becomes of their votes.
fn add_panel(hash: &mut Fields, item: &WorkItem, panel: &PanelSpec, named: Option<&str>) {
    let spec = item.panels.spec(panel, named);
    // A file without panels has the fingerprint it had before there were any.
    if spec != PanelSpec::default() {
        hash.field(&format!("panel {spec:?}"));
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
        Some(Prompt::Text { text, .. }) => hash.field(&format!("prompt {text}")),
        Some(Prompt::Program(Command::Argv(words))) => add_command(hash, grader, &format!("{words:?}")),
        Some(Prompt::Program(Command::Shell(line))) => add_command(hash, grader, line),
    }
}

/// A command and the folder it runs in unless it names one.
fn add_command(hash: &mut Fields, grader: &Grader, command: &str) {
    hash.field(&format!("command {command} {:?}", grader.place.path().parent()));
}

/// What programs and prompts see of a case beyond its question.
fn add_surroundings(hash: &mut Fields, case: &Case) {
    for messages in [&case.input, &case.expected_output] {
        hash.field(&Value::Array(messages.iter().map(message).collect()).to_string());
    }
    let files: Vec<_> = case.attachments().collect();
    hash.field(&format!("{files:?} {:?}", case.metadata));
}

/// Texts with their lengths before them, so that no two lists of texts look the same.
struct Fields(blake3::Hasher);

impl Fields {
    fn field(&mut self, text: &str) {
        self.0.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
}
