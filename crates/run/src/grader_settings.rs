//! Hash of the grader settings that affect results, for comparing runs.

use std::path::Path;

use assize_model::{
    AnswerSelection, BenchmarkGrader, BestAnswerRule, CodeGrader, CompositeAggregator, CompositeGrader,
    Conversation, CustomGrader, GivenPrompt, Grader, GraderKind, LlmGrader, PairwiseGrader, ProgramFolder,
    ProgramResult, RubricGrader,
};
use assize_rubric::IdentityWriter;

use crate::WorkItem;
use crate::fingerprint::add_comparison;

/// Version of the hashed content. Raised when the same settings should have another hash.
const VERSION: u64 = 1;

/// The number of hexadecimal digits that are stored.
const DIGITS: usize = 32;

/// Hash of the settings that affect the result of one of the item's graders, in hexadecimal.
///
/// Judges, their instructions and the number of calls are not part of it, and neither are criteria, weights and
/// gates: these are stored with the decisions and compared one by one. Of a program the command line counts,
/// but neither the content of its files nor its folder, so that a checkout in another place has the same
/// settings.
pub(crate) fn hash_settings(item: &WorkItem, grader: &Grader) -> String {
    let mut identity = IdentityWriter::new("grader settings", VERSION);
    add_settings(&mut identity, item, grader);
    finish(&identity)
}

/// Hash of the settings that affect the result of a conversation, like [`hash_settings`] for a grader.
pub(crate) fn hash_conversation_settings(item: &WorkItem, conversation: &Conversation) -> String {
    let Conversation { turns, aggregation, on_turn_failure, window_size } = conversation;
    let mut identity = IdentityWriter::new("conversation settings", VERSION);
    identity.field(aggregation);
    identity.field(on_turn_failure);
    identity.field(window_size);
    identity.field(&turns.len());

    for turn in turns {
        identity.field(&turn.graders.len());
        for grader in &turn.graders {
            add_part(&mut identity, item, grader);
        }
    }

    identity.field(&item.case.graders.len());

    for grader in &item.case.graders {
        add_part(&mut identity, item, grader);
    }

    finish(&identity)
}

fn finish(identity: &IdentityWriter) -> String {
    blake3::hash(identity.as_bytes()).to_hex()[..DIGITS].to_owned()
}

/// A member of a grader, with its weight and gate.
fn add_part(identity: &mut IdentityWriter, item: &WorkItem, grader: &Grader) {
    identity.field(&grader.name);
    identity.field(&grader.standing);
    add_settings(identity, item, grader);
}

fn add_settings(identity: &mut IdentityWriter, item: &WorkItem, grader: &Grader) {
    let Grader { name: _, type_name, standing: _, place: _, kind } = grader;
    identity.field(type_name);

    match kind {
        GraderKind::Rubric(rubric) => add_rubric(identity, item, rubric),
        GraderKind::Llm(llm) => add_llm(identity, llm),
        GraderKind::Pairwise(pairwise) => add_pairwise(identity, pairwise),
        GraderKind::Code(code) => add_code(identity, grader, code),
        GraderKind::Custom(custom) => add_custom(identity, custom),
        GraderKind::Composite(composite) => add_composite(identity, item, grader, composite),
        GraderKind::Benchmark(benchmark) => add_benchmark(identity, item, benchmark),
        GraderKind::Text(check) => identity.field(check),
        GraderKind::IsJson(check) => identity.field(check),
        GraderKind::Sql(check) => identity.field(check),
        GraderKind::FieldAccuracy(check) => identity.field(check),
        GraderKind::ToolTrajectory(check) => identity.field(check),
        GraderKind::Latency { threshold } => identity.field(threshold),
        GraderKind::Cost { budget_usd } => identity.field(budget_usd),
        GraderKind::TokenUsage(check) => identity.field(check),
        GraderKind::ExecutionMetrics(check) => identity.field(check),
        GraderKind::SkillTrigger(check) => identity.field(check),
        GraderKind::Script(check) => identity.field(check),
        GraderKind::Similar(check) => identity.field(check),
        GraderKind::Labels(check) => identity.field(check),
        GraderKind::Context(grader) => {
            identity.field(grader);
            identity.field(&grader.evidence.unwrap_or(item.evidence));
            identity.field(&item.truncate_override.or(grader.truncate).unwrap_or(item.truncate));
        }
        GraderKind::AnswerRelevance(check) => identity.field(check),
        GraderKind::Selection(AnswerSelection::Best(BestAnswerRule { criteria, judge: _, panel: _ })) => {
            identity.field(criteria);
        }
        GraderKind::Selection(AnswerSelection::MaxScore(rule)) => identity.field(rule),
        GraderKind::Transformed(changed) => {
            identity.field(&changed.transform);
            add_settings(identity, item, &changed.inner);
        }
    }
}

