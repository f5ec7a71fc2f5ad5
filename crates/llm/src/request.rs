//! Provider-neutral chat request.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

pub use assize_rubric::MessageRole;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// A request to a model. The same value always encodes to the same bytes in a given wire format.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatRequest {
    /// The model as its server names it. Empty means the model of the client that sends the request.
    pub model: Arc<str>,
    /// The conversation, oldest message first. Must not be empty.
    /// Shared, so that a request is cheap to copy.
    pub messages: Arc<[ChatMessage]>,
    /// The schema of the reply, if the server can enforce one.
    pub schema: Option<JsonSchemaFormat>,
    /// Sampling temperature; 0 asks for the most likely tokens. Must be finite.
    pub temperature: Option<f64>,
    /// How much the model should reason, as a value that its server knows. Only OpenAI's formats support it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Sampling seed, for servers that offer repeatable sampling. Many refuse values above `i64::MAX`.
    pub seed: Option<u64>,
    /// The caller's limit for the tokens of the reply. A reply that ends there is an answer.
    pub max_output_tokens: Option<u32>,
    /// A limit for the tokens of the reply that the caller did not ask for, because spending is limited. The
    /// model is not told, and a reply that ends there is not cached. So it is not part of the request's
    /// identity.
    #[serde(skip)]
    pub output_ceiling: Option<u32>,
    /// The context window that the user set for the model, in tokens. It is sent only to servers that can choose it;
    /// other servers keep theirs.
    #[serde(skip)]
    pub context_tokens: Option<u64>,
    /// Expected tokens of a long reply, without hidden thinking, if the caller knows. A ceiling leaves ample
    /// room for it.
    #[serde(skip)]
    pub expected_output: Option<u32>,
    /// Requests the log-probability of every token of the reply, and of this many alternatives to it, at most
    /// 20. [`crate::ChatReply::logprobs`] reads them. Once a model is known not to return any, the question is
    /// not sent ([`crate::ErrorKind::NoLogprobs`]), because it needs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprobs: Option<u8>,
    /// True if more requests with the same beginning, up to the end of the first part of the last message, will follow
    /// after this one. Providers that cache only marked prefixes, and charge for it, get the mark only then. It changes
    /// the cost, not the answer.
    #[serde(skip)]
    pub cache_prefix: bool,
}

impl ChatRequest {
    /// A request with these messages and nothing else set. Its beginning may be cached, and the client's model
    /// answers it.
    pub fn new(messages: impl Into<Arc<[ChatMessage]>>) -> Self {
        Self {
            model: Arc::default(),
            messages: messages.into(),
            schema: None,
            temperature: None,
            reasoning_effort: None,
            seed: None,
            max_output_tokens: None,
            output_ceiling: None,
            context_tokens: None,
            expected_output: None,
            logprobs: None,
            cache_prefix: true,
        }
    }

    /// The output limit that is sent.
    pub fn output_limit(&self) -> Option<u32> {
        self.max_output_tokens.or(self.output_ceiling)
    }

    /// [`ChatRequest::output_limit`], if it is not the caller's own. The server may then have a lower one.
    pub(crate) fn ceiling(&self) -> Option<u32> {
        self.output_ceiling.filter(|_| self.max_output_tokens.is_none())
    }
}

/// One message of the conversation as a wire format writes it. Pictures are encoded, and parts are shared by
/// many requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatMessage {
    /// Role of the speaker.
    pub role: MessageRole,
    /// Parts of the message, in order. Shared, because most of them are sent with many requests.
    pub content: Arc<[Part]>,
}

impl ChatMessage {
    /// A system message of one text.
    pub fn system(text: impl Into<Arc<str>>) -> Self {
        Self::text(MessageRole::System, text)
    }

    /// A user message of one text.
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::text(MessageRole::User, text)
    }

    /// An assistant message of one text.
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::text(MessageRole::Assistant, text)
    }

    /// A message of one text by any role.
    pub fn text(role: MessageRole, text: impl Into<Arc<str>>) -> Self {
        Self { role, content: Arc::new([Part::Text(text.into())]) }
    }
}

/// A piece of a message. The model sees adjacent texts joined without a separator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Plain text.
    Text(Arc<str>),
    /// A picture, sent inline.
    Image {
        /// For example `image/png`.
        media_type: String,
        /// The picture's bytes in standard base64.
        data: String,
    },
}

