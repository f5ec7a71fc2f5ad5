//! Parameters that a server does not accept. They are learned from its refusals once for each model, and then
//! kept.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::request::{ChatMessage, ChatRequest, MessageRole, Part};

/// Parameters that one model refuses. Learning only adds to them, so it ends after a few refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerQuirks {
    /// Temperature is not sent.
    pub no_temperature: bool,
    /// The seed is not sent.
    pub no_seed: bool,
    /// The model returns no log-probabilities, so requests that need them are not sent.
    pub no_logprobs: bool,
    /// The most alternatives to a token that may be requested, if it is less than usual.
    pub most_alternatives: Option<u8>,
    /// Instructions are sent at the beginning of the user's first message.
    pub no_system: bool,
    /// The prompt's beginning is not marked for the provider's cache.
    pub no_cache_mark: bool,
    /// The part of the reply schema that is sent.
    pub schema: SchemaSupport,
    /// The name under which the output limit is sent.
    pub limit: LimitField,
    /// The highest output limit that it accepts; `None` if none was too high.
    pub most_output: Option<u32>,
}

/// The part of a reply schema that a server accepts, from all to nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSupport {
    /// The schema itself, with the lengths of texts and lists.
    #[default]
    Full,
    /// The schema without lengths, which many servers refuse.
    Lengthless,
    /// Only the request for a JSON object.
    JsonObject,
    /// No schema: the model only has the prompt.
    None,
}

/// The name under which the limit of output tokens is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// The name the wire format uses first.
    #[default]
    Usual,
    /// The other name of the format.
    Other,
    /// Not at all.
    Dropped,
}

impl ServerQuirks {
    /// Combines what both have learned.
    pub fn merge(self, other: Self) -> Self {
        Self {
            no_temperature: self.no_temperature || other.no_temperature,
            no_seed: self.no_seed || other.no_seed,
            no_logprobs: self.no_logprobs || other.no_logprobs,
            most_alternatives: [self.most_alternatives, other.most_alternatives].into_iter().flatten().min(),
            no_system: self.no_system || other.no_system,
            no_cache_mark: self.no_cache_mark || other.no_cache_mark,
            schema: self.schema.max(other.schema),
            limit: self.limit.max(other.limit),
            most_output: [self.most_output, other.most_output].into_iter().flatten().min(),
        }
    }

    /// Whether the request is sent with instructions in a separate role.
    pub(crate) fn sends_system(self, request: &ChatRequest) -> bool {
        !self.no_system && request.messages.iter().any(|message| message.role == MessageRole::System)
    }

    /// The request as it is sent. For a model without a role for instructions, they become the beginning of the
    /// user's first message.
    pub(crate) fn merge_system_into_user(self, request: &ChatRequest) -> Cow<'_, ChatRequest> {
        if !self.no_system {
            return Cow::Borrowed(request);
        }

        let (system, mut others): (Vec<ChatMessage>, Vec<ChatMessage>) =
            request.messages.iter().cloned().partition(|message| message.role == MessageRole::System);
        let Some(first) = others.iter_mut().find(|message| message.role == MessageRole::User) else {
            return Cow::Borrowed(request);
        };
        let mut parts: Vec<Part> = Vec::new();
        for message in system {
            parts.extend_from_slice(&message.content);
            parts.push(Part::Text("\n\n".into()));
        }

        let rules = parts.len();
        parts.extend_from_slice(&first.content);

        // Joined with the text that follows, so that the first part still ends where requests begin to differ.
        let beginning = parts.iter().take(rules + 1).map(|part| match part {
            Part::Text(text) => Some(&**text),
            Part::Image { .. } => None,
        });
        if let Some(beginning) = beginning.collect::<Option<String>>() {
            let rest = parts.split_off(parts.len().min(rules + 1));
            parts = std::iter::once(Part::Text(beginning.into())).chain(rest).collect();
        }

