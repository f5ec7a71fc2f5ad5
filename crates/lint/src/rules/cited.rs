//! Published sources that several rules cite.

/// Best practices of a widely used rubric format.
pub(super) const GUIDE: &str = "AgentV, rubric evaluator guide (v2.5.4), best practices";
/// Criteria written by experts, and the agreement of judges on them.
pub(super) const RESEARCH_RUBRICS: &str = "ResearchRubrics (arXiv:2511.07685): concrete examples in a criterion raise agreement between judges and people";
/// Yes-or-no questions compared with ratings.
pub(super) const CHECK_EVAL: &str = "CheckEval (arXiv:2403.18771): breaking criteria into single yes-or-no questions raises agreement between judges";
/// Rubric judging with separate criteria.
pub(super) const AUTO_RUBRIC: &str =
    "AutoRubric (arXiv:2603.00077): criteria judged together or written together run into one another";
/// Score levels with a text each.
pub(super) const PROMETHEUS: &str = "Prometheus (arXiv:2310.08491): judges follow people best with a text for every level and a reference answer";
/// Preference of judges for longer answers.
pub(super) const LENGTH_BIAS: &str = "Length-controlled AlpacaEval (arXiv:2404.04475) and MT-Bench (arXiv:2306.05685): judges favour long answers";
/// Answers that look good and are wrong.
pub(super) const LLM_BAR: &str =
    "LLMBar (arXiv:2310.07641): judges mistake good presentation for good content unless rules say otherwise";
/// Rubrics as training rewards.
pub(super) const REWARDS: &str =
    "Rubrics as Rewards (arXiv:2507.17746): rubrics list pitfalls in addition to what a good answer must do";
/// The arithmetic of scores.
pub(super) const ARITHMETIC: &str = "follows from the arithmetic of scores and gates";
/// One criterion per judge call.
pub(super) const ONE_AT_A_TIME: &str = "HealthBench (arXiv:2505.08775) and RubricEval (arXiv:2603.25133): a judge sees one criterion and the answer";
