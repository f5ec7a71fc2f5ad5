//! List prices and context windows, in the form of LiteLLM's table `model_prices_and_context_window.json`. Many people
//! maintain that table, and users may already have it. The built-in table has the same form.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::price::{ModelPrice, TokenRates};

/// The built-in table: the parts of LiteLLM's table that are read here, made by `tools/prices.py`.
const BUILT_IN: &str = include_str!("../data/prices.json");

static LIST: LazyLock<PriceList> =
    LazyLock::new(|| PriceList::from_json(BUILT_IN).expect("the checked-in table is read by a test"));

/// LiteLLM's names of providers, and the names here.
const PROVIDERS: [(&str, &str); 14] = [
    ("openai", "openai"),
    ("anthropic", "anthropic"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
    ("groq", "groq"),
    ("deepseek", "deepseek"),
    ("xai", "xai"),
    ("bedrock", "bedrock"),
    ("bedrock_converse", "bedrock"),
    ("voyage", "voyage"),
    ("together_ai", "together"),
    ("fireworks_ai", "fireworks"),
    ("cerebras", "cerebras"),
    ("deepinfra", "deepinfra"),
];

/// Prices are for single tokens there, and for a million here.
const MILLION: f64 = 1e6;

/// List prices of many models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceList {
    as_of: Option<String>,
    /// By provider and model.
    models: BTreeMap<String, BTreeMap<String, ListedModel>>,
}

/// The entry of a model in a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ListedModel {
    pub(crate) price: ModelPrice,
    pub(crate) context_tokens: Option<u64>,
    /// The discount for requests in batches, in percent.
    pub(crate) batch_discount: u8,
}

impl PriceList {
    /// The built-in list.
    pub fn built_in() -> &'static Self {
        &LIST
    }

    /// Reads a list: LiteLLM's table, or the object that the built-in one is in. Skips models of other providers and
    /// models without a price per token.
    ///
    /// # Errors
    /// If the text is not JSON, or no model in it has a price.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
        let Value::Object(whole) = value else {
            return Err(
                "expected a map of models, as in LiteLLM's model_prices_and_context_window.json".to_owned()
            );
        };
        let mut list =
            Self { as_of: whole.get("as_of").and_then(Value::as_str).map(str::to_owned), ..Self::default() };
        for (name, row) in whole.get("models").and_then(Value::as_object).unwrap_or(&whole) {
            let Some((provider, listed)) = row.as_object().and_then(|row| Some((provider(row)?, read(row)?)))
            else {
                continue;
            };
            let prefix = row["litellm_provider"].as_str().unwrap_or_default();
            let own = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
            list.models.entry(provider).or_default().insert(own.to_owned(), listed);
        }

        if list.models.is_empty() {
            return Err("no model in it has `litellm_provider` and `input_cost_per_token`, as in LiteLLM's \
                        model_prices_and_context_window.json"
                .to_owned());
        }
        Ok(list)
    }

    /// The date of the list, as `YYYY-MM-DD`, if it has one.
    pub fn as_of(&self) -> Option<&str> {
        self.as_of.as_deref()
    }

    /// Whether the list has models of a provider.
    pub(crate) fn has(&self, provider: &str) -> bool {
        self.models.contains_key(provider)
    }

    pub(crate) fn find(&self, provider: &str, model: &str) -> Option<ListedModel> {
        self.models.get(provider)?.get(model).copied()
    }
}

/// The provider of a row, under our name for it. Embedding models have a separate provider.
fn provider(row: &Map<String, Value>) -> Option<String> {
    let named = row.get("litellm_provider")?.as_str()?;
    let (_, own) = PROVIDERS.iter().find(|(theirs, _)| *theirs == named)?;
    let is_embedding = row.get("mode").and_then(Value::as_str) == Some("embedding");
    Some(if is_embedding { format!("{own}-embeddings") } else { (*own).to_owned() })
}

