//! Fingerprints of graders, pinned like the identities in [`crate::tests::identities`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{WorkItem, fingerprint};
use assize_model::{
    AnswerCheck, AnswerRelevanceCheck, AnswerSelection, AnswerTransform, Applicability, ArgsMatch,
    AuthorCode, Behaviour, BenchmarkGrader, BestAnswerRule, Case, CodeGrader, CodeLanguage, CodeProgram,
    CompositeAggregator, CompositeGrader, ContextGrader, ContextMeasure, ContextSource, CustomGrader,
    EvaluatorType, ExecutionMetrics, ExpectedCall, FieldAccuracy, FieldCheck, FieldMatch, Grader,
    GraderCommand, GraderKind, GraderPrompt, Guidelines, IsJson, LabelCheck, LabelRule, LlmGrader,
    MaxScoreRule, PairwiseBaseline, PairwiseGrader, PanelSpec, Regex, RubricGrader, ScoringScale,
    ScriptCheck, SimilarityCheck, SimilarityMeasure, SkillTrigger, SqlCheck, SqlDialect, TextCheck, TextRule,
    TokenUsage, ToolTrajectory, TrajectoryMode, TransformedGrader,
};
use assize_rubric::{
    Criterion, EvidencePolicy, JudgingMode, Label, LabelOutcome, NormalisationFormula, PairScores, Rubric,
    SubjectHash, TruncationMode, UnboundLabels, UnitInterval,
};
use serde_json::json;

use crate::tests::fakes::{Literal, Only, item, rubric};
use crate::tests::identities::{assert_held, banded, grader, object, panel, place, unit, weight};

fn checks() -> Vec<Arc<Grader>> {
    let rules = [
        TextRule::Contains { ignore_case: true },
        TextRule::ContainsAny { ignore_case: false },
        TextRule::ContainsAll { ignore_case: false },
        TextRule::StartsWith,
        TextRule::EndsWith,
        TextRule::Equals,
        TextRule::Regex(Regex { flags: "i".to_owned() }),
    ];
    let texts = rules
        .map(|rule| GraderKind::Check(AnswerCheck::Text(TextCheck { rule, values: vec!["a".to_owned()] })));
    let field = |rule| FieldCheck { path: "a.b".to_owned(), rule, required: true, weight: weight(1.0) };
    let fields = vec![
        field(FieldMatch::Exact),
        field(FieldMatch::NumericTolerance { tolerance: 0.1, relative: true }),
        field(FieldMatch::Date { formats: vec!["%Y".to_owned()] }),
    ];
    let expected = |args_match| ExpectedCall {
        tool: "search".to_owned(),
        args: Some(json!({ "q": 1 })),
        args_match: Some(args_match),
        max_duration: Some(Duration::from_secs(1)),
    };
    let modes = [
        TrajectoryMode::AnyOrder,
        TrajectoryMode::InOrder,
        TrajectoryMode::Exact,
        TrajectoryMode::Superset,
        TrajectoryMode::Subset,
    ];
    let trajectories = modes.map(|mode| {
        GraderKind::Check(AnswerCheck::ToolTrajectory(ToolTrajectory {
            mode,
            minimums: vec![("search".to_owned(), 2)],
            expected: vec![
                expected(ArgsMatch::Exact),
                expected(ArgsMatch::Superset),
                expected(ArgsMatch::Subset),
                expected(ArgsMatch::Fields(vec!["q".to_owned()])),
            ],
            args_match: Some(ArgsMatch::Ignore),
        }))
    });
    let metrics = ExecutionMetrics {
        max_tool_calls: Some(1),
        max_llm_calls: Some(2),
        max_tokens: Some(3),
        max_cost_usd: Some(0.5),
        max_duration: Some(Duration::from_secs(4)),
        target_exploration_ratio: Some(unit(0.5)),
        exploration_tolerance: Some(unit(0.2)),
    };
    let usage = TokenUsage { max_total: Some(1), max_input: Some(2), max_output: Some(3) };
    let others = [
        GraderKind::Check(AnswerCheck::IsJson(IsJson {
            schema: Some(json!({ "type": "object" })),
            embedded: false,
        })),
        GraderKind::Check(AnswerCheck::IsJson(IsJson {
            schema: Some(json!({ "type": "object" })),
            embedded: true,
        })),
        GraderKind::Check(AnswerCheck::FieldAccuracy(FieldAccuracy { fields, all_or_nothing: true })),
        GraderKind::Check(AnswerCheck::Latency { threshold: Duration::from_secs(1) }),
        GraderKind::Check(AnswerCheck::Cost { budget_usd: 0.5 }),
        GraderKind::Check(AnswerCheck::TokenUsage(usage)),
        GraderKind::Check(AnswerCheck::ExecutionMetrics(metrics)),
        GraderKind::Check(AnswerCheck::SkillTrigger(SkillTrigger {
            skill: "pdf".to_owned(),
            should_trigger: true,
        })),
    ];
    let all = texts.into_iter().chain(trajectories).chain(others);
    all.map(|kind| grader("check", kind)).collect()
}

