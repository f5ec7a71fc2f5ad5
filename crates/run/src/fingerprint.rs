//! Fingerprint of a case's inputs, as one hash: a case with the same hash need not be run again.
//!
//! Design: `docs/design/storage-and-resuming.md`.

use std::path::Path;
use std::sync::Arc;

use assize_grade::{
    BEHAVIOUR_PROMPT_VERSION, PAIR_PROMPT_VERSION, QUESTIONS_PROMPT_VERSION, WHOLE_PROMPT_VERSION,
};
use assize_model::{
    AnswerSelection, BenchmarkGrader, BestAnswerRule, Case, CodeGrader, CompositeAggregator, CompositeGrader,
    ContextGrader, ContextSource, Conversation, CustomGrader, Grader, GraderKind, GraderPrompt, LlmGrader,
    PairwiseBaseline, PairwiseGrader, PanelSpec, ProgramFolder, ProgramResult, RubricGrader,
};
use assize_rubric::{CaseMessage, Identify, IdentityWriter};
use assize_targets::{Target, TargetKind};
use serde_json::Value;

use crate::material::target_input;
use crate::panel::panel_selectors;
use crate::{CasePrerequisite, ItemRelations, ItemSource, JudgeSelector, WorkItem};

/// Version of the hashed content. Raised when the same inputs would lead to other results.
const VERSION: u64 = 7;

/// Version of the input of grading programs and of how their output is read. Hashed only for cases with such
/// programs.
const PROGRAM_CONTRACT: u64 = 2;

/// Initial capacity, enough for the fields of a usual case.
const INITIAL_CAPACITY: usize = 4096;

/// Hash of everything that affects an item's result, in hexadecimal: the case as targets and judges see it, its
/// graders and thresholds, the target's settings, the answer if it was given, and the judges with their
/// settings.
///
/// Positions in files are not part of it: moving a case within its file changes nothing. Neither is the content
/// of programs that commands run, nor any name in this code.
pub fn fingerprint(item: &WorkItem) -> String {
    let mut identity = IdentityWriter::with_capacity(INITIAL_CAPACITY, "case", VERSION);
    add_item(&mut identity, item);
    blake3::hash(identity.as_bytes()).to_hex().to_string()
}

fn add_item(identity: &mut IdentityWriter, item: &WorkItem) {
    let WorkItem {
        suite,
        format,
        suite_folder: _,
        case,
        source: _,
        trial,
        place: _,
        relations,
        lines,
        judges: _,
        judge: _,
        judging_override,
        judging,
        panels: _,
        evidence,
        truncate_override,
        truncate,
        programs: _,
        workplace: _,
        hooks,
    } = item;

    identity.field(suite);
    identity.field(format);
    identity.field(trial);
    identity.field(lines);
    identity.text(case.id.as_str());
    add_relations(identity, relations);
    add_source(identity, item);

    identity.field(&case.question());
    identity.field(&case.expected_outcome);
    identity.field(&case.reference());
    identity.field(judging);
    identity.field(evidence);
    identity.field(truncate);
    identity.field(judging_override);
    identity.field(truncate_override);

    identity.field(&case.conversation.is_some());

    if let Some(conversation) = &case.conversation {
        add_conversation(identity, item, conversation);
    }

    add_graders(identity, item, &case.graders);

    if !case.preprocessors.is_empty() {
        identity.text("preprocessors");
        case.preprocessors.iter().for_each(|preprocessor| identity.field(preprocessor));
    }
    if let Some(container) = &case.container {
        identity.text("container");
        identity.field(&**container);
    }

    // What extensions do with the case depends on the test as written.
    if let Some(hooks) = hooks {
        identity.text("extensions");
        hooks.write_identity(identity);
        identity.field(&case.authored.as_ref().map(|test| test.value().clone()));
    }

    // Rows name the scores that count for each metric.
    if !case.metrics.is_empty() {
        identity.text("metrics");
        identity.field(&case.prompt.as_deref());
        for metric in &case.metrics {
            identity.text(&metric.name);
            identity.field(&metric.grader);
        }
    }

    // Cases without scripts keep the fingerprint that they had before scripts existed.
    if !case.transforms.is_empty() {
        identity.field(&case.transforms.len());
        case.transforms.iter().for_each(|transform| identity.field(transform));
        add_variables(identity, item);
    }
}

