//! Interfaces that label a text: moderation and classification. The reply is a [`LabelReply`] as JSON.

use serde::Deserialize;
use serde_json::json;

use super::prelude::*;

/// An interface that labels a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelFormat {
    /// OpenAI's moderation, which other servers support too.
    OpenAiModeration,
    /// Classification of texts by Hugging Face.
    HuggingFaceText,
    /// Classification of tokens by Hugging Face: entities that are found in a text.
    HuggingFaceTokens,
}

/// Labels of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelReply {
    /// The labels, each once, in the order of the server.
    pub labels: Vec<LabelScore>,
    /// True if a label that is not listed has a score of 0. Otherwise its score is unknown.
    pub others_are_absent: bool,
}

/// A label of a text, with its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelScore {
    /// Name of the label.
    pub label: String,
    /// Score, for most models between 0 and 1. `None` if a moderation server only flags.
    pub score: Option<f64>,
    /// The server's own decision whether the label applies, if it makes one.
    pub flagged: Option<bool>,
}

impl WireCodec for LabelFormat {
    fn name(&self) -> &'static str {
        match self {
            Self::OpenAiModeration => "openai-moderation",
            Self::HuggingFaceText => "huggingface-classifier",
            Self::HuggingFaceTokens => "huggingface-token-classifier",
        }
    }

    fn write(&self, request: &ChatRequest, _: ServerQuirks) -> Result<HttpCall, AskError> {
        let text = outgoing::single_text(request, "a model for labels labels one text")?;
        let body = match self {
            Self::OpenAiModeration => json!({"model": request.model, "input": text}),
            Self::HuggingFaceText | Self::HuggingFaceTokens => json!({"inputs": text}),
        };
        outgoing::post(self.path(&request.model), &body)
    }

    fn usage(&self, _: &Value) -> TokenCounts {
        TokenCounts { output: Some(0), ..TokenCounts::default() }
    }

    fn read(&self, body: &Value) -> Result<ChatReply, String> {
        let found = match self {
            Self::OpenAiModeration => moderation_labels(body),
            Self::HuggingFaceText => text_labels(body),
            Self::HuggingFaceTokens => token_labels(body),
        };
        let text = found.and_then(|labels| serde_json::to_string(&labels).ok());
        Ok(answer::measured(body, text.ok_or("the answer has no labels with scores")?))
    }
}

impl LabelFormat {
    fn path(self, model: &str) -> Cow<'static, str> {
        match self {
            Self::OpenAiModeration => "/moderations".into(),
            Self::HuggingFaceText | Self::HuggingFaceTokens => outgoing::hugging_face_path(model).into(),
        }
    }
}

/// Reads the categories of the one text that was sent.
fn moderation_labels(body: &Value) -> Option<LabelReply> {
    let [result] = body.get("results")?.as_array()?.as_slice() else { return None };
    // A category counts only if the text as a whole is flagged.
    let is_flagged = result.get("flagged")?.as_bool()?;
    let scores = result.get("category_scores");
    let categories = result.get("categories")?.as_object().filter(|categories| !categories.is_empty())?;
    let labels: Option<Vec<LabelScore>> = categories
        .iter()
        // Models that don't know a category return null.
        .filter(|(_, flag)| !flag.is_null())
        .map(|(label, flag)| {
            Some(LabelScore {
                label: label.clone(),
                score: scores.and_then(|scores| scores.get(label)?.as_f64()),
                flagged: Some(flag.as_bool()? && is_flagged),
            })
        })
        .collect();

    Some(LabelReply { labels: labels?, others_are_absent: false })
}

/// Reads the labels of a text: a list, or a list that contains one list.
fn text_labels(body: &Value) -> Option<LabelReply> {
    let list = match body.as_array()?.as_slice() {
        [Value::Array(only)] => only,
        list => list,
    };
    let labels: Option<Vec<LabelScore>> = list.iter().map(|entry| labelled(entry, "label")).collect();

    // A server may list only the top labels.
    labels.filter(|labels| !labels.is_empty()).map(|labels| LabelReply { labels, others_are_absent: false })
}

/// Reads the entities of a text. For each kind, the highest score counts.
fn token_labels(body: &Value) -> Option<LabelReply> {
    let mut labels: Vec<LabelScore> = Vec::new();
    for entry in body.as_array()? {
        let name = if entry.get("entity_group").is_some() { "entity_group" } else { "entity" };
        let found = labelled(entry, name)?;
        match labels.iter_mut().find(|known| known.label == found.label) {
            Some(known) => known.score = known.score.zip(found.score).map(|(one, other)| one.max(other)),
            None => labels.push(found),
        }
    }

    Some(LabelReply { labels, others_are_absent: true })
}

