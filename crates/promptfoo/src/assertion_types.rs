//! Table of the types of assertions that matrix files may have.

/// Treatment of a type of assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssertionSupport {
    /// A comparison with one text.
    Text,
    /// A comparison with several texts.
    TextList,
    /// A comparison with a text or a JSON value.
    Equals,
    /// A check that the answer is SQL.
    Sql,
    /// A check that the answer is JSON, possibly with a schema.
    Json,
    /// A limit of the time.
    Latency,
    /// A limit of the cost.
    Cost,
    /// A criterion, decided by a judge.
    Criterion,
    /// A fact that the answer must not contradict.
    Fact,
    /// A criterion with a score from 0 to 10.
    ScoredCriterion,
    /// Criteria about the statements of the context, of the answer, or of an expected answer.
    Context,
    /// A comparison of the question with questions that a judge derives from the answer.
    AnswerRelevance,
    /// A criterion about each reply of a conversation.
    Conversation,
    /// Several assertions as one.
    Set,
    /// JavaScript, run by the built-in engine without access to anything.
    JavaScript,
    /// Python, run by its own interpreter.
    Python,
    /// Ruby, run by its own interpreter.
    Ruby,
    /// A comparison of meaning, with this measure.
    Similar(SimilarityMeasure),
    /// Categories that a moderation model flags.
    Moderation,
    /// The class that a model assigns to the answer.
    Classifier,
    /// A comparison of all answers, by a judge.
    SelectBest,
    /// A comparison of all answers, by their scores.
    MaxScore,
    /// Built-in code, by its name.
    BuiltIn(&'static str),
    /// A check that a skill was used.
    Skill,
    /// A grader of the `tests` format with the same keys.
    SameKeys(&'static str),
    /// Not supported, for this reason.
    Refused(&'static str),
}

/// A type of assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssertionType {
    /// Name as files write it, without `not-`.
    pub name: &'static str,
    /// How it is written as a grader.
    pub support: AssertionSupport,
    /// Remark for the documentation.
    pub remark: &'static str,
}

use AssertionSupport::{
    AnswerRelevance, BuiltIn, Classifier, Context, Conversation, Cost, Criterion, Equals, Fact, JavaScript,
    Json, Latency, MaxScore, Moderation, Python, Refused, Ruby, SameKeys, ScoredCriterion, SelectBest, Set,
    Similar, Skill, Sql, Text, TextList,
};
use assize_model::SimilarityMeasure;

const fn kind(name: &'static str, support: AssertionSupport, remark: &'static str) -> AssertionType {
    AssertionType { name, support, remark }
}

const CRITERION: &str = "a criterion, decided met or unmet; a `threshold` on the judge's score has no effect";
const SQL: &str = "`databaseType` (MySQL by default), `allowedTables` and `allowedColumns`";
const METRIC: &str =
    "a text-similarity metric that says little about an answer; use `llm-rubric`, `similar` or `rouge-n`";
const SIMILAR: &str = "at least 0.75 by default; needs a model for embeddings";
const SPANS: &str = "of OpenTelemetry spans that come with the answer: from a recording, or as `trace` of what a program returns";

/// Every type, sorted by name.
pub const ASSERTION_TYPES: &[AssertionType] = &[
    kind("agent-rubric", Refused("needs an agent that grades; use `llm-rubric`"), ""),
    kind(
        "answer-relevance",
        AnswerRelevance,
        "at least 0.5 by default; three questions that a judge writes, and embeddings of them",
    ),
    kind("assert-set", Set, "without a threshold, each member must pass"),
    kind("bleu", Refused(METRIC), ""),
    kind(
        "classifier",
        Classifier,
        "a model of Hugging Face gives the class `value`, or any, a score of at least 1 by default",
    ),
    kind("code-grader", SameKeys("code-grader"), "AgentV's; a program"),
    kind("composite", SameKeys("composite"), "AgentV's"),
    kind("contains", Text, ""),
    kind("contains-all", TextList, "a list, or one text with commas"),
    kind("contains-any", TextList, "a list, or one text with commas"),
    kind("contains-html", BuiltIn("contains-html"), ""),
    kind(
        "contains-json",
        Json,
        "a map in the answer, or with a schema, which `is-json` describes, a map or list that matches it",
    ),
    kind("contains-sql", Sql, "as `is-sql`, for the answer or a code block of it"),
    kind("contains-xml", BuiltIn("contains-xml"), "as `is-xml`, for an element or several of the answer"),
    kind(
        "context-faithfulness",
        Context,
        "share of the sentences of the answer that the context supports; at least 0.5 by default",
    ),
    kind(
        "context-recall",
        Context,
        "share of the sentences of the value that the context supports; at least 0.5 by default",
    ),
    kind(
        "context-relevance",
        Context,
        "share of the sentences or passages of the context that the query needs; at least 0.5 by default",
    ),
    kind(
        "conversation-relevance",
        Conversation,
        "a criterion for the answer, or for each reply of the variable `_conversation`; at least 0.5 by default",
    ),
    kind("cost", Cost, "cost of the answer; if it is unknown, the assertion is ungraded"),
    kind("ends-with", Text, "AgentV's; white space at both ends does not count"),
    kind(
        "equals",
        Equals,
        "a map or list compares the parsed JSON; white space at both ends of texts does not count",
    ),
    kind("execution-metrics", SameKeys("execution-metrics"), "AgentV's"),
    kind("factuality", Fact, "met unless the answer contradicts the value"),
    kind("field-accuracy", SameKeys("field-accuracy"), "AgentV's"),
    kind(
        "finish-reason",
        BuiltIn("finish-reason"),
        "of models; an answer that was cut off or withheld leaves the case incomplete",
    ),
    kind("g-eval", ScoredCriterion, "a criterion scored from 0 to 10; the default threshold is 0.7"),
    kind("gleu", Refused(METRIC), ""),
    kind(
        "guardrails",
        BuiltIn("guardrails"),
        "what a function, a command or an `http` provider returns as `guardrails`; ungraded if it returns none",
    ),
    kind("human", Refused("label answers after the run instead: `assize review`"), ""),
    kind("icontains", Text, ""),
    kind("icontains-all", TextList, "a list, or one text with commas"),
    kind("icontains-any", TextList, "a list, or one text with commas"),
    kind("is-html", BuiltIn("is-html"), ""),
    kind("is-json", Json, "a schema may be a map, YAML or JSON text, or a file"),
    kind("is-refusal", BuiltIn("is-refusal"), "by phrases: those of promptfoo, and a few more"),
    kind("is-sql", Sql, SQL),
    kind(
        "is-valid-function-call",
        BuiltIn("is-valid-function-call"),
        "name and arguments are well formed; the arguments are not checked against the tools' schemas",
    ),
    kind("is-valid-openai-function-call", BuiltIn("is-valid-function-call"), "as `is-valid-function-call`"),
    kind(
        "is-valid-openai-tools-call",
        BuiltIn("is-valid-function-call"),
        "as `is-valid-function-call`, for each call",
    ),
    kind(
        "is-xml",
        BuiltIn("is-xml"),
        "elements must be balanced; `value` lists paths of required ones; entities are not resolved",
    ),
    kind(
        "javascript",
        JavaScript,
        "in an engine without access to files, network or clock; a file that loads modules is run by `node` if `--allow-code` is given",
    ),
    kind(
        "latency",
        Latency,
        "duration of the answer, stored as `latency_ms`; for an answer from the cache, that of its first request",
    ),
    kind("levenshtein", BuiltIn("levenshtein"), "at most 5 edits by default"),
    kind("llm-grader", SameKeys("llm-grader"), "AgentV's"),
    kind("llm-rubric", Criterion, CRITERION),
    kind("max-score", MaxScore, "the answer with the highest score of the other assertions passes"),
    kind("meteor", Refused(METRIC), ""),
    kind("model-graded-closedqa", Criterion, CRITERION),
    kind("model-graded-factuality", Fact, "as `factuality`"),
    kind(
        "moderation",
        Moderation,
        "a model for moderation, by default OpenAI's, flags none of the categories in `value`, or none at all",
    ),
    kind("perplexity", Refused("needs the probabilities of the answer's tokens"), ""),
    kind("perplexity-score", Refused("needs the probabilities of the answer's tokens"), ""),
    kind("pi", Refused("asks a service of Pi Labs; use `llm-rubric` or `g-eval`"), ""),
    kind("python", Python, "run by `python3` if `--allow-code` is given"),
    kind("regex", Text, "JavaScript syntax without look-around and back-references"),
    kind(
        "rouge-n",
        BuiltIn("rouge-n"),
        "F measure of the single words and punctuation, without case; at least 0.75 by default",
    ),
    kind("rubrics", SameKeys("rubrics"), "AgentV's older spelling"),
    kind("ruby", Ruby, "run by `ruby` if `--allow-code` is given"),
    kind("script", SameKeys("code-grader"), "AgentV's; a program"),
    kind(
        "search-rubric",
        Refused(
            "needs a judge that searches the web; give the facts to an `llm-rubric`, or search in a `python` assertion",
        ),
        "",
    ),
    kind(
        "select-best",
        SelectBest,
        "a judge compares each two answers to the test in both orders; the best one passes",
    ),
    kind("similar", Similar(SimilarityMeasure::Cosine), SIMILAR),
    kind("similar:cosine", Similar(SimilarityMeasure::Cosine), SIMILAR),
    kind("similar:dot", Similar(SimilarityMeasure::Dot), SIMILAR),
    kind(
        "similar:euclidean",
        Similar(SimilarityMeasure::Euclidean),
        "a distance of at most the threshold; the score is 1 / (1 + distance)",
    ),
    kind("skill-used", Skill, ""),
    kind("starts-with", Text, "white space at both ends does not count"),
    kind("token-usage", SameKeys("token-usage"), "AgentV's"),
    kind(
        "tool-call-f1",
        BuiltIn("tool-call-f1"),
        "compares the names of the calls, which may be in the answer; the default threshold is 1",
    ),
    kind("trace-error-spans", BuiltIn("trace-error-spans"), SPANS),
    kind("trace-span-count", BuiltIn("trace-span-count"), SPANS),
    kind("trace-span-duration", BuiltIn("trace-span-duration"), SPANS),
    kind("trajectory:goal-success", Criterion, "a criterion: the goal was reached"),
    kind(
        "trajectory:step-count",
        BuiltIn("step-count"),
        "counts tool calls, the only steps that targets report",
    ),
    kind("trajectory:tool-args-match", BuiltIn("tool-args-match"), ""),
    kind("trajectory:tool-sequence", BuiltIn("tool-sequence"), ""),
    kind("trajectory:tool-used", BuiltIn("tool-used"), ""),
    kind(
        "webhook",
        Refused("sends the answer to a server; use `javascript`, or a `code-grader` in an eval file"),
        "",
    ),
    kind("word-count", BuiltIn("word-count"), ""),
];

/// Returns the type with a name, which has no `not-`.
pub(super) fn find_assertion_type(name: &str) -> Option<&'static AssertionType> {
    ASSERTION_TYPES.iter().find(|row| row.name == name)
}

/// Returns a type, and true if the name begins with `not-`.
pub(super) fn resolve_assertion_type(name: &str) -> Option<(&'static AssertionType, bool)> {
    match name.strip_prefix("not-") {
        Some(inner) => find_assertion_type(inner).map(|row| (row, true)),
        None => find_assertion_type(name).map(|row| (row, false)),
    }
}