        first.content = parts.into();
        Cow::Owned(ChatRequest { messages: others.into(), ..request.clone() })
    }

    /// How many alternatives to request for each token, if log-probabilities are wanted.
    pub(crate) fn alternatives(self, wanted: Option<u8>) -> Option<u8> {
        let most = self.most_alternatives.unwrap_or(u8::MAX);
        wanted.filter(|_| !self.no_logprobs).map(|wanted| wanted.min(most))
    }
}

/// The parameters that a request carried, under the names the server knows. Only these can have been refused.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SentFeatures<'a> {
    /// True if there were instructions in a separate role.
    pub(crate) system: bool,
    pub(crate) temperature: bool,
    /// The name of the seed.
    pub(crate) seed: Option<&'a str>,
    /// The number of alternatives that were requested.
    pub(crate) logprobs: Option<u8>,
    /// True if the reply schema was sent, in any form.
    pub(crate) schema: bool,
    /// True if that schema has lengths of texts or lists.
    pub(crate) lengths: bool,
    /// The name of the output limit.
    pub(crate) limit: Option<&'a str>,
    /// The output limit, if it was not the caller's own.
    pub(crate) ceiling: Option<u32>,
}

impl SentFeatures<'_> {
    /// What a request carries in a format with these features.
    pub(crate) fn new(features: FormatFeatures, request: &ChatRequest, quirks: ServerQuirks) -> Self {
        Self {
            system: quirks.sends_system(request),
            temperature: request.temperature.is_some() && !quirks.no_temperature,
            seed: features.seed.filter(|_| request.seed.is_some() && !quirks.no_seed),
            logprobs: quirks.alternatives(request.logprobs).filter(|_| features.logprobs),
            schema: request.schema.is_some() && quirks.schema.max(features.schema) != SchemaSupport::None,
            lengths: request.schema.as_ref().is_some_and(|format| format.schema.has_lengths()),
            limit: request.output_limit().and(features.limit_name(quirks)),
            ceiling: request.ceiling(),
        }
    }
}

/// The quirks after a refusal, given the features sent and the quirks known; `None` if the refusal is about
/// something else.
///
/// `param` is the parameter that the server points at, `message` its text. A parameter counts as unsupported
/// only if it is named and the text says so. A bad value is the caller's mistake, and must not be hidden by
/// dropping the parameter.
pub(crate) fn learn(
    quirks: ServerQuirks,
    sent: SentFeatures<'_>,
    param: &str,
    message: &str,
) -> Option<ServerQuirks> {
    let message = message.to_ascii_lowercase();
    let param = param.to_ascii_lowercase();
    match sent.logprobs.and_then(|sent| fewer_alternatives(sent, &param, &message)) {
        Some(0) => return Some(ServerQuirks { no_logprobs: true, ..quirks }),
        Some(fewer) => return Some(ServerQuirks { most_alternatives: Some(fewer), ..quirks }),
        None => {}
    }

    if sent.temperature
        && (names(&param, "temperature") || names(&message, "temperature"))
        && POSITIVE_ONLY.iter().any(|words| message.contains(words))
    {
        return Some(ServerQuirks { no_temperature: true, ..quirks });
    }
    if !says_unsupported(&message) {
        return None;
    }
    if sent.system && SYSTEM_NAMES.iter().any(|name| message.contains(name)) {
        return Some(ServerQuirks { no_system: true, ..quirks });
    }

    // The parameter that the server points at comes before those that its message mentions in passing.
    [param.as_str(), message.as_str()].into_iter().find_map(|text| {
        let names = |name: &str| names(text, name);
        if sent.temperature && names("temperature") {
            return Some(ServerQuirks { no_temperature: true, ..quirks });
        }
        if sent.seed.is_some_and(names) {
            return Some(ServerQuirks { no_seed: true, ..quirks });
        }
        if sent.logprobs.is_some() && LOGPROBS_NAMES.iter().any(|name| names(name)) {
            return Some(ServerQuirks { no_logprobs: true, ..quirks });
        }

        if sent.limit.is_some_and(names) {
            let limit =
                if quirks.limit == LimitField::Usual { LimitField::Other } else { LimitField::Dropped };
            return Some(ServerQuirks { limit, ..quirks });
        }

        let names_schema = |name: &&str| names(name) || (name.contains(' ') && text.contains(*name));
        // `format` alone may be that of a picture, unless the server points at it.
        let points_at_format = text == param && names("format");
        if sent.schema && (points_at_format || SCHEMA_NAMES.iter().any(names_schema)) {
            let schema = match quirks.schema {
                SchemaSupport::Full if sent.lengths => SchemaSupport::Lengthless,
                SchemaSupport::Full | SchemaSupport::Lengthless => SchemaSupport::JsonObject,
                SchemaSupport::JsonObject | SchemaSupport::None => SchemaSupport::None,
            };
            return Some(ServerQuirks { schema, ..quirks });
        }

        None
    })
}

