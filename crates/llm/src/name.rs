//! Model names as people write them: `openai:gpt-x` or `openai/gpt-x`.

use std::fmt;
use std::str::FromStr;

use crate::aws;
use crate::config::NameError;
use crate::provider::{self, JUDGE_BASE_URL, JUDGE_KEY, ProviderRow, known_providers};

/// A provider and one of its models. The provider is known and the model is not empty; the model's own name may
/// contain `/` and `:`.
#[derive(Clone)]
pub struct ModelName {
    pub(crate) provider: &'static ProviderRow,
    model: String,
    /// True if key and address come from the judge's own variables.
    pub(crate) own_variables: bool,
}

impl ModelName {
    /// The provider's name, in lower case.
    pub fn provider(&self) -> &'static str {
        self.provider.name
    }

    /// The model as its server names it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The variables that may hold this provider's key, in the order in which they are read. A caller with its own key
    /// store must look up only these variables there.
    pub fn key_variables(&self) -> &'static [&'static str] {
        if self.provider.takes_access_key { aws::KEY_VARIABLES } else { self.provider.key_variables }
    }

    /// The variables that may hold this provider's address, in the order in which they are read.
    pub fn base_url_variables(&self) -> &'static [&'static str] {
        self.provider.base_url_variables
    }

    /// The model that the variable `JUDGE_MODEL` names. `JUDGE_API_KEY` and `JUDGE_BASE_URL` apply to this model only.
    /// If it has its own address, it may be named without a provider; OpenAI's format is then used.
    ///
    /// # Errors
    /// If the text does not name a model.
    pub fn for_judge(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, NameError> {
        let set = |variable: &str| env(variable).is_some_and(|value| !value.trim().is_empty());
        let moved = set(JUDGE_BASE_URL);
        let name = match text.parse::<Self>() {
            Err(NameError::NoProvider(model) | NameError::UnknownProvider { full: model, .. }) if moved => {
                format!("openai:{model}").parse()?
            }
            // Some models are named like a provider, such as `mistral`.
            Err(NameError::NoModel(model)) if moved && model == text.trim() => {
                format!("openai:{model}").parse()?
            }
            parsed => parsed?,
        };
        Ok(Self { own_variables: moved || set(JUDGE_KEY), ..name })
    }
}

impl FromStr for ModelName {
    type Err = NameError;

    /// The first `:` or `/` ends the provider; everything after it is the model.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let text = text.trim();
        if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
            return Err(NameError::WhiteSpace(text.escape_debug().to_string()));
        }

        let Some(at) = text.find([':', '/']) else {
            return Err(match provider::find(&text.to_ascii_lowercase()) {
                Some(_) => NameError::NoModel(text.to_owned()),
                None => NameError::NoProvider(text.to_owned()),
            });
        };
        let (before, model) = (&text[..at], &text[at + 1..]);
        let Some(provider) = provider::find(&before.to_ascii_lowercase()) else {
            return Err(NameError::UnknownProvider {
                provider: before.to_owned(),
                full: text.to_owned(),
                known: known_providers().collect(),
            });
        };

        if model.is_empty() {
            return Err(NameError::NoModel(before.to_owned()));
        }

        Ok(Self { provider, model: model.to_owned(), own_variables: false })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider(), self.model)
    }
}

impl fmt::Debug for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelName({self})")
    }
}

impl PartialEq for ModelName {
    fn eq(&self, other: &Self) -> bool {
        self.provider() == other.provider() && self.model == other.model
    }
}

impl Eq for ModelName {}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(&'static str, String), NameError> {
        text.parse::<ModelName>().map(|name| (name.provider(), name.model().to_owned()))
    }

    #[test]
    fn both_spellings_and_models_with_separators() {
        assert_eq!(parse("openai:gpt-x"), Ok(("openai", "gpt-x".into())));
        assert_eq!(parse(" OpenAI/gpt-x "), Ok(("openai", "gpt-x".into())));
        assert_eq!(parse("openai/meta-llama/Llama-3:70b"), Ok(("openai", "meta-llama/Llama-3:70b".into())));
        assert_eq!(parse("openai:ft:gpt:x").unwrap().1, "ft:gpt:x");
        assert_eq!(parse("openrouter/meta-llama/x:free"), Ok(("openrouter", "meta-llama/x:free".into())));
        assert_eq!(parse("google/gemini-x"), Ok(("gemini", "gemini-x".into())));
        assert_eq!(parse("llama.cpp:x"), Ok(("llamacpp", "x".into())));
    }

    #[test]
    fn a_judge_may_have_variables_of_its_own() {
        let named = |text: &str, variables: &[(&str, &str)]| {
            let env =
                |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
            ModelName::for_judge(text, &env).map(|name| (name.to_string(), name.own_variables))
        };
        let address = ("JUDGE_BASE_URL", "http://h/v1");
        assert_eq!(named("anthropic:x", &[]), Ok(("anthropic:x".into(), false)));
        assert_eq!(named("anthropic:x", &[("JUDGE_API_KEY", "k")]), Ok(("anthropic:x".into(), true)));
        assert_eq!(named("anthropic:x", &[address]), Ok(("anthropic:x".into(), true)));
        assert_eq!(named("gpt-x", &[address]), Ok(("openai:gpt-x".into(), true)));
        assert_eq!(named("Qwen/Qwen3-32B", &[address]), Ok(("openai:Qwen/Qwen3-32B".into(), true)));
        assert_eq!(named("mistral", &[address]), Ok(("openai:mistral".into(), true)));
        assert_eq!(named("mistral", &[]), Err(NameError::NoModel("mistral".into())));
        assert_eq!(named("gpt-x", &[("JUDGE_BASE_URL", " ")]), Err(NameError::NoProvider("gpt-x".into())));
        assert!(named("a b", &[address]).is_err());
    }

    /// The keys of the environment are not sent to an address that a file names.
    #[test]
    fn an_access_key_and_its_profile_are_keys_of_bedrock() {
        let env = |name: &str| match name {
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME" => Some("https://far.example.com".to_owned()),
            "AWS_REGION" => Some("eu-west-1".to_owned()),
            _ => Some("a-key-of-the-environment".to_owned()),
        };
        for provider in ["bedrock", "bedrock-embeddings"] {
            let name: ModelName = format!("{provider}:x").parse().unwrap();
            let of_file =
                |variable: &str| env(variable).filter(|_| !name.key_variables().contains(&variable));
            let refused = crate::settings::endpoint(name.provider, &of_file);
            assert!(matches!(refused, Err(crate::config::ConfigError::MissingKey { .. })), "{refused:?}");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        assert_eq!(parse("gpt-x"), Err(NameError::NoProvider("gpt-x".into())));
        assert_eq!(parse("openai:"), Err(NameError::NoModel("openai".into())));
        assert_eq!(parse("openai"), Err(NameError::NoModel("openai".into())));
        assert!(matches!(parse("openai:a b"), Err(NameError::WhiteSpace(_))));
        let message = parse("acme/x").unwrap_err().to_string();
        assert!(message.contains("`acme`") && message.contains("known: openai"), "{message}");
        assert!(message.contains("OPENAI_BASE_URL"), "{message}");
    }
}
