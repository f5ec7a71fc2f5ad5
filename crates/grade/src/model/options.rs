//! Options of a judge that asks a model.

/// Settings of the calls to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Sampling seed, the same for every call; `None` sends none.
    pub seed: Option<u64>,
    /// Number of times a criterion is asked again after an unusable reply.
    pub repairs: u32,
    /// Condition on which the first call about an answer is awaited before the others are sent.
    pub warm_up: WarmUp,
}

/// Condition on which the first call about an answer is awaited before the others are sent, so that they find what they
/// share with it in the provider's cache. It makes an answer take one call longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WarmUp {
    /// Only if the provider charges for each call that finds nothing there.
    #[default]
    Auto,
    /// Wherever what is shared is long enough to be cached.
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