/// How servers refuse the temperature 0, which judges use.
const POSITIVE_ONLY: [&str; 3] = ["greater than 0", "> 0", "strictly positive"];

/// How servers refer to instructions in a separate role, in lower case.
const SYSTEM_NAMES: [&str; 6] = [
    "developer instruction", "system role", "system message", "system prompt", "system instruction",
    "does not support 'system'",
];

/// How servers refer to the reply schema, in lower case. The list is the same for all formats, because gateways pass on
/// the words of the server behind them.
const SCHEMA_NAMES: [&str; 27] = [
    // OpenAI's formats, and servers that speak them.
    "response_format", "json_schema", "json_object", "guided_json", "grammar", "json mode",
    "structured output", "structured outputs", // Anthropic's.
    "output_config", "output_format", "tools", "tool_choice", // Bedrock's.
    "toolconfig", "toolchoice", "tool use", "tool_use", "toolspec", "outputconfig", "textformat",
    // Google's.
    "responsejsonschema", "response_json_schema", "responseschema", "response_schema", "responsemimetype",
    "response_mime_type", "specified schema", // Ollama's.
    "json format",
];

/// How servers refer to log-probabilities, in lower case.
const LOGPROBS_NAMES: [&str; 5] =
    ["logprobs", "top_logprobs", "responselogprobs", "response_logprobs", "include"];

/// Whether a text in lower case contains this name as a word.
fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
}

/// The number of alternatives to try if a server refuses more without naming its limit.
const FALLBACK_ALTERNATIVES: u8 = 5;

/// The number of alternatives that a server allows if `sent` were too many. Callers want as many as possible,
/// so fewer will do.
fn fewer_alternatives(sent: u8, param: &str, message: &str) -> Option<u8> {
    const BOUNDS: [&str; 18] = [
        "between", "range", "less than", "at most", "up to", "greater than", "larger than", "more than",
        "max", "above", "exceed", "no more", "<=", "≤", "fewer", "limit", "lower", "too large",
    ];

    const COUNTS: [&str; 3] = ["top_logprobs", "logprobs", "toplogprobs"];

    if !COUNTS.iter().any(|name| names(param, name) || names(message, name)) {
        return None;
    }
    if !BOUNDS.iter().any(|bound| message.contains(bound)) {
        let pointed_at = names(param, COUNTS[0]) && !says_unsupported(message);
        return (pointed_at && sent > FALLBACK_ALTERNATIVES).then_some(FALLBACK_ALTERNATIVES);
    }

    let mut most = None;
    let mut rest = message;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = &rest[start..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        rest = &digits[end..];

        let excluded = ["(exclusive)", "exclusive"].iter().any(|word| rest.trim_start().starts_with(word));
        let bound = digits[..end].parse::<u8>().ok().map(|bound| bound - u8::from(excluded && bound > 0));
        most = most.max(bound.filter(|bound| *bound < sent));
    }

    most
}