/// A JSON schema for the reply.
///
/// Keys keep the order of the schema. Models write an object's members in that order, so it determines what
/// they think of first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JsonSchemaFormat {
    /// A name for the shape; letters, digits, `_` and `-`, at most 64.
    pub name: Cow<'static, str>,
    /// The schema itself.
    pub schema: ReplySchema,
    /// True if the server must enforce every detail.
    pub strict: bool,
}

/// A JSON schema, as a value and as text. Cheap to clone, because most calls of a run use the same one.
#[derive(Debug, Clone)]
pub struct ReplySchema(Arc<SchemaForms>);

#[derive(Debug)]
struct SchemaForms {
    value: Value,
    /// The schema without lengths, made on first use; `None` if it has none.
    lengthless: OnceLock<Option<ReplySchema>>,
    /// `value` as JSON, written on first use.
    json: OnceLock<Option<Box<RawValue>>>,
}

impl ReplySchema {
    /// The schema as JSON, ready to be embedded in other JSON. A value always has such a form.
    pub(crate) fn raw(&self) -> Option<&RawValue> {
        let SchemaForms { value, json, .. } = &*self.0;
        json.get_or_init(|| serde_json::value::to_raw_value(value).ok()).as_deref()
    }

    /// The schema without the lengths of texts and lists, which many servers refuse.
    pub(crate) fn lengthless(&self) -> &Self {
        let without = || {
            let mut value = self.0.value.clone();
            remove_lengths(&mut value).then(|| Self::from(value))
        };
        self.0.lengthless.get_or_init(without).as_ref().unwrap_or(self)
    }

    /// Whether it has lengths of texts or lists.
    pub(crate) fn has_lengths(&self) -> bool {
        !std::ptr::eq(self.lengthless(), self)
    }

    /// The schema as JSON.
    pub fn json(&self) -> &str {
        self.raw().map(RawValue::get).unwrap_or_default()
    }
}

/// Removes lengths from a schema and from those within it. Returns true if there were any.
fn remove_lengths(schema: &mut Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            let before = keywords.len();
            keywords.retain(|keyword, _| keyword != "maxLength" && keyword != "maxItems");
            let mut any = keywords.len() < before;
            for (keyword, inner) in keywords.iter_mut() {
                // The names of properties are not keywords.
                any |= match inner {
                    Value::Object(named) if keyword == "properties" => {
                        named.values_mut().fold(false, |any, inner| remove_lengths(inner) | any)
                    }
                    inner => remove_lengths(inner),
                };
            }
            any
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, inner| remove_lengths(inner) | any),
        _ => false,
    }
}

impl From<Value> for ReplySchema {
    fn from(value: Value) -> Self {
        Self(Arc::new(SchemaForms { value, lengthless: OnceLock::new(), json: OnceLock::new() }))
    }
}

impl Deref for ReplySchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for ReplySchema {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Serialize for ReplySchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_removed_and_properties_of_such_names_stay() {
        let schema = ReplySchema::from(serde_json::json!({
            "properties": {"maxLength": {"type": "string", "maxLength": 9}},
            "anyOf": [{"maxItems": 3, "items": {"maxLength": 2, "enum": ["maxItems"]}}],
        }));
        assert_eq!(
            schema.lengthless().json(),
            r#"{"properties":{"maxLength":{"type":"string"}},"anyOf":[{"items":{"enum":["maxItems"]}}]}"#
        );
        let plain = schema.lengthless();
        assert!(std::ptr::eq(plain.lengthless(), plain));
    }

    #[test]
    fn a_schema_keeps_the_order_of_its_keys() {
        let format = JsonSchemaFormat {
            name: "judgement".into(),
            schema: serde_json::json!({"reason": 1, "evidence": 2, "outcome": 3, "a": 4}).into(),
            strict: true,
        };
        assert_eq!(format.schema.json(), r#"{"reason":1,"evidence":2,"outcome":3,"a":4}"#);
        assert_eq!(
            serde_json::to_string(&format).unwrap(),
            r#"{"name":"judgement","schema":{"reason":1,"evidence":2,"outcome":3,"a":4},"strict":true}"#
        );
    }
}
