//! Stored identities, pinned byte for byte: renaming a type, a field or a variant must not change them.
//!
//! A hash that changes here makes every stored result of its kind look outdated, and `--resume` runs all of
//! them again. If that is intended, raise the version that the identity begins with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    CasePrerequisite, ItemRelations, ItemSource, JudgeProvider, PanelSettings, WorkItem, fingerprint,
};
use assize_llm::{AskError, BoxFuture, ChatModel, ChatReply, ChatRequest, ErrorKind, ModelId};
use assize_model::{
    AnswerCheck, Case, Conversation, ConversationTurn, EscalateWhen, Escalation, FilePosition, GivenOutput,
    Grader, GraderCommand, GraderKind, OnDependencyFailure, OnTurnFailure, PanelJudge, PanelSpec, RepoSource,
    RepoSpec, ScoringMethod, TurnAggregation, WorkspaceHook, WorkspaceHooks, WorkspaceIsolation,
    WorkspaceMode, WorkspaceReset, WorkspaceSpec,
};
use assize_rubric::{
    CaseMessage, Cost, Criterion, CriterionOperator, CriterionScale, EvidencePolicy, Gate, GraderWeighting,
    Identify, IdentityWriter, JudgeIdentity, JudgingMode, LabelOutcome, MessageBlock, MessageRole,
    NormalisationFormula, PairScores, PanelRule, RawScore, ScoreBand, ScoreBands, TiePolicy, Tokens,
    TrialPlan, TrialStrategy, TruncationMode, UnitInterval, Usd, VerdictThresholds, Weight,
};
use assize_store::CaseErrorKind;
use assize_targets::{
    CommandTarget, CommandTemplate, FallbackTarget, InputMessage, MockTarget, ModelTarget, Target,
    TargetAnswer, TargetInput, TargetInputPart, ToolCall, TurnInput,
};
use serde_json::{Map, Value, json};

use crate::tests::fakes::{Broken, Literal, NoJudge, Only, item, rubric, thresholds};

fn hash(identity: &IdentityWriter) -> String {
    blake3::hash(identity.as_bytes()).to_hex()[..16].to_owned()
}

fn of<T: Identify + ?Sized>(value: &T) -> String {
    let mut identity = IdentityWriter::default();
    identity.field(value);
    hash(&identity)
}

fn of_all<T: Identify>(values: &[T]) -> String {
    let hashes: Vec<String> = values.iter().map(of).collect();
    for (index, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..index].contains(hash), "two of {} values have one identity", values.len());
    }

    of(values)
}

fn settings(target: &dyn Target) -> String {
    let mut identity = IdentityWriter::default();
    target.write_settings(&mut identity);
    hash(&identity)
}

/// Compares all at once, so that a change of several identities is a single failure.
pub(crate) fn assert_held(found: &[(&str, String)], held: &[(&str, &str)]) {
    let found: Vec<(&str, &str)> = found.iter().map(|(name, hash)| (*name, hash.as_str())).collect();
    assert_eq!(found, held);
}

pub(crate) fn unit(value: f64) -> UnitInterval {
    UnitInterval::new(value).expect("in range")
}

pub(crate) fn weight(value: f64) -> Weight {
    Weight::new(value).expect("finite")
}