fn rubric_grader() -> GraderKind {
    GraderKind::Rubric(RubricGrader {
        rubric: Arc::new(Rubric::new(vec![Criterion::checklist("a", "A"), banded()]).expect("valid")),
        places: vec![place()],
        marks: Vec::new(),
        instructions: None,
        judging: Some(JudgingMode::Batched(None)),
        evidence: Some(EvidencePolicy::Required),
        truncate: Some(TruncationMode::Chunk),
        judge: Some("j".to_owned()),
        panel: panel(),
    })
}

fn llm_grader(prompt: Option<GraderPrompt>) -> GraderKind {
    GraderKind::Llm(LlmGrader {
        prompt,
        judge: None,
        panel: PanelSpec::default(),
        temperature: Some(0.1),
        max_steps: Some(2),
        config: object(json!({ "b": 1, "a": 2 })),
        preprocessors: Vec::new(),
        given: None,
    })
}

fn code_grader(max_calls: Option<u32>) -> GraderKind {
    GraderKind::Code(CodeGrader {
        command: GraderCommand::Argv(vec!["check".to_owned()]),
        cwd: Some(assize_model::ProgramFolder::Named(PathBuf::from("tools"))),
        timeout: Some(Duration::from_secs(9)),
        max_calls,
        pass_env: vec!["TOKEN".to_owned()],
        result: assize_model::ProgramResult::Any,
        config: object(json!({ "strict": true })),
    })
}

fn pairwise_grader(baseline: PairwiseBaseline) -> GraderKind {
    GraderKind::Pairwise(PairwiseGrader {
        baseline,
        criteria: vec![Criterion::checklist("c1", "shorter")],
        judge: None,
        panel: PanelSpec::default(),
        scores: PairScores::default(),
    })
}

fn composite_grader(aggregator: CompositeAggregator) -> GraderKind {
    let member = grader("member", GraderKind::Check(AnswerCheck::Cost { budget_usd: 1.0 }));
    GraderKind::Composite(CompositeGrader { members: vec![member], aggregator })
}

fn benchmark_grader() -> GraderKind {
    let scale = ScoringScale {
        min: 0.0,
        max: 100.0,
        descriptions: vec![(0.0, "bad".to_owned())],
        formula: NormalisationFormula::parse("x/100").expect("valid"),
    };
    let guidelines = Guidelines {
        focus_areas: vec!["a".to_owned()],
        acceptable_deviations: vec!["b".to_owned()],
        critical_requirements: vec!["c".to_owned()],
        evidence_requirements: Some("d".to_owned()),
        evidence_is_advisory: false,
        special_instructions: Some("e".to_owned()),
    };
    let behaviour = Behaviour {
        prompt: "Is it so?".into(),
        guidelines: vec![Arc::new(guidelines)],
        applicability: Some(Applicability { inclusion: "in".to_owned(), exclusion: Some("out".to_owned()) }),
        scale: Some(scale.clone()),
        pass_conditions: vec!["so".to_owned()],
        failure_limit: UnitInterval::ONE,
    };
    GraderKind::Benchmark(BenchmarkGrader {
        evaluator: EvaluatorType::Hybrid,
        checks: vec![grader("check", GraderKind::Check(AnswerCheck::Cost { budget_usd: 1.0 }))],
        all_must_pass: true,
        behaviour: Some(Arc::new(behaviour)),
        scale: Some(scale),
        subject: Some(SubjectHash::new(&"question".to_owned(), &"inputs".to_owned())),
        labels: vec![Label::new("case", "benchmark", LabelOutcome::Met)],
        raters: None,
        unbound_labels: UnboundLabels::Report,
    })
}

/// Code that `language` runs.
fn code(language: CodeLanguage) -> AuthorCode {
    let path = Some(PathBuf::from("/project/check"));
    AuthorCode::Program(CodeProgram {
        language,
        path,
        text: "return 1".into(),
        function: Some("f".to_owned()),
    })
}

