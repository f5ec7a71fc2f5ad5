//! Identities of graders: one walk over a grader, its judges and everything it consists of, for two hashes.

use std::path::Path;
use std::sync::Arc;

use assize_grade::{
    BEHAVIOUR_PROMPT_VERSION, PAIR_PROMPT_VERSION, QUESTIONS_PROMPT_VERSION, WHOLE_PROMPT_VERSION,
};
use assize_model::{
    AnswerCheck, AnswerSelection, BenchmarkGrader, BestAnswerRule, Case, CodeGrader, CompositeAggregator,
    CompositeGrader, ContextGrader, ContextSource, Conversation, CustomGrader, GivenPrompt, Grader,
    GraderKind, GraderPrompt, LlmGrader, PairwiseBaseline, PairwiseGrader, PanelSpec, ProgramFolder,
    ProgramResult, RubricGrader,
};
use assize_rubric::{CaseMessage, EvidencePolicy, Identify, IdentityWriter, JudgingMode, TruncationMode};
use serde_json::Value;

use crate::material::target_input;
use crate::panel::panel_selectors;
use crate::{ItemSource, JudgeSelector, WorkItem};

/// Version of the content of [`hash_settings`]. Raised when the same settings should have another hash.
const SETTINGS_VERSION: u64 = 1;

/// The number of hexadecimal digits that are stored of [`hash_settings`].
const SETTINGS_DIGITS: usize = 32;

/// Version of the input of grading programs and of how their output is read. Hashed only for cases with such
/// programs.
const PROGRAM_CONTRACT: u64 = 2;

/// Hash of the settings that affect the result of one of the item's graders, in hexadecimal, for comparing runs.
///
/// Judges, their instructions and the number of calls are not part of it, and neither are criteria, weights and
/// gates: these are stored with the decisions and compared one by one. Of a program the command line counts,
/// but neither the content of its files nor its folder, so that a checkout in another place has the same
/// settings.
pub(crate) fn hash_settings(item: &WorkItem, grader: &Grader) -> String {
    hash("grader settings", item, |walk| walk.grader(grader))
}

/// Hash of the settings that affect the result of a conversation, like [`hash_settings`] for a grader.
pub(crate) fn hash_conversation_settings(item: &WorkItem, conversation: &Conversation) -> String {
    hash("conversation settings", item, |walk| {
        walk.conversation(conversation);
        walk.graders(&item.case.graders);
    })
}

fn hash(kind: &'static str, item: &WorkItem, add: impl FnOnce(&mut GraderWalk<'_>)) -> String {
    let mut identity = IdentityWriter::new(kind, SETTINGS_VERSION);
    add(&mut GraderWalk { identity: &mut identity, item, is_whole: false });
    blake3::hash(identity.as_bytes()).to_hex()[..SETTINGS_DIGITS].to_owned()
}

/// Writes the identities of an item's graders.
pub(crate) struct GraderWalk<'w> {
    pub(crate) identity: &'w mut IdentityWriter,
    pub(crate) item: &'w WorkItem,
    /// True for everything that a result depends on, as a fingerprint needs it; false for [`hash_settings`].
    pub(crate) is_whole: bool,
}