/// A case that runs once and on its own does not depend on its relations to others.
fn add_relations(identity: &mut IdentityWriter, relations: &ItemRelations) {
    // Rivals are hashed with the graders that compare answers.
    let ItemRelations { trials, after, on_failure, is_awaited: _, rivals: _, stops_at_errors: _ } = relations;
    let is_alone = trials.count == 1 && after.is_empty();
    identity.field(&is_alone);

    if !is_alone {
        identity.field(trials);
        identity.field(after);
        identity.field(on_failure);
    }
}

impl Identify for CasePrerequisite {
    fn identify(&self, identity: &mut IdentityWriter) {
        let Self { case_id, targets } = self;
        identity.field(case_id);
        identity.field(targets);
    }
}

fn add_source(identity: &mut IdentityWriter, item: &WorkItem) {
    match &item.source {
        ItemSource::Given(answer) => {
            identity.text("given");
            identity.field(answer);
        }
        ItemSource::Missing { kind, message, .. } => {
            identity.text("missing");
            identity.text(kind.name());
            identity.field(message);
        }
        ItemSource::Target(target) => {
            identity.text("target");
            target.write_settings(identity);

            // If the input can't be built, it fails in the same way every time. The error's text is not part of
            // the hash.
            identity.field(&target_input(&item.case, item.trial).map_err(|_| ""));
            if takes_variables(&**target) {
                identity.field(&serde_json::to_string(&item.case.vars).unwrap_or_default());
            }
            identity.field(&item.workplace.is_some());

            if let Some(place) = &item.workplace {
                identity.bytes(place.identity());
            }
        }
    }
}

/// Whether a target, or one of its fallbacks, may receive the variables of the test.
fn takes_variables(target: &dyn Target) -> bool {
    let takes_them =
        |target: &dyn Target| matches!(target.describe().kind, TargetKind::Http | TargetKind::Command);
    takes_them(target) || target.fallbacks().iter().any(|other| takes_them(&**other))
}

fn add_conversation(identity: &mut IdentityWriter, item: &WorkItem, conversation: &Conversation) {
    let Conversation { turns, aggregation, on_turn_failure, window_size } = conversation;
    identity.field(aggregation);
    identity.field(on_turn_failure);
    identity.field(window_size);

    identity.field(&turns.len());

    for turn in turns {
        let asked = item.case.turn_case(turn, &[]);
        identity.field(&target_input(&asked, item.trial).map_err(|_| ""));
        identity.field(&asked.reference());
        add_surroundings(identity, &asked);
        add_graders(identity, item, &turn.graders);
    }
}

fn add_graders(identity: &mut IdentityWriter, item: &WorkItem, graders: &[Arc<Grader>]) {
    identity.field(&graders.len());

    for grader in graders {
        add_grader(identity, item, grader);
    }
}

