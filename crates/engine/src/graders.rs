//! Finds problems of graders before a run sends requests.

use std::sync::{Arc, LazyLock};

use assize_grade::schema_problem;
use assize_model::{
    AnswerCheck, AnswerSelection, AuthorCode, Case, CodeProgram, CompositeAggregator, ContextMeasure,
    ContextSource, Grader, GraderCommand, GraderKind, GraderPrompt, PairwiseBaseline, PanelSpec,
    ProgramFolder,
};
use assize_rubric::JudgingMode;
use assize_run::custom_command;

use crate::judges::OFFLINE;

/// Calls `see` for a grader and all its members.
pub(crate) fn visit_graders(grader: &Grader, see: &mut dyn FnMut(&Grader)) {
    see(grader);

    if let GraderKind::Composite(composite) = &grader.kind {
        for member in &composite.members {
            visit_graders(member, see);
        }
    }

    if let GraderKind::Transformed(changed) = &grader.kind {
        visit_graders(&changed.inner, see);
    }

    if let GraderKind::Benchmark(benchmark) = &grader.kind {
        for check in &benchmark.checks {
            visit_graders(check, see);
        }
    }
}

/// The model for embeddings or labels that a grader uses; `None` if it uses none.
pub(crate) fn measuring_model(grader: &Grader) -> Option<&str> {
    match &grader.kind {
        GraderKind::Similar(check) => Some(check.model()),
        GraderKind::AnswerRelevance(check) => Some(check.model()),
        GraderKind::Labels(check) => Some(check.model()),
        _ => None,
    }
}

/// Returns a problem of a grader that does not depend on its judge.
pub(crate) fn grader_problem(grader: &Grader) -> Option<String> {
    let what = match &grader.kind {
        GraderKind::Check(AnswerCheck::IsJson(check)) => {
            let problem = check.schema.as_ref().and_then(schema_problem)?;
            format!("the schema can't be used: {problem}")
        }
        GraderKind::Custom(custom) => custom_command(&custom.path).err()?,
        _ => return None,
    };
    Some(format!("grader `{}`: {what}", grader.name))
}

/// Beginnings of commands that run the tests of the folder they are in.
const TEST_RUNNERS: [&str; 25] = [
    "pytest", "python -m pytest", "python3 -m pytest", "python -m unittest", "python3 -m unittest", "tox",
    "npm test", "npm run test", "pnpm test", "yarn test", "bun test", "deno test", "npx jest", "npx vitest",
    "cargo test", "cargo nextest", "go test", "make test", "make check", "mvn test", "gradle test",
    "./gradlew test", "dotnet test", "bundle exec rspec", "ctest",
];

/// Why a grading program does not see the work of a target without a workspace; `None` if it needs none.
pub(crate) fn workspace_problem(grader: &Grader, case: &Case) -> Option<String> {
    let GraderKind::Code(code) = &grader.kind else { return None };
    let name = &grader.name;
    match &code.cwd {
        Some(ProgramFolder::Workspace) => {
            Some(format!("grader `{name}` breaks: `cwd` is the workspace, and there is none"))
        }
        None if case.container.is_none() && is_test_runner(&code.command) => Some(format!(
            "grader `{name}` tests the folder of the eval file, whatever the answer is: there is no workspace"
        )),
        Some(ProgramFolder::Named(_)) | None => None,
    }
}