impl GraderWalk<'_> {
    /// Writes a text that is only part of the whole identity: the kind of a grader, or the version of a prompt. The
    /// settings of judges contain the version of the prompts for rubrics; the versions of other prompts are written
    /// with the graders that use them.
    fn tag(&mut self, text: &str) {
        if self.is_whole {
            self.identity.text(text);
        }
    }

    fn check(&mut self, kind: &'static str, check: &impl Identify) {
        self.tag(kind);
        self.identity.field(check);
    }

    /// Writes graders that belong to a case or to another grader, with their names, weights and gates.
    pub(crate) fn graders(&mut self, graders: &[Arc<Grader>]) {
        self.identity.field(&graders.len());
        for grader in graders {
            if !self.is_whole {
                self.identity.field(&grader.name);
                self.identity.field(&grader.weighting);
            }
            self.grader(grader);
        }
    }

    fn grader(&mut self, grader: &Grader) {
        let Grader { name, type_name, weighting, place: _, kind } = grader;
        if self.is_whole {
            self.identity.field(name);
        }
        self.identity.field(type_name);
        if self.is_whole {
            self.identity.field(weighting);
        }

        match kind {
            GraderKind::Rubric(rubric) => self.rubric(rubric),
            GraderKind::Llm(llm) => self.llm(grader, llm),
            GraderKind::Pairwise(pairwise) => self.pairwise(pairwise),
            GraderKind::Code(code) => self.code(grader, code),
            GraderKind::Custom(custom) => self.custom(grader, custom),
            GraderKind::Composite(composite) => self.composite(grader, composite),
            GraderKind::Benchmark(benchmark) => self.benchmark(benchmark),
            GraderKind::Check(check) => self.answer_check(check),
            GraderKind::Similar(check) => {
                self.check("similar", check);
                self.measuring_model(check.model());
            }
            GraderKind::Labels(check) => {
                self.check("labels", check);
                self.measuring_model(check.model());
            }
            GraderKind::Context(grader) => self.context(grader),
            GraderKind::AnswerRelevance(check) => {
                self.check("answer_relevance", check);
                if self.is_whole {
                    self.identity.text(QUESTIONS_PROMPT_VERSION);
                    let selector = self.item.judge_selector(check.judge.as_deref());
                    self.item.judges.write_settings(selector, self.identity);
                }
                self.measuring_model(check.model());
            }
            GraderKind::Selection(selection) => self.selection(selection),
            GraderKind::Transformed(changed) => {
                self.check("transformed", &changed.transform);
                self.variables();
                self.grader(&changed.inner);
            }
        }
    }

    fn answer_check(&mut self, check: &AnswerCheck) {
        match check {
            AnswerCheck::Text(check) => self.check("text", check),
            AnswerCheck::IsJson(check) => self.check("is_json", check),
            AnswerCheck::Sql(check) => self.check("sql", check),
            AnswerCheck::FieldAccuracy(check) => self.check("field_accuracy", check),
            AnswerCheck::ToolTrajectory(check) => self.check("tool_trajectory", check),
            AnswerCheck::Latency { threshold } => self.check("latency", threshold),
            AnswerCheck::Cost { budget_usd } => self.check("cost", budget_usd),
            AnswerCheck::TokenUsage(check) => self.check("token_usage", check),
            AnswerCheck::ExecutionMetrics(check) => self.check("execution_metrics", check),
            AnswerCheck::SkillTrigger(check) => self.check("skill_trigger", check),
            AnswerCheck::Script(check) => {
                self.check("script", check);
                self.variables();
            }
        }
    }

    /// How a rubric is judged: as written and by whom in the whole identity, else how evidence and long material are
    /// handled in the end.
    fn judging(
        &mut self,
        judging: Option<JudgingMode>,
        evidence: Option<EvidencePolicy>,
        truncate: Option<TruncationMode>,
    ) {
        if self.is_whole {
            self.identity.field(&judging);
            self.identity.field(&evidence);
            self.identity.field(&truncate);
        } else {
            self.identity.field(&evidence.unwrap_or(self.item.evidence));
            self.identity.field(&self.item.truncate_override.or(truncate).unwrap_or(self.item.truncate));
        }
    }

    fn rubric(&mut self, grader: &RubricGrader) {
        let RubricGrader {
            rubric,
            places: _,
            marks: _,
            instructions,
            judging,
            evidence,
            truncate,
            judge,
            panel,
        } = grader;
        self.tag("rubric");
        if let Some(instructions) = instructions {
            self.identity.text("instructions");
            self.identity.text(instructions);
        }
        if self.is_whole {
            self.identity.field(rubric.criteria());
        }
        self.judging(*judging, *evidence, *truncate);
        self.panel(panel, judge.as_deref());
    }

    /// A rubric about a context. The context may come from the variables of the case.
    fn context(&mut self, grader: &ContextGrader) {
        self.check("context", grader);
        self.judging(grader.judging, grader.evidence, grader.truncate);
        self.panel(&grader.panel, grader.judge.as_deref());
        if matches!(grader.context, ContextSource::Code(_)) {
            self.variables();
        }
    }

    fn llm(&mut self, grader: &Grader, llm: &LlmGrader) {
        // The preprocessors are hashed with the case.
        let LlmGrader { prompt, judge, panel, temperature, max_steps, config, preprocessors: _, given } = llm;
        self.tag("llm");
        self.tag(WHOLE_PROMPT_VERSION);
        self.identity.field(temperature);
        self.identity.field(max_steps);
        self.identity.field(config);
        if let Some(GivenPrompt { variables, range }) = given {
            self.identity.text(&format!("from {} to {}", range.low, range.high));
            for (name, value) in variables {
                self.identity.text(name);
                self.identity.text(value);
            }
        }
        self.prompt(grader, prompt.as_ref());
        self.surroundings(&self.item.case);
        self.panel(panel, judge.as_deref());
    }

    /// A comparison with another answer. Of a stored run the answer counts, not its location.
    fn pairwise(&mut self, pairwise: &PairwiseGrader) {
        let PairwiseGrader { baseline, criteria, judge, panel, scores } = pairwise;
        self.tag("pairwise");
        self.tag(PAIR_PROMPT_VERSION);
        match baseline {
            PairwiseBaseline::Reference => self.identity.text("reference"),
            PairwiseBaseline::Text(text) => {
                self.identity.text("text");
                self.identity.field(text);
            }
            PairwiseBaseline::Run { written: _, folder: _, answer } => {
                self.identity.text("run");
                self.identity.field(answer);
            }
        }
        self.identity.field(criteria);
        self.identity.field(scores);
        self.panel(panel, judge.as_deref());
    }

    /// A choice among answers, and the answers to choose from.
    fn selection(&mut self, selection: &AnswerSelection) {
        match selection {
            AnswerSelection::Best(BestAnswerRule { criteria, judge, panel }) => {
                self.tag("select_best");
                self.tag(PAIR_PROMPT_VERSION);
                self.identity.field(criteria);
                self.panel(panel, judge.as_deref());
            }
            AnswerSelection::MaxScore(rule) => self.check("max_score", rule),
        }
        if let Some(group) = self.item.relations.rivals.as_ref().filter(|_| self.is_whole) {
            group.write_identity(self.identity);
        }
    }

    fn code(&mut self, grader: &Grader, code: &CodeGrader) {
        // A program that runs out of time is an error without a score, so the time limit does not affect results.
        let CodeGrader { command, cwd, timeout, max_calls, pass_env, result, config } = code;
        let folder = cwd.as_ref().and_then(ProgramFolder::named);
        let in_workspace = (*cwd == Some(ProgramFolder::Workspace)).then_some("in the workspace");
        // The default way to read a program is not written, so that identities in stored runs stay valid.
        let result = (*result != ProgramResult::default()).then(|| result.name());
        if self.is_whole {
            self.identity.text("code");
            self.identity.field(timeout);
            self.identity.field(max_calls);
            if let Some(result) = result {
                self.identity.text(result);
            }
            self.identity.field(pass_env);
            self.identity.field(config);
            if max_calls.is_some() {
                self.judge(None);
            }
            if let Some(place) = in_workspace {
                self.identity.text(place);
            }
            self.command(grader, command, folder);
            self.surroundings(&self.item.case);
        } else {
            self.identity.field(command);
            if let Some(place) = in_workspace {
                self.identity.text(place);
            }
            self.relative_folder(grader, folder);
            self.identity.field(max_calls);
            self.identity.field(pass_env);
            if let Some(result) = result {
                self.identity.text(result);
            }
            self.identity.field(config);
        }
    }

    fn custom(&mut self, grader: &Grader, custom: &CustomGrader) {
        let CustomGrader { type_name, path, pass_env, config } = custom;
        self.identity.text(if self.is_whole { "custom" } else { type_name });
        self.identity.field(pass_env);
        self.identity.field(config);
        if self.is_whole {
            self.command(grader, path, None);
            self.surroundings(&self.item.case);
        }
    }

    fn composite(&mut self, grader: &Grader, composite: &CompositeGrader) {
        let CompositeGrader { members, aggregator } = composite;
        self.tag("composite");
        self.graders(members);

        match aggregator {
            CompositeAggregator::WeightedAverage(weights) => {
                self.identity.text("weighted_average");
                self.identity.field(weights);
            }
            CompositeAggregator::Threshold(threshold) => {
                self.identity.text("threshold");
                self.identity.field(threshold);
            }
            CompositeAggregator::Code { command, cwd } => {
                self.identity.text("code");
                self.command(grader, command, cwd.as_deref());
                self.surroundings(&self.item.case);
            }
            CompositeAggregator::Function { code, threshold } => {
                self.identity.text("function");
                self.identity.field(code);
                self.identity.field(threshold);
            }
            CompositeAggregator::Llm { prompt, judge } => {
                self.identity.text("llm");
                self.tag(WHOLE_PROMPT_VERSION);
                self.prompt(grader, prompt.as_ref());
                self.surroundings(&self.item.case);
                self.judge(judge.as_deref());
            }
        }
    }

    /// A benchmark on a case: its evaluator, its checks, and the question for a judge.
    fn benchmark(&mut self, benchmark: &BenchmarkGrader) {
        let BenchmarkGrader {
            evaluator,
            checks,
            all_must_pass,
            behaviour,
            scale,
            subject,
            labels: _,
            raters,
            unbound_labels: _,
        } = benchmark;
        self.tag("benchmark");
        self.identity.field(evaluator);
        self.identity.field(all_must_pass);
        self.identity.field(behaviour);
        self.identity.field(scale);
        // Labels are applied whenever a run is read, so a new label must not make the target answer again.
        if self.is_whole {
            self.identity.field(subject);
        } else {
            self.identity.field(&raters.map(|raters| u64::from(raters.get())));
        }
        self.graders(checks);

        if behaviour.is_some() {
            self.tag(BEHAVIOUR_PROMPT_VERSION);
            self.panel(&PanelSpec::default(), None);
        }
    }

    /// A conversation without the graders of its case.
    pub(crate) fn conversation(&mut self, conversation: &Conversation) {
        let Conversation { turns, aggregation, on_turn_failure, window_size } = conversation;
        self.identity.field(aggregation);
        self.identity.field(on_turn_failure);
        self.identity.field(window_size);
        self.identity.field(&turns.len());

        for turn in turns {
            if self.is_whole {
                let current = self.item.case.turn_case(turn, &[]);
                self.identity.field(&target_input(&current, self.item.trial).map_err(|_| ""));
                self.identity.field(&current.reference());
                self.surroundings(&current);
            }
            self.graders(&turn.graders);
        }
    }

    /// The model that computes vectors or labels of texts.
    fn measuring_model(&mut self, model: &str) {
        if self.is_whole {
            // The error's text is not part of the hash.
            let model = self.item.judges.measuring_model(model).map(|model| model.describe()).map_err(|_| "");
            self.identity.field(&model);
        }
    }

    /// What scripts see of a case besides its question.
    pub(crate) fn variables(&mut self) {
        if self.is_whole {
            let case = &self.item.case;
            let vars: serde_json::Map<String, Value> = case.vars.clone().into_iter().collect();
            self.identity.field(&vars);
            self.identity.field(&case.metadata);
        }
    }

    /// All judges that may decide, and how their votes are combined.
    fn panel(&mut self, panel: &PanelSpec, named: Option<&str>) {
        if !self.is_whole {
            return;
        }
        let spec = self.item.panels.spec(panel, named);
        // A single judge is the same whether the command line, a file or a default names it; its settings follow.
        match &*spec.judges {
            [judge] if judge.weight.is_none() => {
                self.identity.field(&spec.clone().into_owned().without_judges());
            }
            _ => self.identity.field(&*spec),
        }

        for selector in judge_selectors(self.item, named) {
            for wish in panel_selectors(&spec, selector) {
                self.item.judges.write_settings(wish, self.identity);
            }
        }
    }

    fn judge(&mut self, named: Option<&str>) {
        if self.is_whole {
            for selector in judge_selectors(self.item, named) {
                self.item.judges.write_settings(selector, self.identity);
            }
        }
    }

    /// The prompt of a grader. For [`hash_settings`] it is part of the judge's identity.
    fn prompt(&mut self, grader: &Grader, prompt: Option<&GraderPrompt>) {
        if !self.is_whole {
            return;
        }
        match prompt {
            None => self.identity.text("built-in"),
            Some(GraderPrompt::Text { text, path: _ }) => {
                self.identity.text("text");
                self.identity.field(text);
            }
            Some(GraderPrompt::Program(command)) => {
                self.identity.text("program");
                self.command(grader, command, None);
            }
        }
    }

    /// A command and the folder it runs in. The whole identity has the version of its interface and the folder of the
    /// grader's file, which is the default.
    fn command(&mut self, grader: &Grader, command: &impl Identify, cwd: Option<&Path>) {
        if self.is_whole {
            self.identity.field(&PROGRAM_CONTRACT);
            self.identity.field(command);
            self.identity.field(&cwd);
            self.identity.field(&grader.place.path().parent());
        } else {
            self.identity.field(command);
            self.relative_folder(grader, cwd);
        }
    }

    /// Writes a folder next to or below the folder of the grader's file, as a relative path. Any other folder counts as
    /// none.
    fn relative_folder(&mut self, grader: &Grader, folder: Option<&Path>) {
        let home = grader.place.path().parent();
        let relative = folder.zip(home).and_then(|(folder, home)| folder.strip_prefix(home).ok());
        self.identity.field(&relative.filter(|path| !path.as_os_str().is_empty()));
    }

    /// The parts of a case besides its question that programs and prompts see.
    fn surroundings(&mut self, case: &Case) {
        if !self.is_whole {
            return;
        }
        for messages in [&case.input, &case.expected_output] {
            self.identity.field(&Value::Array(messages.iter().map(CaseMessage::to_json).collect()));
        }

        let files: Vec<_> = case.attachments().collect();
        self.identity.field(&files);
        self.identity.field(&case.metadata);
        if case.output_as_text {
            self.identity.text("output as text");
        }
    }
}

/// The selectors of the judge, one for each target that may answer.
fn judge_selectors<'a>(item: &'a WorkItem, named: Option<&'a str>) -> Vec<JudgeSelector<'a>> {
    let selector = item.judge_selector(named);
    let others = match &item.source {
        ItemSource::Target(target) => target.fallbacks(),
        ItemSource::Given(_) | ItemSource::Missing { .. } => &[],
    };
    let behind = others.iter().map(|other| JudgeSelector { answered_by: Some(other.name()), ..selector });

    std::iter::once(selector).chain(behind).collect()
}
