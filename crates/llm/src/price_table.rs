//! Prices and context windows: a dated list, and the user's overrides.

use std::collections::BTreeMap;
use std::sync::Arc;

use assize_rubric::Usd;

use crate::chat_model::ModelId;
use crate::estimate::TokenEstimator;
use crate::price::{ModelCard, ModelPrice, TokenRates};
use crate::price_list::{ListedModel, PriceList};
use crate::provider;

/// A row that the user wrote. Missing fields are taken from the built-in table, if it has the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PriceOverride {
    /// Price of the model's tokens.
    pub price: Option<ModelPrice>,
    /// Tokens that it can read and write in one call.
    pub context_tokens: Option<u64>,
    /// The provider's discount for requests in batches, in percent.
    pub batch_discount: Option<u8>,
}

/// Finds the card of a model.
///
/// A row is found by the model's exact name, or else by the name without a date at its end (`-2024-07-18`,
/// `-20241022`, `@20241022`). No other names count as the same model. Rows of the built-in table apply only to
/// the provider's own server, because another server has other prices or none. Rows of the user apply to any
/// address. Providers that represent the user's own servers have no prices per token.
#[derive(Debug, Clone, Default)]
pub struct PriceTable {
    overrides: BTreeMap<(String, String), PriceOverride>,
    /// A context window that overrides every table.
    context_tokens: Option<u64>,
    /// A list in place of the built-in one.
    list: Option<Arc<PriceList>>,
}

impl PriceTable {
    /// The built-in table with the user's rows, by (provider, model), and with a context window that overrides
    /// all others.
    pub fn new(overrides: BTreeMap<(String, String), PriceOverride>, context_tokens: Option<u64>) -> Self {
        Self { overrides, context_tokens, list: None }
    }

    /// The table with this list in place of the built-in one.
    #[must_use]
    pub fn with_list(self, list: PriceList) -> Self {
        Self { list: Some(Arc::new(list)), ..self }
    }

    /// The date of the list prices of a provider, as `YYYY-MM-DD`; `None` if it has none.
    pub fn as_of(&self, provider: &str) -> Option<&str> {
        self.list().as_of().filter(|_| self.list().has(same_prices(provider)))
    }

    fn list(&self) -> &PriceList {
        self.list.as_deref().unwrap_or_else(|| PriceList::built_in())
    }

    fn listed(&self, id: &ModelId) -> Option<ListedModel> {
        // A user's own server has the context window that the user gave it.
        if provider::is_own(&id.provider) || !provider::is_at_home(&id.provider, &id.base_url_host) {
            return None;
        }
        let find = |model: &str| self.list().find(same_prices(&id.provider), model);
        find(&id.model).or_else(|| find(undated(&id.model)?))
    }

    /// Looks up prices and limits of a model. `own_context` is the context window in the model's settings, which
    /// overrides any table.
    pub fn card(&self, id: &ModelId, own_context: Option<u64>) -> ModelCard {
        let overridden = self.overridden(id);
        let listed = self.listed(id);
        ModelCard {
            price: overridden
                .and_then(|overridden| overridden.price)
                .or_else(|| listed.map(|row| row.price))
                .or_else(|| is_free(id).then_some(ModelPrice::FREE)),
            batch_discount: overridden
                .and_then(|overridden| overridden.batch_discount)
                .or_else(|| listed.map(|row| row.batch_discount))
                .unwrap_or_default(),
            context_tokens: self
                .context_tokens
                .or(own_context)
                .or_else(|| overridden.and_then(|overridden| overridden.context_tokens))
                .or_else(|| listed.and_then(|row| row.context_tokens)),
            estimator: TokenEstimator::for_provider(&id.provider),
            max_output_tokens: None,
        }
    }

    fn overridden(&self, id: &ModelId) -> Option<PriceOverride> {
        let find = |model: &str| self.overrides.get(&(id.provider.clone(), model.to_owned())).copied();
        find(&id.model).or_else(|| find(undated(&id.model)?))
    }
}

/// Whether a model is free of charge: on the user's own server, and OpenAI's moderation.
fn is_free(id: &ModelId) -> bool {
    let is_moderation = id.provider == "openai-moderation";
    provider::is_own(&id.provider) || is_moderation && provider::is_at_home(&id.provider, &id.base_url_host)
}

/// The provider whose price list applies: two wire formats of one provider have two names and one list.
fn same_prices(provider: &str) -> &str {
    if provider == "openai-responses" { "openai" } else { provider }
}