/// Graders of the kinds that promptfoo configurations use.
fn promptfoo_graders() -> Vec<(&'static str, GraderKind)> {
    let transformed = TransformedGrader {
        inner: grader("inner", GraderKind::Check(AnswerCheck::Cost { budget_usd: 1.0 })),
        transform: AnswerTransform { code: code(CodeLanguage::JavaScript), target: Some("t".to_owned()) },
    };
    let context = ContextGrader {
        measure: ContextMeasure::Recall { expected: "so".to_owned() },
        context: ContextSource::Passages(vec!["it is so".to_owned()]),
        query: Some("is it?".to_owned()),
        judging: Some(JudgingMode::Batched(None)),
        evidence: Some(EvidencePolicy::Required),
        truncate: Some(TruncationMode::Head),
        judge: Some("j".to_owned()),
        panel: panel(),
    };
    let best =
        BestAnswerRule { criteria: vec!["shorter".to_owned()], judge: None, panel: PanelSpec::default() };
    let max_score =
        MaxScoreRule { sums: true, weights: [("g".to_owned(), 2.0)].into(), threshold: Some(0.5) };
    let similar = SimilarityCheck {
        texts: vec!["so".to_owned()],
        measure: SimilarityMeasure::Dot,
        threshold: 0.9,
        model: Some("m".to_owned()),
    };
    let sql = SqlCheck {
        in_blocks: true,
        dialect: SqlDialect::Sqlite,
        allowed_tables: vec!["select::orders".to_owned()],
        allowed_columns: vec!["select::orders::id".to_owned()],
    };
    let relevance = AnswerRelevanceCheck {
        query: Some("is it?".to_owned()),
        threshold: 0.8,
        judge: None,
        model: Some("m".to_owned()),
    };
    let moderation = LabelRule::Moderation { categories: vec!["hate".to_owned()] };
    let classifier = LabelRule::Classifier { class: Some("kind".to_owned()), threshold: 0.9 };
    let script = ScriptCheck {
        code: code(CodeLanguage::Ruby),
        threshold: Some(0.5),
        config: json!({ "strict": true }),
    };

    vec![
        ("script", GraderKind::Check(AnswerCheck::Script(script))),
        ("transformed", GraderKind::Transformed(transformed)),
        ("similar", GraderKind::Similar(similar)),
        ("moderation", GraderKind::Labels(LabelCheck { rule: moderation, model: None })),
        ("classifier", GraderKind::Labels(LabelCheck { rule: classifier, model: Some("m".to_owned()) })),
        ("select-best", GraderKind::Selection(AnswerSelection::Best(best))),
        ("max-score", GraderKind::Selection(AnswerSelection::MaxScore(max_score))),
        ("sql", GraderKind::Check(AnswerCheck::Sql(sql))),
        ("context", GraderKind::Context(context)),
        ("answer-relevance", GraderKind::AnswerRelevance(relevance)),
    ]
}

/// An item whose case has these graders and nothing else of interest.
fn graded(graders: Vec<Arc<Grader>>) -> WorkItem {
    let base = item("case", "answer", rubric(&["a"]), Arc::new(Only(Literal::new())));
    let case = Case { graders, ..(*base.case).clone() };
    WorkItem { case: Arc::new(case), ..base }
}

/// The number of grader kinds.
const GRADER_KINDS: usize = 24;

/// Index of a kind among all of them. It makes a new kind without a row a compile error.
fn place_among_kinds(kind: &GraderKind) -> usize {
    match kind {
        GraderKind::Rubric(_) => 0,
        GraderKind::Llm(_) => 1,
        GraderKind::Pairwise(_) => 2,
        GraderKind::Code(_) => 3,
        GraderKind::Check(AnswerCheck::Text(_)) => 4,
        GraderKind::Check(AnswerCheck::IsJson(_)) => 5,
        GraderKind::Check(AnswerCheck::FieldAccuracy(_)) => 6,
        GraderKind::Check(AnswerCheck::ToolTrajectory(_)) => 7,
        GraderKind::Check(AnswerCheck::Latency { .. }) => 8,
        GraderKind::Check(AnswerCheck::Cost { .. }) => 9,
        GraderKind::Check(AnswerCheck::TokenUsage(_)) => 10,
        GraderKind::Check(AnswerCheck::ExecutionMetrics(_)) => 11,
        GraderKind::Check(AnswerCheck::SkillTrigger(_)) => 12,
        GraderKind::Check(AnswerCheck::Script(_)) => 16,
        GraderKind::Transformed(_) => 17,
        GraderKind::Similar(_) => 18,
        GraderKind::Labels(_) => 23,
        GraderKind::Selection(_) => 19,
        GraderKind::Check(AnswerCheck::Sql(_)) => 20,
        GraderKind::Context(_) => 21,
        GraderKind::AnswerRelevance(_) => 22,
        GraderKind::Composite(_) => 13,
        GraderKind::Custom(_) => 14,
        GraderKind::Benchmark(_) => 15,
    }
}

