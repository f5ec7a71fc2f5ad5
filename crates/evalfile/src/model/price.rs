//! What a project says about the prices and sizes of models.

/// A row of a prices file. Prices are US dollars for a million tokens, each a whole number of millionths.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceRow {
    /// The provider, by the name that is kept in records.
    pub provider: String,
    /// The model as its server names it.
    pub model: String,
    /// The prices; `None` when the row is about the size only.
    pub rates: Option<PriceRates>,
    /// Tokens that the model can read and write in one call.
    pub context_tokens: Option<u64>,
}

/// Prices of a million tokens in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceRates {
    /// Tokens read.
    pub input: f64,
    /// Tokens read from the provider's prompt cache; as any other input if absent.
    pub cached_input: Option<f64>,
    /// Tokens read and written to the prompt cache; as any other input if absent.
    pub cache_write: Option<f64>,
    /// Tokens written.
    pub output: f64,
}