fn says_unsupported(message: &str) -> bool {
    const WORDS: [&str; 23] = [
        "unsupported", "not support", "n't support", "unrecognized", "unknown", "unexpected",
        "not permitted", "not allowed", "may not be enabled", "may only be set", "is allowed for this model",
        "not available", "unavailable", "not implemented", "deprecated", "only the default",
        "only supported", "extra_forbidden", "is not enabled", "is enabled only for", "must be 'text'",
        // The schema is too complex for the server's grammar compiler. A smaller one may pass.
        "too many states", "schema is too complex",
    ];
    WORDS.iter().any(|word| message.contains(word)) || message.contains("must be 'json_schema' or 'text'")
}

/// The features of a format that a server may refuse, under the server's names for them.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormatFeatures {
    /// The sampling seed.
    pub seed: Option<&'static str>,
    /// True if log-probabilities can be requested.
    pub logprobs: bool,
    /// The output limit, and the name to try if that is refused.
    pub limits: [Option<&'static str>; 2],
    /// The most of a reply schema that servers are known to accept.
    pub schema: SchemaSupport,
    /// True if the request may set how much the model reasons.
    pub effort: bool,
    /// The mark of a prefix for the provider's cache, in lower case.
    pub cache_marks: &'static [&'static str],
}

impl FormatFeatures {
    /// The name under which the output limit is sent.
    pub(crate) fn limit_name(self, quirks: ServerQuirks) -> Option<&'static str> {
        match quirks.limit {
            LimitField::Usual => self.limits[0],
            LimitField::Other => self.limits[1],
            LimitField::Dropped => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: SentFeatures<'_> = SentFeatures {
        system: true,
        temperature: true,
        seed: Some("seed"),
        logprobs: Some(20),
        schema: true,
        lengths: true,
        limit: Some("max_tokens"),
        ceiling: None,
    };

    /// A model of a format that sends no lengths.
    fn lengthless() -> ServerQuirks {
        ServerQuirks { schema: SchemaSupport::Lengthless, ..ServerQuirks::default() }
    }

    fn learned(param: &str, message: &str) -> Option<ServerQuirks> {
        learn(lengthless(), ALL, param, message)
    }

    #[test]
    fn refusals_of_known_servers_are_understood() {
        let none = lengthless();
        let no_temperature = Some(ServerQuirks { no_temperature: true, ..none });
        let no_seed = Some(ServerQuirks { no_seed: true, ..none });
        let no_logprobs = Some(ServerQuirks { no_logprobs: true, ..none });
        let folded = Some(ServerQuirks { no_system: true, ..none });
        let object = Some(ServerQuirks { schema: SchemaSupport::JsonObject, ..none });
        let renamed = Some(ServerQuirks { limit: LimitField::Other, ..none });
        let table = [
            (
                "temperature",
                "Unsupported value: 'temperature' does not support 0 with this model. \
                 Only the default (1) value is supported.",
                no_temperature,
            ),
            ("", "`temperature` is deprecated for this model.", no_temperature),
            ("", "temperature must be greater than 0", no_temperature),
            ("temperature", "Input should be > 0", no_temperature),
            ("", "[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]", no_seed),
            (
                "max_tokens",
                "Unsupported parameter: 'max_tokens' is not supported with this model. \
                 Use 'max_completion_tokens' instead.",
                renamed,
            ),
            ("", "This response_format type is unavailable now", object),
            (
                "",
                "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
                object,
            ),
            ("", "This model does not support response format `json_schema`.", object),
            ("", "'response_format.type' must be 'json_schema' or 'text'", object),
            ("", "Model m does not support structured outputs", object),
            (
                "",
                "The specified response_format schema produces a constraint that has too many states",
                object,
            ),
            ("", "Thinking may not be enabled when tool_choice forces tool use.", object),
            (
                "",
                "tool_choice: type \"tool\" and \"any\" are not supported for this model. Use \"auto\" or \"none\".",
                object,
            ),
            (
                "",
                "The model returned the following errors: toolConfig is not supported by this model",
                object,
            ),
            ("text.format", "Unsupported parameter: 'text.format' is not supported with this model.", object),
            ("", "Developer instruction is not enabled for models/gemma-3-27b-it", folded),
            ("", "System role not supported", folded),
            (
                "messages[0].role",
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                folded,
            ),
            ("", "This model doesn't support system messages. Try again without a system message.", folded),
            (
                "temperature",
                "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
                no_temperature,
            ),
            ("", "invalid temperature: only 1 is allowed for this model", no_temperature),
            ("", "JSON mode is not enabled for models/gemma-3-27b-it", object),
            ("", "Logprobs is not supported for the current model", no_logprobs),
            (
                "",
                "Unable to submit request because Logprobs is not supported for this model. Learn more: ...",
                no_logprobs,
            ),
            ("", "`logprobs` is not supported with this model", no_logprobs),
            ("include", "Unsupported parameter: 'include' is not supported with this model.", no_logprobs),
            ("", "You are not allowed to request logprobs from this model", no_logprobs),
            ("", "Logprobs is not enabled for models/m", no_logprobs),
        ];
        for (param, message, expected) in table {
            assert_eq!(learned(param, message), expected, "{message}");
        }
    }

