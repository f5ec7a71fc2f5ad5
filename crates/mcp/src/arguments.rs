//! Arguments of the tools. Their input schemas are generated from these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Arguments of `validate`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidateArguments {
    /// Eval files, scorecards, or folders to look for them in, below the server's root folder.
    pub(crate) paths: Vec<String>,
}

/// Arguments of `plan`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlanArguments {
    /// Eval files, or folders to look for them in. Leave it out to plan `grade`.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
    /// Cases and answers to run, as for `run_eval`.
    #[serde(flatten)]
    pub(crate) selection: SelectionArguments,
    /// Rubric and samples, as for `grade`.
    #[serde(flatten)]
    pub(crate) samples: SampleArguments,
    /// Judges, as for `run_eval` and `grade`.
    #[serde(default)]
    pub(crate) judges: Vec<String>,
    /// Budget to compare the plan with.
    pub(crate) budget_usd: Option<f64>,
}

/// Arguments of `grade`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GradeArguments {
    /// Rubric and samples.
    #[serde(flatten)]
    pub(crate) samples: SampleArguments,
    /// Judges: `provider:model`, names of targets that are models, or `offline`; several are a panel. By default the
    /// judge of the project's configuration, or else `offline`, which only compares words.
    #[serde(default)]
    pub(crate) judges: Vec<String>,
    /// The most that this call may spend, in US dollars. 0 is enough for the judge `offline`.
    pub(crate) budget_usd: f64,
    /// The most requests to models that this call may make.
    pub(crate) budget_calls: Option<u64>,
}

/// A rubric or a scorecard, and answers to be graded by it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct SampleArguments {
    /// The rubric itself: a list of criteria (sentences, or objects with `id`, `outcome`, `weight`, `required`), an object with
    /// `criteria`, or the text of a rubric file in YAML. Give this, `rubric_file` or `scorecard_file`.
    #[schemars(extend("type" = ["array", "object", "string", "null"]))]
    pub(crate) rubric: Option<Value>,
    /// A rubric file below the server's root folder.
    pub(crate) rubric_file: Option<String>,
    /// A scorecard below the server's root folder: its folder or its single file. Each answer is a separate case.
    pub(crate) scorecard_file: Option<String>,
    /// Weight set of the scorecard's index, instead of the one that the index names.
    pub(crate) weights: Option<String>,
    /// Values that take the place of `{{ name }}` in the criteria of the rubric. A name without a value is an error.
    #[serde(default)]
    pub(crate) vars: BTreeMap<String, Value>,
    /// Answers to be graded.
    #[serde(default)]
    pub(crate) samples: Vec<SampleArgument>,
}

impl SampleArguments {
    /// True if a rubric or a scorecard is named.
    pub(crate) fn names_standard(&self) -> bool {
        self.rubric.is_some() || self.rubric_file.is_some() || self.scorecard_file.is_some()
    }
}

/// Answer to be graded, with what the judge may see beside it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleArgument {
    /// Id of the result; `sample-N` by position unless given.
    pub(crate) id: Option<String>,
    /// Text of the answer.
    pub(crate) answer: String,
    /// Question to the target.
    pub(crate) question: Option<String>,
    /// Reference answer.
    pub(crate) reference: Option<String>,
    /// Expected outcome, in a sentence.
    pub(crate) expected_outcome: Option<String>,
    /// Tags that determine which benchmarks of a scorecard apply to the answer. For benchmarks without tags, the judge
    /// decides.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
}

/// Selection of cases and of targets.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct SelectionArguments {
    /// Targets to run against instead of those that the files name.
    #[serde(default)]
    pub(crate) targets: Vec<String>,
    /// Patterns of ids of cases, such as `refund-*`; all unless given.
    #[serde(default)]
    pub(crate) filter: Vec<String>,
    /// Tags of cases; all unless given.
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    /// Executions of each case, 1 to 100; as the files say unless given.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) trials: Option<u32>,
}

/// Arguments of `run_eval`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunArguments {
    /// Eval files, or folders to look for them in, below the server's root folder.
    pub(crate) paths: Vec<String>,
    /// Selection of cases and of targets.
    #[serde(flatten)]
    pub(crate) selection: SelectionArguments,
    /// Judges: `provider:model`, names of targets that are models, or `offline`; several are a panel. Overrides files
    /// and configuration.
    #[serde(default)]
    pub(crate) judges: Vec<String>,
    /// The most that this run may spend, in US dollars. 0 is enough if no model is called.
    pub(crate) budget_usd: f64,
    /// The most requests to models that this run may make.
    pub(crate) budget_calls: Option<u64>,
    /// Seconds to wait for the end of the run, 0 to 600. With 0, the default, the run's id is returned at once; read
    /// `results` for its progress.
    #[serde(default)]
    #[schemars(range(min = 0, max = 600))]
    pub(crate) wait_seconds: u32,
    /// Id of a stopped run to go on with. The other arguments must be those it was started with.
    pub(crate) resume: Option<String>,
}

/// Arguments of `list_runs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    /// Only runs of this suite.
    pub(crate) suite: Option<String>,
    /// The most runs to list, 1 to 100; 20 unless given.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<usize>,
}

/// Arguments of `results`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultsArguments {
    /// The run: its id, `last`, `last~N` for the Nth before, or a folder below the server's root folder.
    #[serde(default = "newest")]
    pub(crate) run: String,
    /// Only cases of this suite.
    pub(crate) suite: Option<String>,
    /// Only answers of this target.
    pub(crate) target: Option<String>,
    /// Only cases that did not pass.
    #[serde(default)]
    pub(crate) failures_only: bool,
    /// Content of each result: `brief` has verdict, score, failed gates and errors; `full` also graders, criteria with reasons and
    /// evidence, and the answer.
    #[serde(default)]
    pub(crate) detail: ResultDetail,
    /// The most results of a page, 1 to 100; 20 unless given.
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: Option<usize>,
    /// `next_cursor` of the page before, for the next page.
    pub(crate) cursor: Option<String>,
}

/// Content of each result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ResultDetail {
    /// Verdict, score, failed gates, errors.
    #[default]
    Brief,
    /// The whole row.
    Full,
}

/// Arguments of `explain`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainArguments {
    /// The run: its id, `last`, `last~N` for the Nth before, or a folder below the server's root folder.
    #[serde(default = "newest")]
    pub(crate) run: String,
    /// Id of the case.
    pub(crate) case: String,
    /// Only cases of this suite.
    pub(crate) suite: Option<String>,
    /// Only answers of this target.
    pub(crate) target: Option<String>,
}

fn newest() -> String {
    "last".to_owned()
}