fn read(row: &Map<String, Value>) -> Option<ListedModel> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let rates = |suffix: &str| {
        let price =
            |name: &str| number(&format!("{name}{suffix}")).or_else(|| number(name)).map(|one| one * MILLION);
        TokenRates::per_million(
            price("input_cost_per_token")?,
            price("cache_read_input_token_cost"),
            price("cache_creation_input_token_cost"),
            price("output_cost_per_token").unwrap_or(0.0),
        )
    };
    let usual = rates("").filter(|rates| rates.input > 0)?;

    // Longer requests cost more: `input_cost_per_token_above_200k_tokens`.
    let long = row.keys().find_map(|key| {
        let suffix = key.strip_prefix("input_cost_per_token")?;
        let thousands: u64 = suffix.strip_prefix("_above_")?.strip_suffix("k_tokens")?.parse().ok()?;
        Some((thousands * 1000, rates(suffix)?))
    });
    let batch_discount = number("input_cost_per_token_batches")
        .zip(number("input_cost_per_token"))
        .map_or(0, |(batch, full)| (100.0 * (1.0 - batch / full)).round().clamp(0.0, 100.0) as u8);

    Some(ListedModel {
        price: ModelPrice { rates: usual, long },
        context_tokens: row.get("max_input_tokens").and_then(Value::as_u64).filter(|tokens| *tokens > 0),
        batch_discount,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    #[test]
    fn the_checked_in_table_is_sound() {
        let list = PriceList::from_json(BUILT_IN).unwrap();
        assert!(list.as_of().is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok()));
        for (name, models) in &list.models {
            assert!(provider::find(name).is_some(), "{name} is no provider");
            for (model, listed) in models {
                let TokenRates { input, cached_input, output, .. } = listed.price.rates;
                assert!(input > 0 && cached_input <= input, "{model}");
                assert!(output > 0 || provider::gives_embeddings(name), "{model}");
                assert!(listed.context_tokens.is_none_or(|tokens| tokens > 100), "{model}");
            }
        }
        for (provider, model) in [
            ("openai", "gpt-5.6"),
            ("anthropic", "claude-opus-5-5"),
            ("gemini", "gemini-3.5-flash"),
            ("xai", "grok-4.6"),
            ("openai-embeddings", "text-embedding-3-small"),
        ] {
            assert!(
                list.find(provider, model).is_some_and(|listed| listed.context_tokens.is_some()),
                "{model}"
            );
        }
    }

    #[test]
    fn a_table_of_litellm_is_read_as_it_is() {
        let list = PriceList::from_json(
            r#"{
              "sample_spec": {"litellm_provider": "one of ...", "input_cost_per_token": 0.0},
              "gpt-x": {"litellm_provider": "openai", "mode": "chat", "input_cost_per_token": 4e-06,
                "output_cost_per_token": 2e-05, "cache_read_input_token_cost": 4e-07,
                "cache_creation_input_token_cost": 5e-06, "input_cost_per_token_batches": 2e-06,
                "input_cost_per_token_above_272k_tokens": 8e-06, "output_cost_per_token_above_272k_tokens": 3e-05,
                "max_input_tokens": 922000},
              "xai/grok-x": {"litellm_provider": "xai", "input_cost_per_token": 1e-07, "output_cost_per_token": 0},
              "free": {"litellm_provider": "gemini", "input_cost_per_token": 0, "output_cost_per_token": 0},
              "elsewhere": {"litellm_provider": "nobody", "input_cost_per_token": 1e-07}
            }"#,
        )
        .unwrap();
        let found = list.find("openai", "gpt-x").unwrap();
        let rates = TokenRates::per_million(4.0, Some(0.4), Some(5.0), 20.0).unwrap();
        let long = TokenRates::per_million(8.0, Some(0.4), Some(5.0), 30.0).unwrap();
        assert_eq!(found.price, ModelPrice { rates, long: Some((272_000, long)) });
        assert_eq!((found.batch_discount, found.context_tokens), (50, Some(922_000)));
        assert!(list.find("xai", "grok-x").is_some() && list.find("gemini", "free").is_none());
        assert_eq!(list.models.len(), 2);

        for (text, problem) in
            [("{", "not JSON"), ("[]", "map of models"), (r#"{"a": {"input": 3}}"#, "no model")]
        {
            let error = PriceList::from_json(text).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