fn raw(value: u8) -> RawScore {
    RawScore::new(value).expect("in range")
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

pub(crate) fn place() -> FilePosition {
    FilePosition::new("suites/a.yaml", 3, 5)
}

fn bands() -> CriterionScale {
    let band = |low, high, text: &str| ScoreBand { low: raw(low), high: raw(high), text: text.to_owned() };
    CriterionScale::Bands(ScoreBands::new(vec![band(0, 5, "bad"), band(6, 10, "good")]).expect("valid"))
}

pub(crate) fn banded() -> Criterion {
    Criterion {
        weight: weight(-2.0),
        scale: bands(),
        gate: Some(Gate::MinRaw(raw(7))),
        operator: CriterionOperator::Contradiction,
        may_not_apply: true,
        ..Criterion::checklist("c", "Names the capital.")
    }
}

fn judge() -> JudgeIdentity {
    JudgeIdentity {
        name: "openai:m".into(),
        model: Some("m-1".into()),
        version: Some("3".into()),
        prompt_hash: Some("abc".into()),
    }
}

fn plan() -> TrialPlan {
    TrialPlan {
        count: 3,
        strategy: TrialStrategy::Mean,
        early_stop: true,
        cost_limit_usd: Some(Usd::from_pico(5)),
        thresholds: VerdictThresholds::new(unit(0.8), Some(unit(0.6))).expect("in order"),
    }
}

pub(crate) fn panel() -> PanelSpec {
    PanelSpec {
        judges: [PanelJudge { name: "a".to_owned(), weight: Some(weight(2.0)) }].into(),
        repeats: Some(3),
        combine: Some(PanelRule::Weighted),
        ties: Some(TiePolicy::Fail),
        temperature: Some(0.5),
        escalate: Some(Escalation { to: "b".to_owned(), when: EscalateWhen::Split }),
        scoring: Some(ScoringMethod::Logprobs),
    }
}

#[test]
fn identities_of_criteria_and_judges_are_held() {
    let weighting =
        GraderWeighting { weight: weight(2.0), required: true, min_score: Some(unit(0.5)), negate: true };
    let gates = [Gate::Met, Gate::PassLine, Gate::MinRaw(raw(1)), Gate::MinValue(unit(0.1))];
    let labels = [
        LabelOutcome::Met,
        LabelOutcome::Unmet,
        LabelOutcome::Score(0.5),
        LabelOutcome::NotApplicable,
        LabelOutcome::Unsure,
    ];
    let truncate = [
        TruncationMode::Never,
        TruncationMode::Head,
        TruncationMode::Tail,
        TruncationMode::Middle,
        TruncationMode::Chunk,
    ];
    let batched = [
        JudgingMode::PerCriterion,
        JudgingMode::Batched(None),
        JudgingMode::Batched(std::num::NonZeroUsize::new(4)),
    ];
    let found = [
        ("criterion", of(&banded())),
        ("scales", of_all(&[CriterionScale::Checklist, bands()])),
        ("operators", of_all(&[CriterionOperator::Correctness, CriterionOperator::Contradiction])),
        ("gates", of_all(&gates)),
        ("standing", of(&weighting)),
        ("judging", of_all(&batched)),
        ("evidence", of_all(&[EvidencePolicy::Checked, EvidencePolicy::Required])),
        ("truncate", of_all(&truncate)),
        ("repeats", of(&plan())),
        ("strategies", of_all(&TrialStrategy::ALL)),
        ("rules", of_all(&PanelRule::ALL)),
        ("ties", of_all(&[TiePolicy::Ungraded, TiePolicy::Fail, TiePolicy::Pass])),
        ("pairs", of(&PairScores { tie: unit(0.25), inconsistent: unit(0.75) })),
        ("judge", of(&judge())),
        ("labels", of_all(&labels)),
        ("formula", of(&NormalisationFormula::parse("x/100").expect("valid"))),
        ("tokens", of(&Tokens { input: Some(1), cached: None, output: Some(2) })),
        ("cost", of(&(Cost::from_known(Usd::from_pico(7)) + Cost::UNKNOWN))),
    ];

    assert_held(
        &found,
        &[
            ("criterion", "57993197ee0715d2"),
            ("scales", "ceca70377558df41"),
            ("operators", "e44c576a8c8f70e5"),
            ("gates", "7a352ad821684360"),
            ("standing", "7658747540e3674d"),
            ("judging", "aad5eb9a9c69bcdb"),
            ("evidence", "ecd7ec46486f4a9c"),
            ("truncate", "280bd16c3f299b53"),
            ("repeats", "7e50da7c159aa1d7"),
            ("strategies", "a1f5ebd39ee007ce"),
            ("rules", "60bcdf26fffd25d2"),
            ("ties", "eb1a490e891e0563"),
            ("pairs", "32e9fd3d7ed42b67"),
            ("judge", "c65c41c783a96e59"),
            ("labels", "9034ef23ec1a2f58"),
            ("formula", "49bc355d7648fcc1"),
            ("tokens", "5a7f7a4d11d035fb"),
            ("cost", "7621068acad537fc"),
        ],
    );
}

#[test]
fn identities_of_panels_and_workspaces_are_held() {
    let hook = WorkspaceHook {
        command: Some(GraderCommand::Shell("make".to_owned())),
        cwd: PathBuf::from("suites"),
        timeout: Some(Duration::from_millis(1500)),
        reset: Some(WorkspaceReset::Fast),
        place: place(),
    };
    let repo = RepoSpec {
        path: PathBuf::from("repo"),
        source: RepoSource::Url("https://example.com/r.git".to_owned()),
        revision: Some("main".to_owned()),
        ancestor: 2,
        depth: Some(1),
        filter: Some("blob:none".to_owned()),
        sparse: vec!["src".to_owned()],
        place: place(),
    };
    let hooks = WorkspaceHooks {
        enabled: Some(true),
        before_all: Some(hook.clone()),
        before_each: None,
        after_each: Some(WorkspaceHook { command: None, reset: Some(WorkspaceReset::Strict), ..hook }),
        after_all: None,
        functions: Vec::new(),
    };
    let workspace = WorkspaceSpec {
        template: Some(PathBuf::from("template")),
        repos: vec![repo],
        hooks,
        isolation: Some(WorkspaceIsolation::Shared),
        mode: Some(WorkspaceMode::Pooled),
        path: Some(PathBuf::from("here")),
        docker: None,
    };
    let commands =
        [GraderCommand::Shell("a b".to_owned()), GraderCommand::Argv(vec!["a".to_owned(), "b".to_owned()])];
    let sources = [RepoSource::Url("a".to_owned()), RepoSource::Folder(PathBuf::from("a"))];
    let found = [
        ("panel", of(&panel())),
        ("escalations", of_all(&[EscalateWhen::Split, EscalateWhen::Unsure])),
        ("scorings", of_all(&[ScoringMethod::Written, ScoringMethod::Logprobs])),
        ("workspace", of(&workspace)),
        ("isolation", of_all(&[WorkspaceIsolation::PerTest, WorkspaceIsolation::Shared])),
        ("modes", of_all(&[WorkspaceMode::Temp, WorkspaceMode::Pooled, WorkspaceMode::Static])),
        ("resets", of_all(&[WorkspaceReset::Fast, WorkspaceReset::Strict])),
        ("sources", of_all(&sources)),
        ("commands", of_all(&commands)),
    ];

    assert_held(
        &found,
        &[
            ("panel", "48d3f34fef4e35fd"),
            ("escalations", "bfea89c2620f5e99"),
            ("scorings", "09d0d358fefa1826"),
            ("workspace", "bc5b656463a94482"),
            ("isolation", "2683a8beaaf1bc95"),
            ("modes", "7b301edabdd32601"),
            ("resets", "a8ac08beea31ec42"),
            ("sources", "cd49aa12bc5fdcc6"),
            ("commands", "6e93e86beac3cabb"),
        ],
    );
}

#[test]
fn identities_of_messages_are_held() {
    let message = CaseMessage {
        role: MessageRole::Tool,
        blocks: vec![
            MessageBlock::Text("text".to_owned()),
            MessageBlock::Json(json!({ "a": [1, 2.5, null, true] })),
            MessageBlock::File {
                written: "f.txt".to_owned(),
                path: PathBuf::from("d/f.txt"),
                text: "content".into(),
            },
            MessageBlock::Image {
                written: "p.png".to_owned(),
                path: PathBuf::from("d/p.png"),
                media_type: "image/png",
            },
        ],
        tool_calls: vec![json!({ "name": "search" })],
        name: Some("search".to_owned()),
        data: object(json!({ "tool_call_id": "1" })),
    };
    let outputs = [
        GivenOutput::Text("a".to_owned()),
        GivenOutput::Json(json!("a")),
        GivenOutput::Messages(vec![message.clone()]),
    ];
    let found = [
        ("message", of(&message)),
        ("roles", of_all(&MessageRole::ALL)),
        ("outputs", of_all(&outputs)),
        ("aggregations", of_all(&[TurnAggregation::Mean, TurnAggregation::Min, TurnAggregation::Max])),
        ("turn failures", of_all(&[OnTurnFailure::Continue, OnTurnFailure::Stop])),
        (
            "dependency failures",
            of_all(&[OnDependencyFailure::Skip, OnDependencyFailure::Fail, OnDependencyFailure::Run]),
        ),
    ];

    assert_held(
        &found,
        &[
            ("message", "6867eac934d3b633"),
            ("roles", "80abef41ee5b533c"),
            ("outputs", "81c3544ffeff2a05"),
            ("aggregations", "ddf11c53fe478b5b"),
            ("turn failures", "3635e2d46e516abe"),
            ("dependency failures", "481f6594c9da8116"),
        ],
    );
}

struct Model;

impl ChatModel for Model {
    fn ask<'a>(&'a self, _: &'a ChatRequest) -> BoxFuture<'a, Result<ChatReply, AskError>> {
        Box::pin(async { Err(AskError::new(ErrorKind::Server, "never asked")) })
    }

    fn describe(&self) -> ModelId {
        ModelId { provider: "openai".into(), model: "m".into(), base_url_host: "localhost".into() }
    }
}

fn input() -> TargetInput {
    let parts = vec![
        TargetInputPart::Text("text".to_owned()),
        TargetInputPart::File { path: "/d/f".into(), display: "f".to_owned(), text: "content".into() },
        TargetInputPart::Image {
            path: "/d/p".into(),
            media_type: "image/png".to_owned(),
            bytes: [1, 2].into(),
        },
    ];
    let message = InputMessage { role: assize_targets::MessageRole::User, parts };
    TargetInput {
        turn: Some(TurnInput { number: 1, of: 2, opening: vec![message.clone()] }),
        guidelines: "be kind".to_owned(),
        workdir: Some(PathBuf::from("/w")),
        ..TargetInput::new("case", vec![message])
    }
}

fn answer() -> TargetAnswer {
    let call = ToolCall {
        name: "search".to_owned(),
        input: json!({ "q": 1 }),
        output: Some(json!("found")),
        duration: Some(Duration::from_millis(3)),
        failed: Some(false),
    };
    TargetAnswer {
        text: "answer".to_owned(),
        is_json: false,
        messages: Some(json!([{ "role": "assistant" }])),
        tokens: Tokens { input: Some(1), cached: Some(0), output: Some(2) },
        cost: Some(Cost::ZERO),
        duration: Duration::from_secs(2),
        model: Some("m".to_owned()),
        finish_reason: None,
        guardrails: None,
        spans: None,
        tool_calls: vec![call],
        file_changes: Some("diff".to_owned()),
        workspace: Some(PathBuf::from("/w")),
        attempts: 2,
        recalled: false,
        answered_by: Some("other".to_owned()),
    }
}

#[test]
fn identities_of_targets_are_held() {
    let environment = || assize_process::Environment::from_vars([("PATH", "/bin")]);
    let argv = CommandTemplate::Argv(vec!["agent".to_owned(), "{PROMPT}".to_owned()]);
    let shell = CommandTemplate::Shell("agent {PROMPT}".to_owned());
    let mut command = CommandTarget::new("command", argv, environment(), "/tmp");
    command.stdin = Some("{PROMPT}".to_owned());
    command.cwd = Some(PathBuf::from("/folder"));
    let mock = MockTarget {
        name: "mock".to_owned(),
        response: json!({ "text": "yes" }),
        shortest: Duration::ZERO,
        longest: Duration::from_millis(10),
        fail: Some("as told".to_owned()),
    };
    let model = ModelTarget {
        temperature: Some(0.5),
        seed: Some(7),
        max_output_tokens: Some(100),
        ..ModelTarget::new("model", Arc::new(Model))
    };
    let fallback = FallbackTarget::new(Arc::new(mock.clone()), vec![Arc::new(model.clone())]);
    let found = [
        ("described", settings(&Broken { hangs: false })),
        ("command", settings(&command)),
        ("shell", settings(&CommandTarget::new("command", shell, environment(), "/tmp"))),
        ("mock", settings(&mock)),
        ("model", settings(&model)),
        ("fallback", settings(&fallback)),
        ("input", of(&input())),
        ("answer", of(&answer())),
    ];

    assert_held(
        &found,
        &[
            ("described", "5061fe1d3c74388a"),
            ("command", "89653265eefd832e"),
            ("shell", "6c957229e7fbe76e"),
            ("mock", "547e26ed381a662b"),
            ("model", "cab8731b7620cb10"),
            ("fallback", "d565c1112c1dff8c"),
            ("input", "579c9583a9bfac0e"),
            ("answer", "e038e94b782dec4c"),
        ],
    );
}

pub(crate) fn grader(name: &str, kind: GraderKind) -> Arc<Grader> {
    let weighting = GraderWeighting::default();
    Arc::new(Grader { name: name.to_owned(), type_name: name.to_owned(), weighting, place: place(), kind })
}

#[test]
fn fingerprints_of_cases_are_held() {
    let judges: Arc<dyn JudgeProvider> = Arc::new(Only(Literal::new()));
    let plain = || item("case", "answer", rubric(&["a", "b"]), Arc::clone(&judges));
    let after =
        vec![CasePrerequisite { case_id: "first".to_owned(), targets: vec![None, Some("t".to_owned())] }];
    let relations = ItemRelations { trials: plan(), after, ..ItemRelations::none(thresholds()) };
    let turn = ConversationTurn {
        input: vec![CaseMessage::text(MessageRole::User, "and then?")],
        expected_output: vec![CaseMessage::text(MessageRole::Assistant, "so")],
        graders: vec![grader("turn", GraderKind::Check(AnswerCheck::Cost { budget_usd: 1.0 }))],
        place: place(),
    };
    let conversation = Conversation {
        turns: vec![turn],
        aggregation: TurnAggregation::Min,
        on_turn_failure: OnTurnFailure::Stop,
        window_size: Some(4),
    };
    let with_turns = WorkItem {
        case: Arc::new(Case { conversation: Some(conversation), ..(*plain().case).clone() }),
        ..plain()
    };
    let cases = [
        ("plain", plain()),
        ("given", WorkItem { source: ItemSource::Given(Arc::new(answer())), ..plain() }),
        (
            "missing",
            WorkItem {
                source: ItemSource::Missing {
                    kind: CaseErrorKind::NoTarget,
                    message: "m".to_owned(),
                    target: None,
                },
                ..plain()
            },
        ),
        ("asked", WorkItem { source: ItemSource::Target(Arc::new(Broken { hangs: false })), ..plain() }),
        ("unjudged", WorkItem { judges: Arc::new(NoJudge), ..plain() }),
        ("related", WorkItem { relations: Arc::new(relations), trial: 2, ..plain() }),
        (
            "paneled",
            WorkItem { panels: Arc::new(PanelSettings::new(panel(), PanelSpec::default())), ..plain() },
        ),
        (
            "overridden",
            WorkItem {
                judging_override: Some(JudgingMode::Batched(None)),
                truncate_override: Some(TruncationMode::Head),
                ..plain()
            },
        ),
        ("turns", with_turns),
    ];
    let found: Vec<(&str, String)> =
        cases.into_iter().map(|(name, case)| (name, fingerprint(&case)[..16].to_owned())).collect();

    assert_held(
        &found,
        &[
            ("plain", "1f20e3596b436df1"),
            ("given", "98a0e40c83b72600"),
            ("missing", "193d4aa6a75febed"),
            ("asked", "28c0e2a08b1d53de"),
            ("unjudged", "03747948f77bac82"),
            ("related", "cba8e5ae8148de06"),
            ("paneled", "415d78b58290ee9a"),
            ("overridden", "6ce225270354bd95"),
            ("turns", "cad53b511475e4b2"),
        ],
    );
}
