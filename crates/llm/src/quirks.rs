//! What a server has turned out not to accept, learned from its refusals once per model and then kept.

use serde::{Deserialize, Serialize};

/// Parameters one model refuses. Learning only ever adds to it, so it settles after a few refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// Temperature is not sent.
    pub no_temperature: bool,
    /// The seed is not sent.
    pub no_seed: bool,
    /// Log-probabilities are not asked for.
    pub no_logprobs: bool,
    /// How much of a reply schema is sent.
    pub schema: SchemaSupport,
    /// Under which name the output limit is sent.
    pub limit: LimitField,
    /// The highest output limit it takes; `None` when none was too high.
    pub most_output: Option<u32>,
}

/// How much of a reply schema a server takes, from all to nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSupport {
    /// The schema itself.
    #[default]
    Full,
    /// Only the wish for some JSON object.
    JsonObject,
    /// Nothing; the prompt alone must do.
    None,
}

/// Under which name the limit of output tokens is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// The name the wire format uses first.
    #[default]
    Usual,
    /// The other name it knows.
    Other,
    /// Not at all.
    Dropped,
}

impl Quirks {
    /// Everything that either side has learned.
    pub fn merge(self, other: Self) -> Self {
        Self {
            no_temperature: self.no_temperature || other.no_temperature,
            no_seed: self.no_seed || other.no_seed,
            no_logprobs: self.no_logprobs || other.no_logprobs,
            schema: self.schema.max(other.schema),
            limit: self.limit.max(other.limit),
            most_output: match (self.most_output, other.most_output) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
        }
    }
}

/// The parameters a request carried, under the names the server knows. Only what was sent can have been refused.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent<'a> {
    pub(crate) temperature: bool,
    /// The name of the seed.
    pub(crate) seed: Option<&'a str>,
    pub(crate) logprobs: bool,
    /// The names by which a server may call the reply schema; empty when none was sent.
    pub(crate) schema: &'a [&'a str],
    /// The name of the output limit.
    pub(crate) limit: Option<&'a str>,
    /// The output limit, where the asker did not want it.
    pub(crate) ceiling: Option<u32>,
}

/// What a refusal teaches, given what was sent and under which quirks; `None` when it is about something else.
///
/// `param` is the parameter the server points at, `message` its words. A parameter is taken as unsupported only when
/// it is named and the words say so: a bad value is the caller's mistake and must not be hidden by dropping it.
pub(crate) fn learn(quirks: Quirks, sent: Sent<'_>, param: &str, message: &str) -> Option<Quirks> {
    let message = message.to_ascii_lowercase();
    if !says_unsupported(&message) {
        return None;
    }
    let param = param.to_ascii_lowercase();
    // What the server points at counts before what its sentence mentions in passing.
    [param.as_str(), message.as_str()].into_iter().find_map(|text| {
        let names = |name: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
        };
        if sent.temperature && names("temperature") {
            return Some(Quirks { no_temperature: true, ..quirks });
        }
        if sent.seed.is_some_and(names) {
            return Some(Quirks { no_seed: true, ..quirks });
        }
        if sent.logprobs && LOGPROBS_NAMES.iter().any(|name| names(name)) {
            return Some(Quirks { no_logprobs: true, ..quirks });
        }
        if sent.limit.is_some_and(names) {
            let limit =
                if quirks.limit == LimitField::Usual { LimitField::Other } else { LimitField::Dropped };
            return Some(Quirks { limit, ..quirks });
        }
        if sent.schema.iter().any(|name| names(name) || (name.contains(' ') && text.contains(name))) {
            let schema = if quirks.schema == SchemaSupport::Full {
                SchemaSupport::JsonObject
            } else {
                SchemaSupport::None
            };
            return Some(Quirks { schema, ..quirks });
        }
        None
    })
}

/// Names under which servers speak of log-probabilities, in lower case.
const LOGPROBS_NAMES: [&str; 5] =
    ["logprobs", "top_logprobs", "responselogprobs", "response_logprobs", "include"];

fn says_unsupported(message: &str) -> bool {
    const WORDS: [&str; 18] = [
        "unsupported",
        "not support",
        "n't support",
        "unrecognized",
        "unknown",
        "unexpected",
        "not permitted",
        "not allowed",
        "not available",
        "unavailable",
        "not implemented",
        "deprecated",
        "only the default",
        "extra_forbidden",
        "is not enabled",
        "must be 'text'",
        // A schema that the server's grammar compiler gives up on: less of it may pass.
        "too many states",
        "schema is too complex",
    ];
    WORDS.iter().any(|word| message.contains(word)) || message.contains("must be 'json_schema' or 'text'")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Sent<'_> = Sent {
        temperature: true,
        seed: Some("seed"),
        logprobs: true,
        schema: &["response_format", "json_schema", "structured outputs"],
        limit: Some("max_tokens"),
        ceiling: None,
    };

    fn learned(param: &str, message: &str) -> Option<Quirks> {
        learn(Quirks::default(), ALL, param, message)
    }

    #[test]
    fn refusals_of_known_servers_are_understood() {
        let none = Quirks::default();
        let no_temperature = Some(Quirks { no_temperature: true, ..none });
        let no_seed = Some(Quirks { no_seed: true, ..none });
        let no_logprobs = Some(Quirks { no_logprobs: true, ..none });
        let object = Some(Quirks { schema: SchemaSupport::JsonObject, ..none });
        let renamed = Some(Quirks { limit: LimitField::Other, ..none });
        let table = [
            (
                "temperature",
                "Unsupported value: 'temperature' does not support 0 with this model. \
                 Only the default (1) value is supported.",
                no_temperature,
            ),
            ("", "`temperature` is deprecated for this model.", no_temperature),
            ("", "[{'type': 'extra_forbidden', 'loc': ('body', 'seed')}]", no_seed),
            (
                "max_tokens",
                "Unsupported parameter: 'max_tokens' is not supported with this model. \
                 Use 'max_completion_tokens' instead.",
                renamed,
            ),
            ("", "This response_format type is unavailable now", object),
            ("", "'response_format.type' must be 'json_schema' or 'text'", object),
            ("", "Model m does not support structured outputs", object),
            (
                "",
                "The specified response_format schema produces a constraint that has too many states",
                object,
            ),
            ("", "You are not allowed to request logprobs from this model", no_logprobs),
            ("", "Logprobs is not enabled for models/m", no_logprobs),
        ];
        for (param, message, expected) in table {
            assert_eq!(learned(param, message), expected, "{message}");
        }
    }

    #[test]
    fn a_bad_value_or_an_unsent_parameter_teaches_nothing() {
        assert_eq!(learned("temperature", "temperature must be between 0 and 2"), None);
        assert_eq!(learned("response_format", "Invalid schema for response_format 'x'"), None);
        assert_eq!(learned("max_tokens", "max_tokens is too large: 9. At most 4 are possible"), None);
        assert_eq!(learned("", "Unknown model"), None);
        assert_eq!(learn(Quirks::default(), Sent::default(), "seed", "Unsupported parameter: 'seed'"), None);
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
        let other = Quirks { limit: LimitField::Other, ..Quirks::default() };
        assert_eq!(learn(other, ALL, "max_tokens", message).unwrap().limit, LimitField::Dropped);
        assert_eq!(once.merge(twice), twice);
    }
}