/// A grader, its judges, and everything it consists of. The settings of judges contain the version of the
/// prompts for rubrics; versions of other prompts are added with the graders that use them.
fn add_grader(identity: &mut IdentityWriter, item: &WorkItem, grader: &Grader) {
    let Grader { name, type_name, standing, place: _, kind } = grader;
    identity.field(name);
    identity.field(type_name);
    identity.field(standing);

    match kind {
        GraderKind::Rubric(rubric) => add_rubric(identity, item, rubric),
        GraderKind::Llm(llm) => add_llm(identity, item, grader, llm),
        GraderKind::Pairwise(pairwise) => add_pairwise(identity, item, pairwise),
        GraderKind::Code(code) => add_code(identity, item, grader, code),
        GraderKind::Custom(custom) => add_custom(identity, item, grader, custom),
        GraderKind::Composite(composite) => add_composite(identity, item, grader, composite),
        GraderKind::Benchmark(benchmark) => add_benchmark(identity, item, benchmark),
        GraderKind::Text(check) => add_check(identity, "text", check),
        GraderKind::IsJson(check) => add_check(identity, "is_json", check),
        GraderKind::Sql(check) => add_check(identity, "sql", check),
        GraderKind::FieldAccuracy(check) => add_check(identity, "field_accuracy", check),
        GraderKind::ToolTrajectory(check) => add_check(identity, "tool_trajectory", check),
        GraderKind::Latency { threshold } => add_check(identity, "latency", threshold),
        GraderKind::Cost { budget_usd } => add_check(identity, "cost", budget_usd),
        GraderKind::TokenUsage(check) => add_check(identity, "token_usage", check),
        GraderKind::ExecutionMetrics(check) => add_check(identity, "execution_metrics", check),
        GraderKind::SkillTrigger(check) => add_check(identity, "skill_trigger", check),
        GraderKind::Script(check) => {
            add_check(identity, "script", check);
            add_variables(identity, item);
        }
        GraderKind::Similar(check) => {
            add_check(identity, "similar", check);
            add_measuring_model(identity, item, check.model());
        }
        GraderKind::Labels(check) => {
            add_check(identity, "labels", check);
            add_measuring_model(identity, item, check.model());
        }
        GraderKind::Context(grader) => add_context(identity, item, grader),
        GraderKind::AnswerRelevance(check) => {
            add_check(identity, "answer_relevance", check);
            identity.text(QUESTIONS_PROMPT_VERSION);
            item.judges.write_settings(item.judge_selector(check.judge.as_deref()), identity);
            add_measuring_model(identity, item, check.model());
        }
        GraderKind::Selection(selection) => add_selection(identity, item, selection),
        GraderKind::Transformed(changed) => {
            add_check(identity, "transformed", &changed.transform);
            add_variables(identity, item);
            add_grader(identity, item, &changed.inner);
        }
    }
}

/// The model that computes vectors or labels of texts.
fn add_measuring_model(identity: &mut IdentityWriter, item: &WorkItem, model: &str) {
    // The error's text is not part of the hash.
    let model = item.judges.measuring_model(model).map(|model| model.describe()).map_err(|_| "");
    identity.field(&model);
}

/// A rubric about a context. The context may come from the variables of the case.
fn add_context(identity: &mut IdentityWriter, item: &WorkItem, grader: &ContextGrader) {
    add_check(identity, "context", grader);
    identity.field(&grader.judging);
    identity.field(&grader.evidence);
    identity.field(&grader.truncate);
    add_panel(identity, item, &grader.panel, grader.judge.as_deref());
    if matches!(grader.context, ContextSource::Code(_)) {
        add_variables(identity, item);
    }
}

/// A choice among answers, and the answers to choose from.
fn add_selection(identity: &mut IdentityWriter, item: &WorkItem, selection: &AnswerSelection) {
    match selection {
        AnswerSelection::Best(BestAnswerRule { criteria, judge, panel }) => {
            identity.text("select_best");
            identity.text(PAIR_PROMPT_VERSION);
            identity.field(criteria);
            add_panel(identity, item, panel, judge.as_deref());
        }
        AnswerSelection::MaxScore(rule) => add_check(identity, "max_score", rule),
    }
    if let Some(group) = &item.relations.rivals {
        group.write_identity(identity);
    }
}

/// What scripts see of a case besides its question.
fn add_variables(identity: &mut IdentityWriter, item: &WorkItem) {
    let vars: serde_json::Map<String, Value> = item.case.vars.clone().into_iter().collect();
    identity.field(&vars);
    identity.field(&item.case.metadata);
}

fn add_check(identity: &mut IdentityWriter, kind: &'static str, check: &impl Identify) {
    identity.text(kind);
    identity.field(check);
}