fn labelled(entry: &Value, name: &str) -> Option<LabelScore> {
    let score = entry.get("score")?.as_f64()?;
    Some(LabelScore { label: entry.get(name)?.as_str()?.to_owned(), score: Some(score), flagged: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::request::ChatMessage;

    fn answer(body: &str) -> HttpAnswer {
        HttpAnswer { status: 200, headers: crate::HeaderMap::new(), body: body.as_bytes().to_vec() }
    }

    /// Label, score, and whether it is flagged.
    type LabelRow = (String, Option<f64>, Option<bool>);

    fn labels(format: LabelFormat, body: &str) -> (Vec<LabelRow>, bool) {
        let text = format.decode(&answer(body)).expect(body).text;
        let reply: LabelReply = serde_json::from_str(&text).expect("the reply of this crate");
        let rows = reply.labels.into_iter().map(|label| (label.label, label.score, label.flagged)).collect();
        (rows, reply.others_are_absent)
    }

    #[test]
    fn each_interface_has_its_own_path_and_body() {
        for (format, model, path, body) in [
            (LabelFormat::OpenAiModeration, "omni", "/moderations", r#"{"model":"omni","input":"tea"}"#),
            (LabelFormat::HuggingFaceText, "a/b c", "/models/a/b%20c", r#"{"inputs":"tea"}"#),
            (LabelFormat::HuggingFaceTokens, "a/b", "/models/a/b", r#"{"inputs":"tea"}"#),
        ] {
            let request = ChatRequest { model: model.into(), ..ChatRequest::new([ChatMessage::user("tea")]) };
            let call = format.encode(&request, ServerQuirks::default()).unwrap();
            assert_eq!((call.path.as_ref(), call.body.as_slice()), (path, body.as_bytes()));
        }
    }

    #[test]
    fn categories_count_where_the_text_is_flagged() {
        let body = |flagged: bool| {
            format!(
                r#"{{"model": "m", "results": [{{"flagged": {flagged}, "categories": {{"hate": true, "illicit": null, "violence": false}},
                    "category_scores": {{"hate": 0.9, "violence": 0.1}}}}]}}"#
            )
        };
        let row = |label: &str, score, flagged| (label.to_owned(), Some(score), Some(flagged));
        let format = LabelFormat::OpenAiModeration;
        let expected = vec![row("hate", 0.9, true), row("violence", 0.1, false)];
        assert_eq!(labels(format, &body(true)), (expected, false));
        assert!(labels(format, &body(false)).0.iter().all(|row| row.2 == Some(false)));
    }

    #[test]
    fn labels_of_texts_and_of_tokens_are_read() {
        let row = |label: &str, score| (label.to_owned(), Some(score), None);
        for body in [
            r#"[[{"label": "hate", "score": 0.2}, {"label": "nothate", "score": 0.8}]]"#,
            r#"[{"label": "hate", "score": 0.2}, {"label": "nothate", "score": 0.8}]"#,
        ] {
            let expected = vec![row("hate", 0.2), row("nothate", 0.8)];
            assert_eq!(labels(LabelFormat::HuggingFaceText, body), (expected, false));
        }

        let body = r#"[{"entity_group": "NAME", "score": 0.5, "word": "Ann"},
            {"entity_group": "NAME", "score": 0.75, "word": "Bo"}, {"entity": "KEY", "score": 0.25}]"#;
        let expected = vec![row("NAME", 0.75), row("KEY", 0.25)];
        assert_eq!(labels(LabelFormat::HuggingFaceTokens, body), (expected, true));
        assert_eq!(labels(LabelFormat::HuggingFaceTokens, "[]"), (Vec::new(), true));
    }

    #[test]
    fn conversations_and_answers_without_labels_are_refused() {
        let request = ChatRequest::new([ChatMessage::system("judge"), ChatMessage::user("tea")]);
        let formats =
            [LabelFormat::OpenAiModeration, LabelFormat::HuggingFaceText, LabelFormat::HuggingFaceTokens];
        for format in formats {
            let error = format.encode(&request, ServerQuirks::default()).unwrap_err();
            assert_eq!(error.kind, ErrorKind::BadRequest);

            for body in [
                "{}",
                r#"[{"label": "a"}]"#,
                r#"[{"label": "a", "score": "high"}]"#,
                r#"[[{"label": "a", "score": 1}], [{"label": "a", "score": 1}]]"#,
                r#"{"results": []}"#,
                r#"{"results": [{"flagged": true, "categories": {}}]}"#,
                r#"{"results": [{"categories": {"hate": true}}]}"#,
                r#"{"results": [{"flagged": true, "categories": {"hate": "yes"}}]}"#,
            ] {
                let error = format.decode(&answer(body)).unwrap_err();
                assert_eq!(error.kind, ErrorKind::MalformedReply, "{format:?} {body}");
            }
        }
        let none = LabelFormat::HuggingFaceText.decode(&answer("[]")).unwrap_err();
        assert_eq!(none.kind, ErrorKind::MalformedReply);
    }
}
