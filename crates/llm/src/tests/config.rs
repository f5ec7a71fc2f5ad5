//! Clients from names and variables.

use crate::{ChatModel, ClientSetup, ConfigError, ModelClient, ModelId};

fn describe(variables: &[(&str, &str)]) -> Result<ModelId, ConfigError> {
    describe_as("openai:gpt-x", variables)
}

fn describe_as(name: &str, variables: &[(&str, &str)]) -> Result<ModelId, ConfigError> {
    let env = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
    ModelClient::from_name(&name.parse().unwrap(), &env, ClientSetup::default()).map(|c| c.describe())
}

#[test]
fn the_usual_server_needs_a_key() {
    let error = describe(&[("OPENAI_API_KEY", " ")]).unwrap_err();
    let words = error.to_string();
    assert!(matches!(error, ConfigError::MissingKey { .. }));
    for word in ["api.openai.com", "OPENAI_API_KEY", "OPENAI_BASE_URL"] {
        assert!(words.contains(word), "{words}");
    }
    let id = describe(&[("OPENAI_API_KEY", "sk-1"), ("OPENAI_BASE_URL", "")]).unwrap();
    assert_eq!((id.to_string().as_str(), id.base_url_host.as_str()), ("openai:gpt-x", "api.openai.com"));
}

#[test]
fn a_server_on_this_machine_needs_none() {
    let id = describe(&[("OPENAI_BASE_URL", "http://localhost:8080/v1")]).unwrap();
    assert_eq!(id.base_url_host, "localhost:8080");
    assert!(describe(&[("OPENAI_BASE_URL", "http://10.0.0.7:8080/v1")]).is_err());
}

#[test]
fn a_bad_address_names_its_variable() {
    let words = describe(&[("OPENAI_BASE_URL", "localhost:8080")]).unwrap_err().to_string();
    assert!(words.contains("OPENAI_BASE_URL"), "{words}");
}

#[test]
fn other_providers_have_variables_of_their_own() {
    let host =
        |name: &str, variables: &[(&str, &str)]| describe_as(name, variables).map(|id| id.base_url_host);
    assert_eq!(
        host("google/gemini-x", &[("GOOGLE_API_KEY", "k")]).unwrap(),
        "generativelanguage.googleapis.com"
    );
    assert_eq!(host("xai:grok-x", &[("XAI_API_KEY", "k")]).unwrap(), "api.x.ai");
    assert_eq!(host("ollama:x", &[]).unwrap(), "127.0.0.1:11434");
    assert_eq!(host("ollama:x", &[("OLLAMA_HOST", "box")]).unwrap(), "box:11434");
    assert_eq!(host("vllm:x", &[("VLLM_BASE_URL", "http://10.0.0.7:8000/v1")]).unwrap(), "10.0.0.7:8000");
    let words = host("anthropic:x", &[("OPENAI_API_KEY", "k")]).unwrap_err().to_string();
    assert!(words.contains("ANTHROPIC_API_KEY") && words.contains("api.anthropic.com"), "{words}");
    let words = host("azure:x", &[("AZURE_OPENAI_API_KEY", "k")]).unwrap_err().to_string();
    assert!(words.contains("AZURE_OPENAI_ENDPOINT"), "{words}");
}