    #[test]
    fn as_many_alternatives_as_there_are() {
        let fewer = |count| Some(ServerQuirks { most_alternatives: Some(count), ..lengthless() });
        let none = Some(ServerQuirks { no_logprobs: true, ..lengthless() });
        for (param, message, expected) in [
            (
                "top_logprobs",
                "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 5, but got 20 instead.",
                fewer(5),
            ),
            ("", "Requested sample logprobs of 20, which is greater than max allowed: 5", fewer(5)),
            ("", "Requested sample logprobs of 20, which is greater than max allowed: 0", none),
            ("", "top_logprobs must be ≤ 8", fewer(8)),
            ("", "logprobs has to be in the range [0, 19]", fewer(19)),
            ("", "The supported range of logprobs is from 1 (inclusive) to 6 (exclusive).", fewer(5)),
            ("top_logprobs", "Invalid value", fewer(5)),
            ("", "Invalid value for logprobs", None),
            ("top_logprobs", "Unsupported parameter: 'top_logprobs' is not supported with this model.", none),
            ("", "max_tokens is at most 5", None),
        ] {
            assert_eq!(learned(param, message), expected, "{message}");
        }
        // What was learned is not learned again, so learning ends.
        let few = SentFeatures { logprobs: Some(5), ..ALL };
        assert_eq!(learn(ServerQuirks::default(), few, "top_logprobs", "Invalid value"), None);
        assert_eq!(learn(ServerQuirks::default(), few, "", "top_logprobs is 5 at most"), None);
    }

    #[test]
    fn a_bad_value_or_an_unsent_parameter_teaches_nothing() {
        assert_eq!(learned("temperature", "temperature must be between 0 and 2"), None);
        assert_eq!(learned("response_format", "Invalid schema for response_format 'x'"), None);
        assert_eq!(learned("max_tokens", "max_tokens is too large: 9. At most 4 are possible"), None);
        assert_eq!(learned("", "Unknown model"), None);
        assert_eq!(learned("", "Unsupported image format"), None);
        assert_eq!(
            learn(ServerQuirks::default(), SentFeatures::default(), "seed", "Unsupported parameter: 'seed'"),
            None
        );
    }

    #[test]
    fn the_pointed_at_parameter_wins_over_mentioned_ones() {
        let quirks = learned("seed", "Unsupported parameter 'seed' together with temperature").unwrap();
        assert!(quirks.no_seed && !quirks.no_temperature);
    }

    #[test]
    fn repeated_refusals_go_on_to_dropping() {
        let message = "Unsupported parameter: 'response_format' or 'max_tokens'";
        let once = learned("response_format", message).unwrap();
        let twice = learn(once, ALL, "response_format", message).unwrap();
        assert_eq!(twice.schema, SchemaSupport::None);
        let other = ServerQuirks { limit: LimitField::Other, ..lengthless() };
        assert_eq!(learn(other, ALL, "max_tokens", message).unwrap().limit, LimitField::Dropped);
        assert_eq!(once.merge(twice), twice);
    }
}
