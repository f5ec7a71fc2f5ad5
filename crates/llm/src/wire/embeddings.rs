//! Interfaces for embeddings. The input is a text, and the reply is its vector as a JSON list of numbers.

use serde_json::json;

use super::outgoing::segment;
use super::prelude::*;

/// The purpose sent to models that have several kinds of vectors, the same as in promptfoo.
const INPUT_TYPE: &str = "classification";

/// An interface for embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingFormat {
    /// OpenAI's, which many servers support.
    OpenAi,
    /// OpenAI's without the encoding of the vector, a parameter that Voyage AI refuses.
    Voyage,
    /// OpenAI's as Azure serves it. The model is the name of a deployment, which is part of the path or of the
    /// body.
    Azure {
        /// True if the deployment is part of the path.
        deployment_in_path: bool,
    },
    /// The Gemini API's.
    Gemini,
    /// Google Cloud's.
    Vertex,
    /// Bedrock's, for models of Amazon and Cohere.
    Bedrock,
    /// Cohere's.
    Cohere,
    /// Feature extraction by Hugging Face.
    HuggingFace,
}

impl WireCodec for EmbeddingFormat {
    fn name(&self) -> &'static str {
        match self {
            Self::OpenAi => "openai-embeddings",
            Self::Voyage => "voyage-embeddings",
            Self::Azure { .. } => "azure-embeddings",
            Self::Gemini => "gemini-embeddings",
            Self::Vertex => "vertex-embeddings",
            Self::Bedrock => "bedrock-embeddings",
            Self::Cohere => "cohere-embeddings",
            Self::HuggingFace => "huggingface-embeddings",
        }
    }

    fn key_header(&self) -> KeyHeader {
        match self {
            Self::Azure { .. } => KeyHeader { name: "api-key", prefix: "" },
            Self::Gemini => KeyHeader { name: "x-goog-api-key", prefix: "" },
            _ => KeyHeader { name: "authorization", prefix: "Bearer " },
        }
    }

    fn write(&self, request: &ChatRequest, _: ServerQuirks) -> Result<HttpCall, AskError> {
        let text = outgoing::single_text(request, "a model for embeddings turns one text into numbers")?;
        let body = self.body(&request.model, &text);
        outgoing::post(self.path(&request.model), &body)
    }

    fn usage(&self, body: &Value) -> TokenCounts {
        TokenCounts {
            input: self.count_places().iter().find_map(|place| json::count(body, place)),
            cached: None,
            output: Some(0),
        }
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let is_vector = |numbers: &&Vec<Value>| !numbers.is_empty() && numbers.iter().all(Value::is_number);
        // In a list of several vectors, none is the vector of the whole text.
        let is_single = !matches!(body, Value::Array(items) if items.len() > 1 && items[0].is_array());
        let vector = self
            .vector_places()
            .iter()
            .filter_map(|place| body.pointer(place)?.as_array())
            .find(is_vector)
            .filter(|_| is_single);
        let vector = vector.ok_or("the answer has no embedding of numbers")?;
        Ok(answer::measured(body, Value::Array(vector.clone()).to_string()))
    }
}