fn add_rubric(identity: &mut IdentityWriter, item: &WorkItem, grader: &RubricGrader) {
    let RubricGrader { rubric, places: _, marks: _, instructions, judging, evidence, truncate, judge, panel } =
        grader;
    identity.text("rubric");
    if let Some(instructions) = instructions {
        identity.text("instructions");
        identity.text(instructions);
    }
    identity.field(rubric.criteria());
    identity.field(judging);
    identity.field(evidence);
    identity.field(truncate);

    add_panel(identity, item, panel, judge.as_deref());
}

fn add_llm(identity: &mut IdentityWriter, item: &WorkItem, grader: &Grader, llm: &LlmGrader) {
    // The preprocessors are hashed with the case.
    let LlmGrader { prompt, judge, panel, temperature, max_steps, config, preprocessors: _, given } = llm;
    identity.text("llm");
    identity.text(WHOLE_PROMPT_VERSION);
    identity.field(temperature);
    identity.field(max_steps);
    identity.field(config);
    crate::grader_settings::add_given(identity, given.as_ref());
    add_prompt(identity, grader, prompt.as_ref());
    add_surroundings(identity, &item.case);

    add_panel(identity, item, panel, judge.as_deref());
}

fn add_pairwise(identity: &mut IdentityWriter, item: &WorkItem, pairwise: &PairwiseGrader) {
    let PairwiseGrader { baseline, criteria, judge, panel, scores } = pairwise;
    identity.text("pairwise");
    identity.text(PAIR_PROMPT_VERSION);
    add_comparison(identity, baseline, criteria, scores);

    add_panel(identity, item, panel, judge.as_deref());
}

/// What a pairwise grader compares an answer with, and by which criteria. Of a stored run the answer counts,
/// not its location.
pub(crate) fn add_comparison(
    identity: &mut IdentityWriter,
    baseline: &PairwiseBaseline,
    criteria: &impl Identify,
    scores: &impl Identify,
) {
    match baseline {
        PairwiseBaseline::Reference => identity.text("reference"),
        PairwiseBaseline::Text(text) => {
            identity.text("text");
            identity.field(text);
        }
        PairwiseBaseline::Run { written: _, folder: _, answer } => {
            identity.text("run");
            identity.field(answer);
        }
    }

    identity.field(criteria);
    identity.field(scores);
}

fn add_code(identity: &mut IdentityWriter, item: &WorkItem, grader: &Grader, code: &CodeGrader) {
    let CodeGrader { command, cwd, timeout, max_calls, pass_env, result, config } = code;
    identity.text("code");
    identity.field(timeout);
    identity.field(max_calls);
    // Only the other ways to read a program differ from what stored runs know.
    if *result != ProgramResult::default() {
        identity.text(result.name());
    }
    identity.field(pass_env);
    identity.field(config);

    if max_calls.is_some() {
        add_judge(identity, item, None);
    }

    if *cwd == Some(ProgramFolder::Workspace) {
        identity.text("in the workspace");
    }
    add_command(identity, grader, command, cwd.as_ref().and_then(ProgramFolder::named));
    add_surroundings(identity, &item.case);
}

fn add_custom(identity: &mut IdentityWriter, item: &WorkItem, grader: &Grader, custom: &CustomGrader) {
    let CustomGrader { type_name: _, path, pass_env, config } = custom;
    identity.text("custom");
    identity.field(pass_env);
    identity.field(config);
    add_command(identity, grader, path, None);

    add_surroundings(identity, &item.case);
}