/// The name without the date at its end; `None` if there is no date.
fn undated(model: &str) -> Option<&str> {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let compact = model.rsplit_once(['-', '@']).filter(|(_, date)| digits(date, 8)).map(|(base, _)| base);
    compact.or_else(|| {
        let (rest, day) = model.rsplit_once('-').filter(|(_, day)| digits(day, 2))?;
        let (rest, month) = rest.rsplit_once('-').filter(|(_, month)| digits(month, 2))?;
        let (base, year) = rest.rsplit_once('-').filter(|(_, year)| digits(year, 4))?;
        let plausible = year.starts_with("20") && month <= "12" && day <= "31";
        plausible.then_some(base)
    })
}

impl TokenRates {
    /// Converts prices in US dollars for a million tokens, with at most six decimals. Tokens read from and written to
    /// the prompt cache cost the same as other input if no price is given. `None` if a price is not valid.
    pub fn per_million(input: f64, cached: Option<f64>, written: Option<f64>, output: f64) -> Option<Self> {
        let rate = |dollars: f64| {
            let pico = Usd::from_dollars(dollars)?.as_pico();
            (pico % 1_000_000 == 0).then_some(pico / 1_000_000)
        };
        let input = rate(input)?;
        Some(Self {
            input,
            cached_input: cached.map_or(Some(input), rate)?,
            cache_write: written.map_or(Some(input), rate)?,
            output: rate(output)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(provider: &str, model: &str, host: &str) -> ModelId {
        ModelId { provider: provider.into(), model: model.into(), base_url_host: host.into() }
    }

    #[test]
    fn dated_names_are_the_model_they_date_and_nothing_else_is() {
        let table = PriceTable::default();
        let price = |model| table.card(&id("openai", model, "api.openai.com"), None).price;
        let mini = price("gpt-4o-mini").unwrap();
        assert_eq!(price("gpt-4o-mini-2024-07-18"), Some(mini));
        assert_eq!(mini.rates.cached_input, 75_000);
        // A snapshot with its own price keeps it.
        assert_ne!(price("gpt-4o-2024-05-13"), price("gpt-4o-2024-08-06"));
        for unknown in [
            "gpt-4o-mini-audio", "ft:gpt-4o-mini:me", "gpt-4o-mini-2024-13-40", "gpt-4o-mini-latest",
            "GPT-4o",
        ] {
            assert_eq!(price(unknown), None, "{unknown}");
        }
        let claude = |model| table.card(&id("anthropic", model, "api.anthropic.com"), None).price;
        assert!(claude("claude-opus-4-6@20260205").is_some());
        assert_eq!(claude("claude-opus-4-6@20260205"), claude("claude-opus-4-6"));
    }

    #[test]
    fn list_prices_hold_at_the_providers_own_server() {
        let table = PriceTable::default();
        assert!(table.card(&id("openai-responses", "gpt-5", "api.openai.com"), None).price.is_some());
        let proxy = table.card(&id("openai", "gpt-5", "127.0.0.1:8000"), None);
        assert_eq!((proxy.price, proxy.context_tokens), (None, None));
        assert_eq!(
            table.card(&id("ollama", "llama3", "127.0.0.1:11434"), None).price,
            Some(ModelPrice::FREE)
        );
        assert_eq!(table.card(&id("openrouter", "x/y", "openrouter.ai"), None).price, None);
    }

    #[test]
    fn the_users_rows_come_first_and_hold_anywhere() {
        let price = ModelPrice { rates: TokenRates::per_million(1.0, None, None, 2.0).unwrap(), long: None };
        let overridden = PriceOverride { price: Some(price), ..PriceOverride::default() };
        let rows = BTreeMap::from([(("openai".to_owned(), "gpt-4o".to_owned()), overridden)]);
        let table = PriceTable::new(rows.clone(), None);
        let home = table.card(&id("openai", "gpt-4o-2024-08-06", "api.openai.com"), None);
        assert_eq!((home.price, home.context_tokens), (Some(price), Some(128_000)));
        assert_eq!(table.card(&id("openai", "gpt-4o", "localhost"), None).price, Some(price));
        let table = PriceTable::new(rows, Some(5000));
        assert_eq!(table.card(&id("openai", "gpt-4o", "localhost"), None).context_tokens, Some(5000));
    }

    #[test]
    fn prices_are_whole_millionths() {
        assert!(TokenRates::per_million(0.0375, None, None, 1.0).is_some());
        assert_eq!(TokenRates::per_million(0.000_000_1, None, None, 1.0), None);
        assert_eq!(TokenRates::per_million(-1.0, None, None, 1.0), None);
    }
}