impl EmbeddingFormat {
    fn path(self, model: &str) -> Cow<'static, str> {
        match self {
            Self::Azure { deployment_in_path: true } => {
                format!("/deployments/{}/embeddings", segment(model)).into()
            }
            Self::OpenAi | Self::Voyage | Self::Azure { deployment_in_path: false } => "/embeddings".into(),
            Self::Gemini => format!("/models/{}:embedContent", segment(model)).into(),
            Self::Vertex => format!("/models/{}:predict", segment(model)).into(),
            Self::Bedrock => format!("/model/{}/invoke", segment(model)).into(),
            Self::Cohere => "/embed".into(),
            Self::HuggingFace => {
                format!("{}/pipeline/feature-extraction", outgoing::hugging_face_path(model)).into()
            }
        }
    }

    /// The request body. The order of the keys is the order on the wire.
    fn body(self, model: &str, text: &str) -> Value {
        match self {
            Self::OpenAi | Self::Azure { .. } => {
                json!({"model": model, "input": text, "encoding_format": "float"})
            }
            Self::Voyage => json!({"model": model, "input": [text], "truncation": false}),
            Self::Gemini => json!({"content": {"parts": [{"text": text}]}}),
            Self::Vertex => json!({"instances": [{"content": text}], "parameters": {"autoTruncate": false}}),
            Self::Bedrock if model.contains("cohere.") => json!({"texts": [text], "input_type": INPUT_TYPE}),
            Self::Bedrock => json!({"inputText": text}),
            Self::Cohere => json!({
                "model": model, "texts": [text], "input_type": INPUT_TYPE, "embedding_types": ["float"],
                "truncate": "NONE",
            }),
            Self::HuggingFace => json!({"inputs": text}),
        }
    }

    /// Where the vector may be.
    const fn vector_places(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::Voyage | Self::Azure { .. } => &["/data/0/embedding"],
            Self::Gemini => &["/embedding/values"],
            Self::Vertex => &["/predictions/0/embeddings/values"],
            Self::Bedrock => &["/embedding", "/embeddings/0", "/embeddings/float/0"],
            Self::Cohere => &["/embeddings/float/0", "/embeddings/0"],
            Self::HuggingFace => &["", "/0"],
        }
    }

    /// Where the number of tokens may be.
    const fn count_places(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi | Self::Voyage | Self::Azure { .. } => {
                &["/usage/prompt_tokens", "/usage/total_tokens"]
            }
            Self::Gemini => &["/usageMetadata/promptTokenCount"],
            Self::Vertex => &["/predictions/0/embeddings/statistics/token_count"],
            Self::Bedrock => &["/inputTextTokenCount"],
            Self::Cohere => &["/meta/billed_units/input_tokens"],
            Self::HuggingFace => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::request::ChatMessage;

    const ALL: [EmbeddingFormat; 9] = [
        EmbeddingFormat::OpenAi,
        EmbeddingFormat::Voyage,
        EmbeddingFormat::Azure { deployment_in_path: true },
        EmbeddingFormat::Azure { deployment_in_path: false },
        EmbeddingFormat::Gemini,
        EmbeddingFormat::Vertex,
        EmbeddingFormat::Bedrock,
        EmbeddingFormat::Cohere,
        EmbeddingFormat::HuggingFace,
    ];

    fn answer(body: &str) -> HttpAnswer {
        HttpAnswer { status: 200, headers: crate::HeaderMap::new(), body: body.as_bytes().to_vec() }
    }

    fn sent(format: EmbeddingFormat, model: &str) -> (String, String) {
        let request = ChatRequest { model: model.into(), ..ChatRequest::new([ChatMessage::user("tea")]) };
        let call = format.encode(&request, ServerQuirks::default()).unwrap();
        (call.path.into_owned(), String::from_utf8(call.body).unwrap())
    }

    #[test]
    fn a_text_is_sent_and_its_vector_is_the_reply() {
        let (path, body) = sent(EmbeddingFormat::OpenAi, "e");
        assert_eq!(path, "/embeddings");
        assert_eq!(body, r#"{"model":"e","input":"tea","encoding_format":"float"}"#);

        let reply = EmbeddingFormat::OpenAi
            .decode(&answer(
                r#"{"model": "e-1", "data": [{"embedding": [0.5, -1]}], "usage": {"prompt_tokens": 3}}"#,
            ))
            .unwrap();
        assert_eq!((reply.text.as_str(), reply.model.as_deref()), ("[0.5,-1]", Some("e-1")));
        assert_eq!((reply.usage.input, reply.usage.output), (Some(3), Some(0)));
    }

    #[test]
    fn each_interface_has_its_own_path_and_body() {
        let azure = |deployment_in_path| EmbeddingFormat::Azure { deployment_in_path };
        for (format, model, path, body) in [
            (
                EmbeddingFormat::Voyage,
                "v",
                "/embeddings",
                r#"{"model":"v","input":["tea"],"truncation":false}"#,
            ),
            (
                azure(true),
                "my embed",
                "/deployments/my%20embed/embeddings",
                r#"{"model":"my embed","input":"tea","encoding_format":"float"}"#,
            ),
            (azure(false), "m", "/embeddings", r#"{"model":"m","input":"tea","encoding_format":"float"}"#),
            (
                EmbeddingFormat::Gemini,
                "gemini-embedding-001",
                "/models/gemini-embedding-001:embedContent",
                r#"{"content":{"parts":[{"text":"tea"}]}}"#,
            ),
            (
                EmbeddingFormat::Vertex,
                "text-embedding-005",
                "/models/text-embedding-005:predict",
                r#"{"instances":[{"content":"tea"}],"parameters":{"autoTruncate":false}}"#,
            ),
            (
                EmbeddingFormat::Bedrock,
                "amazon.titan-embed-text-v2:0",
                "/model/amazon.titan-embed-text-v2%3A0/invoke",
                r#"{"inputText":"tea"}"#,
            ),
            (
                EmbeddingFormat::Bedrock,
                "cohere.embed-english-v3",
                "/model/cohere.embed-english-v3/invoke",
                r#"{"texts":["tea"],"input_type":"classification"}"#,
            ),
            (
                EmbeddingFormat::Cohere,
                "embed-v4.0",
                "/embed",
                r#"{"model":"embed-v4.0","texts":["tea"],"input_type":"classification","embedding_types":["float"],"truncate":"NONE"}"#,
            ),
            (
                EmbeddingFormat::HuggingFace,
                "BAAI/bge small",
                "/models/BAAI/bge%20small/pipeline/feature-extraction",
                r#"{"inputs":"tea"}"#,
            ),
        ] {
            assert_eq!(sent(format, model), (path.to_owned(), body.to_owned()), "{format:?}");
        }
    }

    #[test]
    fn each_interface_has_its_own_place_for_the_vector() {
        let azure = EmbeddingFormat::Azure { deployment_in_path: true };
        for (format, body, tokens) in [
            (
                EmbeddingFormat::Voyage,
                r#"{"data": [{"embedding": [1, 2]}], "usage": {"total_tokens": 3}}"#,
                Some(3),
            ),
            (azure, r#"{"data": [{"embedding": [1, 2]}], "usage": {"prompt_tokens": 3}}"#, Some(3)),
            (EmbeddingFormat::Gemini, r#"{"embedding": {"values": [1, 2]}}"#, None),
            (
                EmbeddingFormat::Vertex,
                r#"{"predictions": [{"embeddings": {"values": [1, 2], "statistics": {"token_count": 3}}}]}"#,
                Some(3),
            ),
            (EmbeddingFormat::Bedrock, r#"{"embedding": [1, 2], "inputTextTokenCount": 3}"#, Some(3)),
            (
                EmbeddingFormat::Bedrock,
                r#"{"embeddings": [[1, 2]], "response_type": "embeddings_floats"}"#,
                None,
            ),
            (
                EmbeddingFormat::Cohere,
                r#"{"embeddings": {"float": [[1, 2]]}, "meta": {"billed_units": {"input_tokens": 3}}}"#,
                Some(3),
            ),
            (EmbeddingFormat::HuggingFace, "[1, 2]", None),
            (EmbeddingFormat::HuggingFace, "[[1, 2]]", None),
        ] {
            let reply = format.decode(&answer(body)).expect(body);
            assert_eq!((reply.text.as_str(), reply.usage.input), ("[1,2]", tokens), "{format:?}");
        }
    }

    #[test]
    fn conversations_and_answers_without_numbers_are_refused() {
        let request = ChatRequest::new([ChatMessage::system("judge"), ChatMessage::user("tea")]);
        for format in ALL {
            let error = format.encode(&request, ServerQuirks::default()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadRequest);

            for body in [
                "{}", "[]", r#"{"data": []}"#, r#"{"data": [{"embedding": []}]}"#,
                r#"{"data": [{"embedding": ["a"]}]}"#, r#"{"data": [{"embedding": "AAAA"}]}"#,
                r#"{"embedding": {"values": []}}"#, r#"{"embeddings": [["a"]]}"#, "[[[1, 2], [3, 4]]]",
                r#"{"predictions": []}"#,
            ] {
                let error = format.decode(&answer(body)).unwrap_err();
                assert_eq!(error.kind, ErrorKind::MalformedReply, "{format:?} {body}");
            }
        }

        // A list with a vector for each token has none for the text.
        let tokens = answer("[[1, 2], [3, 4]]");
        assert_eq!(EmbeddingFormat::HuggingFace.decode(&tokens).unwrap_err().kind, ErrorKind::MalformedReply);
    }
}
