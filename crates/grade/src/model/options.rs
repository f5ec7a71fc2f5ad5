//! Options of a model judge.

/// Settings of the calls to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Sampling seed, the same for every call; `None` sends none.
    pub seed: Option<u64>,
    /// How often the judge is asked again about a criterion after an unusable reply.
    pub repairs: u32,
    /// When to await the first call about an answer before sending the others.
    pub warm_up: WarmUp,
}

/// When to await the first call about an answer before sending the others, so that they find their common
/// prefix in the provider's cache. This makes an answer take one call longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WarmUp {
    /// Only if the provider charges extra for calls that miss its cache.
    #[default]
    Auto,
    /// If the common prefix is long enough to be cached.
    Always,
    /// Never.
    Never,
}

impl Default for JudgeOptions {
    /// Temperature 0, seed 0, two repairs.
    fn default() -> Self {
        Self { temperature: Some(0.0), seed: Some(0), repairs: 2, warm_up: WarmUp::Auto }
    }
}