/// Whether a command runs the tests of the folder it is in.
fn is_test_runner(command: &GraderCommand) -> bool {
    let shown = command.shown().to_string();
    let mut rest = TEST_RUNNERS.iter().filter_map(|runner| shown.strip_prefix(runner));
    rest.any(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The program that a grader starts, with its command; `None` if it starts none.
pub(crate) fn grader_program(grader: &Grader) -> Option<String> {
    let (kind, command) = match &grader.kind {
        GraderKind::Code(code) => ("a grading program", code.command.shown().to_string()),
        GraderKind::Custom(custom) => {
            ("a program that is named like its type", custom.path.display().to_string())
        }
        GraderKind::Llm(llm) => ("a prompt program", prompt_program(llm.prompt.as_ref())?),
        GraderKind::Composite(composite) => match &composite.aggregator {
            CompositeAggregator::Code { command, .. } => {
                ("an aggregation program", command.shown().to_string())
            }
            CompositeAggregator::Llm { prompt, .. } => ("a prompt program", prompt_program(prompt.as_ref())?),
            CompositeAggregator::Function { code, .. } => return code_program(grader, code),
            CompositeAggregator::WeightedAverage(_) | CompositeAggregator::Threshold(_) => return None,
        },
        GraderKind::Check(AnswerCheck::Script(check)) => return code_program(grader, &check.code),
        GraderKind::Transformed(changed) => return code_program(grader, &changed.transform.code),
        GraderKind::Context(context) => match &context.context {
            ContextSource::Code(code) => return code_program(grader, code),
            ContextSource::Text(_) | ContextSource::Passages(_) | ContextSource::Question => return None,
        },
        _ => return None,
    };

    Some(format!("grader `{}` ({kind}): `{command}`", grader.name))
}

fn prompt_program(prompt: Option<&GraderPrompt>) -> Option<String> {
    match prompt? {
        GraderPrompt::Program(command) => Some(command.shown().to_string()),
        GraderPrompt::Text { .. } => None,
    }
}

/// The code that a grader runs in an interpreter, with its file.
fn code_program(grader: &Grader, code: &AuthorCode) -> Option<String> {
    Some(format!("grader `{}` ({})", grader.name, describe_code(code.program()?)))
}

/// The language of code, and its file.
pub(crate) fn describe_code(code: &CodeProgram) -> String {
    let language = code.language.name();
    match &code.path {
        Some(path) => format!("{language} code in `{}`", path.display()),
        None => format!("{language} code"),
    }
}

/// Why a comparison has no baseline in the case, or in one of its turns.
pub(crate) fn baseline_problem(grader: &Grader, case: &Case) -> Option<String> {
    if let GraderKind::Selection(AnswerSelection::MaxScore(_)) = &grader.kind {
        let selects = |other: &Arc<Grader>| matches!(other.kind, GraderKind::Selection(_));
        return case.graders.iter().all(selects).then(|| {
            format!(
                "grader `{}`: there is no other grader whose scores it could compare; add one",
                grader.name
            )
        });
    }
    let GraderKind::Pairwise(pairwise) = &grader.kind else { return None };
    if let Some(turn) = case.turns().iter().find(|turn| {
        turn.graders.iter().any(|other| other.place == grader.place && other.name == grader.name)
    }) {
        return match pairwise.baseline {
            PairwiseBaseline::Run { .. } => Some(format!(
                "grader `{}`: a turn can't be compared with a recorded run; compare the conversation",
                grader.name
            )),
            PairwiseBaseline::Reference if turn.expected_output.is_empty() => {
                Some(format!("grader `{}`: the turn has no `expected_output` to compare with", grader.name))
            }
            _ => None,
        };
    }

    (pairwise.baseline == PairwiseBaseline::Reference && case.reference().is_none()).then(|| {
        format!(
            "grader `{}`: case `{}` has no reference answer to compare with; add `expected_output`, or name a `baseline`",
            grader.name, case.id
        )
    })
}

/// Which judges a grader needs.
#[derive(Clone, Copy, Default)]
pub(crate) struct JudgeDemand<'g> {
    /// The judge that the grader names.
    pub(crate) named: Option<&'g str>,
    /// The grader's own panel; `None` for a grader that always has a single judge.
    pub(crate) panel: Option<&'g PanelSpec>,
}

impl<'g> JudgeDemand<'g> {
    const fn with_panel(named: Option<&'g str>, panel: &'g PanelSpec) -> Self {
        Self { named, panel: Some(panel) }
    }
}

/// An empty panel specification.
static DEFAULT_PANEL: LazyLock<PanelSpec> = LazyLock::new(PanelSpec::default);

/// The judges that a grader needs; `None` for a grader without judges.
pub(crate) fn judge_demand(grader: &Grader) -> Option<JudgeDemand<'_>> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => Some(JudgeDemand::with_panel(rubric.judge.as_deref(), &rubric.panel)),
        GraderKind::Llm(llm) => Some(JudgeDemand::with_panel(llm.judge.as_deref(), &llm.panel)),
        GraderKind::Context(grader) => Some(JudgeDemand::with_panel(grader.judge.as_deref(), &grader.panel)),
        // A single judge writes the questions.
        GraderKind::AnswerRelevance(check) => Some(JudgeDemand { named: check.judge.as_deref(), panel: None }),
        GraderKind::Pairwise(pairwise) => {
            Some(JudgeDemand::with_panel(pairwise.judge.as_deref(), &pairwise.panel))
        }
        GraderKind::Selection(AnswerSelection::Best(best)) => {
            Some(JudgeDemand::with_panel(best.judge.as_deref(), &best.panel))
        }
        // A program with model access calls the judge's model.
        GraderKind::Code(code) => code.max_calls.map(|_| JudgeDemand::default()),
        // The files of a scorecard can't name judges, so other sources decide.
        GraderKind::Benchmark(benchmark) => {
            benchmark.behaviour.as_ref().map(|_| JudgeDemand::with_panel(None, &DEFAULT_PANEL))
        }
        // A judge that aggregates others is a single judge.
        GraderKind::Composite(composite) => match &composite.aggregator {
            CompositeAggregator::Llm { judge, .. } => {
                Some(JudgeDemand { named: judge.as_deref(), panel: None })
            }
            CompositeAggregator::WeightedAverage(_)
            | CompositeAggregator::Threshold(_)
            | CompositeAggregator::Code { .. }
            | CompositeAggregator::Function { .. } => None,
        },
        GraderKind::Check(_)
        | GraderKind::Similar(_)
        | GraderKind::Labels(_)
        | GraderKind::Selection(AnswerSelection::MaxScore(_))
        // The grader inside is checked separately.
        | GraderKind::Transformed(_)
        | GraderKind::Custom(_) => None,
    }
}

