//! Prices and context sizes of models from the prices file of a project.

/// A row of a prices file. Prices are US dollars for a million tokens, each an integer number of millionths.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceRow {
    /// Provider, under its name in records.
    pub provider: String,
    /// Model as its server names it.
    pub model: String,
    /// Prices; `None` if the row only sets the context size.
    pub rates: Option<PriceRates>,
    /// Maximum number of input and output tokens of one call.
    pub context_tokens: Option<u64>,
    /// Discount for batch requests, in percent.
    pub batch_discount: Option<u8>,
}

/// Prices of a million tokens in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceRates {
    /// Price of input tokens.
    pub input: f64,
    /// Price of input tokens read from the provider's prompt cache; the price of other input if absent.
    pub cached_input: Option<f64>,
    /// Price of input tokens written to the prompt cache; the price of other input if absent.
    pub cache_write: Option<f64>,
    /// Price of output tokens.
    pub output: f64,
}