/// A rubric without its criteria and judges: only how evidence and long material are handled.
fn add_rubric(identity: &mut IdentityWriter, item: &WorkItem, grader: &RubricGrader) {
    let RubricGrader {
        rubric: _,
        places: _,
        marks: _,
        instructions,
        judging: _,
        evidence,
        truncate,
        judge: _,
        panel: _,
    } = grader;
    if let Some(instructions) = instructions {
        identity.text("instructions");
        identity.text(instructions);
    }
    identity.field(&evidence.unwrap_or(item.evidence));
    identity.field(&item.truncate_override.or(*truncate).unwrap_or(item.truncate));
}

/// A judge's score. The prompt is part of the judge's identity.
fn add_llm(identity: &mut IdentityWriter, llm: &LlmGrader) {
    let LlmGrader { prompt: _, judge: _, panel: _, temperature, max_steps, config, preprocessors: _, given } =
        llm;
    identity.field(temperature);
    identity.field(max_steps);
    identity.field(config);
    add_given(identity, given.as_ref());
}

/// Values and range of a prompt that the caller provides.
pub(crate) fn add_given(identity: &mut IdentityWriter, given: Option<&GivenPrompt>) {
    let Some(GivenPrompt { variables, range }) = given else { return };
    identity.text(&format!("from {} to {}", range.low, range.high));
    for (name, value) in variables {
        identity.text(name);
        identity.text(value);
    }
}

fn add_pairwise(identity: &mut IdentityWriter, pairwise: &PairwiseGrader) {
    let PairwiseGrader { baseline, criteria, judge: _, panel: _, scores } = pairwise;
    add_comparison(identity, baseline, criteria, scores);
}

fn add_code(identity: &mut IdentityWriter, grader: &Grader, code: &CodeGrader) {
    // A program that runs out of time is an error and has no score, so the time limit does not matter.
    let CodeGrader { command, cwd, timeout: _, max_calls, pass_env, result, config } = code;
    identity.field(command);
    if *cwd == Some(ProgramFolder::Workspace) {
        identity.text("in the workspace");
    }
    add_folder(identity, grader, cwd.as_ref().and_then(ProgramFolder::named));
    identity.field(max_calls);
    identity.field(pass_env);
    if *result != ProgramResult::default() {
        identity.text(result.name());
    }
    identity.field(config);
}

fn add_custom(identity: &mut IdentityWriter, custom: &CustomGrader) {
    let CustomGrader { type_name, path: _, pass_env, config } = custom;
    identity.field(type_name);
    identity.field(pass_env);
    identity.field(config);
}

/// A folder next to or below that of the grader's file, by its relative path. Any other folder counts as none.
fn add_folder(identity: &mut IdentityWriter, grader: &Grader, folder: Option<&Path>) {
    let home = grader.place.path().parent();
    let relative = folder.zip(home).and_then(|(folder, home)| folder.strip_prefix(home).ok());
    identity.field(&relative.filter(|path| !path.as_os_str().is_empty()));
}

fn add_composite(
    identity: &mut IdentityWriter,
    item: &WorkItem,
    grader: &Grader,
    composite: &CompositeGrader,
) {
    let CompositeGrader { members, aggregator } = composite;
    identity.field(&members.len());

    for member in members {
        add_part(identity, item, member);
    }

    match aggregator {
        CompositeAggregator::WeightedAverage(weights) => {
            identity.text("weighted_average");
            identity.field(weights);
        }
        CompositeAggregator::Threshold(threshold) => {
            identity.text("threshold");
            identity.field(threshold);
        }
        CompositeAggregator::Code { command, cwd } => {
            identity.text("code");
            identity.field(command);
            add_folder(identity, grader, cwd.as_deref());
        }
        CompositeAggregator::Function { code, threshold } => {
            identity.text("function");
            identity.field(code);
            identity.field(threshold);
        }
        CompositeAggregator::Llm { prompt: _, judge: _ } => identity.text("llm"),
    }
}

/// A benchmark on a case: its evaluator, its checks, and the question for a judge.
fn add_benchmark(identity: &mut IdentityWriter, item: &WorkItem, benchmark: &BenchmarkGrader) {
    let BenchmarkGrader {
        evaluator,
        checks,
        all_must_pass,
        behaviour,
        scale,
        subject: _,
        labels: _,
        raters,
        unbound_labels: _,
    } = benchmark;
    identity.field(evaluator);
    identity.field(all_must_pass);
    identity.field(behaviour);
    identity.field(scale);
    identity.field(&raters.map(|raters| u64::from(raters.get())));
    identity.field(&checks.len());

    for check in checks {
        add_part(identity, item, check);
    }
}
