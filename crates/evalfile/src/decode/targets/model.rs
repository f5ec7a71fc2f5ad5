//! Decoder of model targets of all providers.

use assize_diagnostic::{Diagnostic, SpannedValue};
use assize_document::{NodeValue, check_not_blank, codes, string};
use assize_model::{ModelTargetSpec, SecretText};

use super::entry::TargetEntryReader;

/// Location settings of models: provider, key, and the environment variable that it overrides.
const LOCATION_SETTINGS: [(&str, &str, &str); 4] = [
    ("bedrock", "region", "AWS_REGION"),
    ("vertex", "project", "GOOGLE_CLOUD_PROJECT"),
    ("vertex", "location", "GOOGLE_CLOUD_LOCATION"),
    ("vertex", "region", "GOOGLE_CLOUD_LOCATION"),
];
/// Suffix of the names of embedding providers. The name without it is the provider's name for answers.
const EMBEDDINGS: &str = "-embeddings";
const ADDRESS_KEYS: &[&str] = &["base_url", "endpoint"];
const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";
const OPENROUTER_KEY: &str = "OPENROUTER_API_KEY";

/// Settings that the models of all providers have in common.
pub(super) struct ModelSettings {
    model: Option<String>,
    base_url: Option<String>,
    api_key: Option<SecretText>,
    api_format: Option<SpannedValue<String>>,
    temperature: Option<f64>,
    seed: Option<u64>,
    max_output_tokens: Option<u32>,
    context_tokens: Option<u64>,
}

/// Decodes the settings of a model. Returns `None` after adding a diagnostic, or when a variable is not set.
pub(super) fn decode_model(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    provider: &'static str,
) -> Option<ModelTargetSpec> {
    let settings = decode_model_settings(entry);
    entry.demand(&["model", "deployment"], "a model target does not name its model", "model: gpt-6-luna");

    if provider == "openai-compatible" {
        entry.demand(
            ADDRESS_KEYS, "`openai-compatible` needs an address", "base_url: http://localhost:8000/v1",
        );
    }

    let mut provider = provider;
    if let Some(format) = settings.api_format.filter(|format| format.value == "responses") {
        match provider {
            "openai" | "openai-compatible" | "openai-responses" => provider = "openai-responses",
            _ => entry.unbuilt("the responses API of this provider (`api_format: responses`)", format.span),
        }
    }

    let variables = decode_locations(entry, provider);

    if let Some(budget) = entry.object.integer("thinking_budget", 0, i64::from(u32::MAX), entry.problems) {
        entry.without_effect("`thinking_budget`", budget.span);
    }

    let api_version =
        decode_one_text(entry, &["api_version", "version"]).map(|version| version.value.trim().to_owned());
    let resource = decode_azure_resource(entry);
    let (mut base_url, mut api_key) = (settings.base_url.or(resource), settings.api_key);
    if provider == "openrouter" && !entry.given(ADDRESS_KEYS) {
        base_url = Some(OPENROUTER_URL.to_owned());
        if !entry.given(&["api_key"]) {
            match (entry.environment)(OPENROUTER_KEY).filter(|key| !key.trim().is_empty()) {
                Some(key) => api_key = Some(SecretText::new(key)),
                None => entry.missing(OPENROUTER_KEY, "api_key", entry.object.head()),
            }
        }
    }

    Some(ModelTargetSpec {
        provider,
        model: settings.model?,
        base_url,
        api_key,
        temperature: settings.temperature,
        seed: settings.seed,
        max_output_tokens: settings.max_output_tokens,
        context_tokens: settings.context_tokens,
        api_version,
        variables,
    })
}

/// Decodes the location settings of a provider, as values for the environment variables that they override.
fn decode_locations(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    provider: &str,
) -> Vec<(&'static str, String)> {
    let provider = provider.strip_suffix(EMBEDDINGS).unwrap_or(provider);
    let mut found = Vec::new();
    for (at, (of, key, variable)) in LOCATION_SETTINGS.into_iter().enumerate() {
        let has = |rows: &[(&str, &str, &str)], whose: Option<&str>| {
            rows.iter().any(|(of, same, _)| *same == key && whose.is_none_or(|whose| whose == *of))
        };
        if of == provider {
            if let Some(text) = decode_one_text(entry, &[key]) {
                found.push((variable, text.value.trim().to_owned()));
            }
        } else if !has(&LOCATION_SETTINGS, Some(provider))
            && !has(&LOCATION_SETTINGS[..at], None)
            && let Some(extra) = entry.object.entry(key).filter(|extra| !extra.value.is_null())
        {
            entry.without_effect("a setting of another provider", extra.key_span);
        }
    }

    found
}