fn add_composite(
    identity: &mut IdentityWriter,
    item: &WorkItem,
    grader: &Grader,
    composite: &CompositeGrader,
) {
    let CompositeGrader { members, aggregator } = composite;
    identity.text("composite");
    add_graders(identity, item, members);

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
            add_command(identity, grader, command, cwd.as_deref());
            add_surroundings(identity, &item.case);
        }
        CompositeAggregator::Function { code, threshold } => {
            identity.text("function");
            identity.field(code);
            identity.field(threshold);
        }
        CompositeAggregator::Llm { prompt, judge } => {
            identity.text("llm");
            identity.text(WHOLE_PROMPT_VERSION);
            add_prompt(identity, grader, prompt.as_ref());
            add_surroundings(identity, &item.case);
            add_judge(identity, item, judge.as_deref());
        }
    }
}

fn add_benchmark(identity: &mut IdentityWriter, item: &WorkItem, benchmark: &BenchmarkGrader) {
    let BenchmarkGrader {
        evaluator,
        checks,
        all_must_pass,
        behaviour,
        scale,
        subject,
        labels: _,
        raters: _,
        unbound_labels: _,
    } = benchmark;
    identity.text("benchmark");
    identity.field(evaluator);
    identity.field(all_must_pass);
    identity.field(behaviour);
    identity.field(scale);
    // Labels are applied whenever a run is read, so a new label must not make the target answer again.
    identity.field(subject);
    add_graders(identity, item, checks);

    if behaviour.is_some() {
        identity.text(BEHAVIOUR_PROMPT_VERSION);
        add_panel(identity, item, &PanelSpec::default(), None);
    }
}

/// All judges that may decide, and how their votes are combined.
fn add_panel(identity: &mut IdentityWriter, item: &WorkItem, panel: &PanelSpec, named: Option<&str>) {
    let spec = item.panels.spec(panel, named);
    // A single judge is the same whether the command line, a file or a default names it; its settings follow.
    match &*spec.judges {
        [judge] if judge.weight.is_none() => identity.field(&spec.clone().into_owned().without_judges()),
        _ => identity.field(&*spec),
    }

    for selector in judge_selectors(item, named) {
        for wish in panel_selectors(&spec, selector) {
            item.judges.write_settings(wish, identity);
        }
    }
}

/// The selectors of the judge, one for each target that may answer.
fn judge_selectors<'a>(item: &'a WorkItem, named: Option<&'a str>) -> Vec<JudgeSelector<'a>> {
    let asked = item.judge_selector(named);
    let others = match &item.source {
        ItemSource::Target(target) => target.fallbacks(),
        ItemSource::Given(_) | ItemSource::Missing { .. } => &[],
    };
    let behind = others.iter().map(|other| JudgeSelector { answered_by: Some(other.name()), ..asked });

    std::iter::once(asked).chain(behind).collect()
}

fn add_judge(identity: &mut IdentityWriter, item: &WorkItem, named: Option<&str>) {
    for selector in judge_selectors(item, named) {
        item.judges.write_settings(selector, identity);
    }
}

fn add_prompt(identity: &mut IdentityWriter, grader: &Grader, prompt: Option<&GraderPrompt>) {
    match prompt {
        None => identity.text("built-in"),
        Some(GraderPrompt::Text { text, path: _ }) => {
            identity.text("text");
            identity.field(text);
        }
        Some(GraderPrompt::Program(command)) => {
            identity.text("program");
            add_command(identity, grader, command, None);
        }
    }
}

/// A command, the folder it runs in (by default that of the grader's file), and the version of its interface.
fn add_command(identity: &mut IdentityWriter, grader: &Grader, command: &impl Identify, cwd: Option<&Path>) {
    identity.field(&PROGRAM_CONTRACT);
    identity.field(command);
    identity.field(&cwd);
    identity.field(&grader.place.path().parent());
}

/// The parts of a case besides its question that programs and prompts see.
fn add_surroundings(identity: &mut IdentityWriter, case: &Case) {
    for messages in [&case.input, &case.expected_output] {
        identity.field(&Value::Array(messages.iter().map(CaseMessage::to_json).collect()));
    }

    let files: Vec<_> = case.attachments().collect();
    identity.field(&files);

    identity.field(&case.metadata);
    if case.output_as_text {
        identity.text("output as text");
    }
}