/// The grader's own judging mode.
pub(crate) fn own_judging(grader: &Grader) -> Option<JudgingMode> {
    match &grader.kind {
        GraderKind::Rubric(rubric) => rubric.judging,
        GraderKind::Context(grader) => grader.judging,
        _ => None,
    }
}

/// Why the judge of this name can't judge for a grader.
pub(crate) fn judge_problem(grader: &Grader, case: &Case, judge: &str) -> Option<String> {
    if judge != OFFLINE {
        return None;
    }

    let follows: Option<&GraderPrompt> = match &grader.kind {
        GraderKind::Code(_) => {
            return Some(format!(
                "grader `{}`: its program calls a model (`target`), which the offline judge is not; name one with `--judge`, or remove `target`",
                grader.name
            ));
        }
        GraderKind::Llm(llm) => match &llm.prompt {
            None if case.expected_outcome.is_none() && case.reference().is_none() => {
                return Some(format!(
                    "grader `{}`: the offline judge needs an expected outcome; add one to the case, or name a model with `--judge`",
                    grader.name
                ));
            }
            prompt => prompt.as_ref(),
        },
        GraderKind::Pairwise(pairwise) => {
            // If the baseline is the reference, the reference can't also serve as a standard for the
            // comparison.
            let reference = case.reference().filter(|_| pairwise.baseline != PairwiseBaseline::Reference);
            if pairwise.criteria.is_empty() && case.expected_outcome.is_none() && reference.is_none() {
                return Some(format!(
                    "grader `{}`: the offline judge needs `criteria` or an expected outcome to compare two answers; add one, or name a model with `--judge`",
                    grader.name
                ));
            }

            None
        }
        GraderKind::AnswerRelevance(_) => {
            return Some(format!(
                "grader `{}`: the offline judge writes no questions; name a model with `--judge`",
                grader.name
            ));
        }
        GraderKind::Context(context) if context.measure == ContextMeasure::Relevance => {
            return Some(format!(
                "grader `{}`: the offline judge compares words, and can't tell what a question needs; name a model with \
                 `--judge`",
                grader.name
            ));
        }
        GraderKind::Composite(_) => {
            return Some(format!(
                "grader `{}`: the offline judge can't weigh results; name a model with `--judge`, or use \
                 `weighted_average`",
                grader.name
            ));
        }
        GraderKind::Rubric(rubric) if rubric.instructions.is_some() => return Some(offline_prompt(grader)),
        GraderKind::Rubric(_)
        | GraderKind::Context(_)
        | GraderKind::Benchmark(_)
        // These need no judge.
        | GraderKind::Check(_)
        | GraderKind::Similar(_)
        | GraderKind::Labels(_)
        // A selection always has criteria.
        | GraderKind::Selection(_)
        // The grader inside is checked separately.
        | GraderKind::Transformed(_)
        | GraderKind::Custom(_) => None,
    };
    follows.map(|_| offline_prompt(grader))
}

fn offline_prompt(grader: &Grader) -> String {
    format!("grader `{}`: the offline judge can't follow a prompt; name a model with `--judge`", grader.name)
}