/// Returns the URL of an Azure resource that is given only by name.
fn decode_azure_resource(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<String> {
    let resource = decode_one_text(entry, &["resource"])?;
    let name = resource.value.trim();
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Some(format!("https://{name}.openai.azure.com"));
    }

    decode_base_url(resource, entry)
}

/// Decodes the settings common to models of every provider.
pub(super) fn decode_model_settings(entry: &mut TargetEntryReader<'_, '_, '_>) -> ModelSettings {
    let model = decode_one_text(entry, &["model", "deployment"]).map(|text| text.value.trim().to_owned());
    let base_url = decode_one_text(entry, ADDRESS_KEYS).and_then(|text| decode_base_url(text, entry));
    ModelSettings {
        model,
        base_url,
        api_key: decode_api_key(entry),
        api_format: decode_api_format(entry),
        temperature: decode_model_temperature(entry),
        seed: entry.object.integer("seed", 0, i64::MAX, entry.problems).map(|seed| seed.value as u64),
        max_output_tokens: entry
            .object
            .integer("max_output_tokens", 1, i64::from(u32::MAX), entry.problems)
            .map(|tokens| tokens.value as u32),
        context_tokens: entry
            .object
            .integer("context_tokens", 1, 1_000_000_000, entry.problems)
            .map(|tokens| tokens.value as u64),
    }
}

fn decode_one_text(
    entry: &mut TargetEntryReader<'_, '_, '_>,
    keys: &[&'static str],
) -> Option<SpannedValue<String>> {
    let found = entry.object.first_of(keys, entry.problems)?;
    if found.value.is_null() {
        return None;
    }

    let text = string(&found.value, &found.key, entry.problems)?;
    check_not_blank(text, &found.key, entry.problems)
}

fn decode_base_url(text: SpannedValue<String>, entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<String> {
    if is_address(&text.value) {
        return Some(text.value.trim().to_owned());
    }

    Diagnostic::error(codes::BAD_ADDRESS, "this is not the address of a server")
        .at(text.span, "not an address")
        .with_help("write it like `http://localhost:8000/v1` or `https://host/v1`")
        .reject_in(entry.problems)
}

/// Returns true if a text looks like the URL of a server.
pub(super) fn is_address(text: &str) -> bool {
    let trimmed = text.trim();
    let lower = trimmed.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let sound = rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', ':']));
    sound && !trimmed.contains(char::is_whitespace)
}

/// Decodes the API key. No diagnostic shows it.
fn decode_api_key(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<SecretText> {
    let node = entry.object.value("api_key")?;
    let complaint: (_, &str) = match &node.data {
        NodeValue::Str(text) if !text.trim().is_empty() => return Some(SecretText::new(text.trim())),
        NodeValue::Str(_) => (codes::EMPTY_TEXT, "`api_key` is empty"),
        _ => (codes::WRONG_TYPE, "`api_key` must be a string"),
    };
    Diagnostic::error(complaint.0, complaint.1)
        .at(node.use_span(), "not a key")
        .with_help("write `api_key: ${{ NAME }}` with the variable that holds the key")
        .reject_in(entry.problems)
}

fn decode_api_format(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<SpannedValue<String>> {
    let format = entry.object.text("api_format", entry.problems)?;
    if matches!(format.value.as_str(), "chat" | "responses") {
        return Some(format);
    }

    Diagnostic::error(codes::UNKNOWN_CHOICE, "unknown `api_format`")
        .at(format.span, "not known")
        .with_help("use `chat` (chat completions) or `responses`")
        .reject_in(entry.problems)
}

fn decode_model_temperature(entry: &mut TargetEntryReader<'_, '_, '_>) -> Option<f64> {
    let value = entry.object.number("temperature", entry.problems)?;
    if (0.0..=2.0).contains(&value.value) {
        return Some(value.value);
    }

    Diagnostic::error(codes::OUT_OF_RANGE, "`temperature` is out of range")
        .at(value.span, format!("found {}", value.value))
        .with_help("use a number from 0 to 2")
        .reject_in(entry.problems)
}