#[test]
fn fingerprints_of_graders_are_held() {
    let text = |path: Option<PathBuf>| GraderPrompt::Text { text: "Judge it.".to_owned(), path };
    let run = PairwiseBaseline::Run { written: "r".to_owned(), folder: None, answer: Some(Ok("b".into())) };
    let program = GraderCommand::Shell("mix".to_owned());
    let custom = CustomGrader {
        type_name: "own".to_owned(),
        path: PathBuf::from("graders/own.py"),
        pass_env: Vec::new(),
        config: object(json!({ "depth": 2 })),
    };
    let kinds = [
        ("rubric", rubric_grader()),
        ("llm", llm_grader(None)),
        ("llm, text", llm_grader(Some(text(None)))),
        ("llm, program", llm_grader(Some(GraderPrompt::Program(program.clone())))),
        ("pairwise, reference", pairwise_grader(PairwiseBaseline::Reference)),
        ("pairwise, text", pairwise_grader(PairwiseBaseline::Text("b".into()))),
        ("pairwise, run", pairwise_grader(run)),
        ("code", code_grader(None)),
        ("code, model", code_grader(Some(3))),
        ("custom", GraderKind::Custom(custom)),
        (
            "composite, weights",
            composite_grader(CompositeAggregator::WeightedAverage(vec![("member".to_owned(), weight(2.0))])),
        ),
        ("composite, threshold", composite_grader(CompositeAggregator::Threshold(unit(0.5)))),
        ("composite, code", composite_grader(CompositeAggregator::Code { command: program, cwd: None })),
        ("composite, llm", composite_grader(CompositeAggregator::Llm { prompt: None, judge: None })),
        ("benchmark", benchmark_grader()),
    ];
    let kinds: Vec<_> = kinds.into_iter().chain(promptfoo_graders()).collect();
    let mut places: Vec<usize> = kinds.iter().map(|(_, kind)| place_among_kinds(kind)).collect();
    places.extend(checks().iter().map(|check| place_among_kinds(&check.kind)));
    places.sort_unstable();
    places.dedup();
    assert_eq!(places, (0..GRADER_KINDS).collect::<Vec<_>>(), "each kind has a row");

    let mut found: Vec<(&str, String)> = kinds
        .into_iter()
        .map(|(name, kind)| (name, fingerprint(&graded(vec![grader("g", kind)]))[..16].to_owned()))
        .collect();
    found.push(("checks", fingerprint(&graded(checks()))[..16].to_owned()));

    assert_held(
        &found,
        &[
            ("rubric", "f26aa6908cc4dfe8"),
            ("llm", "6c4cd1e9ae7d9791"),
            ("llm, text", "4f8ac9f83d8758f6"),
            ("llm, program", "9c40812634ed1495"),
            ("pairwise, reference", "c6695a1502646c53"),
            ("pairwise, text", "bed7a5e6deb9117b"),
            ("pairwise, run", "ae9efa23b4c39cec"),
            ("code", "69c80fe07233185b"),
            ("code, model", "9f484d2442295e6c"),
            ("custom", "cb8dba1525197cb8"),
            ("composite, weights", "df03dc24fae39f5f"),
            ("composite, threshold", "13e3b86c217a9d49"),
            ("composite, code", "6c0ff7f7aa9876dd"),
            ("composite, llm", "f7dd1c66043615f6"),
            ("benchmark", "981ade9de73086d8"),
            ("script", "17f30f615f22c5c2"),
            ("transformed", "759293aef0b767b8"),
            ("similar", "12054c139d63d85b"),
            ("moderation", "8672c35ed51cb730"),
            ("classifier", "2a6c0cb21949125c"),
            ("select-best", "4db4ca3444e988e3"),
            ("max-score", "dbb5e44db45998b0"),
            ("sql", "b43359dce666a83b"),
            ("context", "242d83a8fd552601"),
            ("answer-relevance", "5ac81281f552fdb6"),
            ("checks", "415838de9a0d6386"),
        ],
    );
}

#[test]
fn each_check_has_a_fingerprint_of_its_own() {
    let all: Vec<String> = checks().into_iter().map(|check| fingerprint(&graded(vec![check]))).collect();

    for (index, one) in all.iter().enumerate() {
        assert!(!all[..index].contains(one), "{index}");
    }
}
