//! Ids of models as other tools write them, such as `openai:chat:gpt-4o`.

use super::provider::model_provider;

/// First words of ids that name a model, the words between, and the provider of targets.
const MODEL_IDS: [(&str, &[&str], &str); 37] = [
    ("openai", &["chat"], "openai"),
    ("openai", EMBEDDING_WORDS, "openai-embeddings"),
    ("openai", &["responses"], "openai-responses"),
    ("azure", &["chat"], "azure"),
    ("azureopenai", &["chat"], "azure"),
    ("anthropic", &["messages"], "anthropic"),
    ("google", &[], "gemini"),
    ("palm", &[], "gemini"),
    ("gemini", &[], "gemini"),
    ("vertex", &[], "vertex"),
    ("bedrock", &["converse"], "bedrock"),
    ("ollama", &["chat"], "ollama"),
    ("ollama", &["completion"], "ollama"),
    ("openrouter", &[], "openrouter"),
    ("groq", &[], "groq"),
    ("togetherai", &["chat"], "together"),
    ("mistral", &[], "mistral"),
    ("deepseek", &[], "deepseek"),
    ("xai", &[], "xai"),
    ("fireworks", &[], "fireworks"),
    ("cerebras", &[], "cerebras"),
    ("deepinfra", &["chat"], "deepinfra"),
    ("huggingface", &["chat"], "huggingface"),
    ("vllm", &[], "vllm"),
    ("llamacpp", &[], "llamacpp"),
    ("azure", EMBEDDING_WORDS, "azure-embeddings"),
    ("azureopenai", EMBEDDING_WORDS, "azure-embeddings"),
    ("google", EMBEDDING_WORDS, "gemini-embeddings"),
    ("vertex", EMBEDDING_WORDS, "vertex-embeddings"),
    ("bedrock", EMBEDDING_WORDS, "bedrock-embeddings"),
    ("mistral", EMBEDDING_WORDS, "mistral-embeddings"),
    ("cohere", EMBEDDING_WORDS, "cohere-embeddings"),
    ("huggingface", &["feature-extraction"], "huggingface-embeddings"),
    ("voyage", &[], "voyage-embeddings"),
    ("openai", &["moderation"], "openai-moderation"),
    ("huggingface", &["text-classification"], "huggingface-classifier"),
    ("huggingface", &["token-classification"], "huggingface-token-classifier"),
];

/// Words after the first that make an id one of a model for embeddings.
pub const EMBEDDING_WORDS: &[&str] = &["embedding", "embeddings"];

/// Words after the first that mean another interface than chat.
const OTHER_INTERFACES: [&str; 24] = [
    "completion", "embedding", "embeddings", "image", "images", "realtime", "assistant", "assistants",
    "agents", "codex-sdk", "codex-app-server", "moderation", "transcription", "speech", "tts", "video",
    "live", "chatkit", "agent", "voice", "foundry-agent", "claude-agent-sdk", "text-generation",
    "nova-sonic",
];

/// Converts a provider's id and configuration to an entry of a targets file. The error is the reason why it can't be
/// run.
pub fn model_entry(id: &str) -> Result<(&'static str, String), String> {
    let (first, rest) = id.split_once(':').unwrap_or((id, ""));
    let refuse = || Err(format!("provider `{id}` can't be run here"));
    let rows: Vec<_> = MODEL_IDS.iter().filter(|row| row.0 == first).collect();
    let (word, after) = rest.split_once(':').unwrap_or((rest, ""));

    if let Some(row) = rows.iter().find(|row| row.1.contains(&word)) {
        return if after.is_empty() { refuse() } else { Ok((row.2, after.to_owned())) };
    }
    if rest.is_empty() || OTHER_INTERFACES.contains(&word) {
        return refuse();
    }
    // Cohere's models that answer are not asked.
    if let Some(row) = rows.iter().find(|row| row.1 != EMBEDDING_WORDS) {
        return Ok((row.2, rest.to_owned()));
    }

    match model_provider(first) {
        Some(provider) => Ok((provider, rest.to_owned())),
        None => refuse(),
    }
}
