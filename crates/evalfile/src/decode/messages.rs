//! Decoder of messages and their content: texts, objects, files, images.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use assize_document::{MapReader, NodeValue, TreeNode, codes, string, wrong_type};
use assize_model::GivenOutput;
use assize_rubric::{CaseMessage, MessageBlock, MessageRole};
use serde_json::Value;

use super::DecodeContext;
use super::common::{empty, empty_list, refuse_foreign_keys};

/// Use of a list of messages. Answers may be empty, questions may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageUse {
    Question,
    Answer,
}

/// Decodes `input`: a string (one user message) or a list of messages. Returns `None` after adding a
/// diagnostic.
pub(crate) fn decode_input(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Option<Vec<CaseMessage>> {
    match &node.data {
        NodeValue::Str(text) => {
            if text.trim().is_empty() {
                return cx.problems.reject(empty(key, node.use_span()));
            }
            Some(vec![CaseMessage::text(MessageRole::User, text.clone())])
        }
        NodeValue::Seq(items) => decode_messages(cx, items, key, node.use_span(), MessageUse::Question),
        NodeValue::Map(_) if node.get("role").is_some() => {
            wrong_type(node, &format!("`{key}`"), "a string or a list of messages")
                .with_help("put a `- ` before `role`: a single message is a list of one")
                .reject_in(&mut cx.problems)
        }
        _ => cx.problems.reject(wrong_type(node, &format!("`{key}`"), "a string or a list of messages")),
    }
}

/// Decodes `expected_output`. A string, an object or a list becomes one assistant message; a list of messages
/// is kept. Returns `None` after adding a diagnostic.
pub(crate) fn decode_expected_messages(
    cx: &mut DecodeContext,
    node: &TreeNode,
    key: &str,
) -> Option<Vec<CaseMessage>> {
    match &node.data {
        NodeValue::Str(text) if text.trim().is_empty() => cx.problems.reject(empty(key, node.use_span())),
        NodeValue::Str(text) => Some(vec![CaseMessage::text(MessageRole::Assistant, text.clone())]),
        NodeValue::Map(_) if node.get("role").is_some() => {
            decode_message(cx, node, MessageUse::Answer).map(|message| vec![message])
        }
        NodeValue::Seq(items) if items.is_empty() => cx.problems.reject(empty_list(key, node.use_span())),
        NodeValue::Seq(items) if items.iter().any(looks_like_message) => {
            decode_messages(cx, items, key, node.use_span(), MessageUse::Answer)
        }
        // The format allows any value here: numbers and booleans are answers, as objects are.
        NodeValue::Map(_)
        | NodeValue::Seq(_)
        | NodeValue::Bool(_)
        | NodeValue::Int(_)
        | NodeValue::Float(_) => Some(vec![assistant_message(vec![MessageBlock::Json(node.to_json())])]),
        NodeValue::Null => None,
    }
}

/// Decodes the answer itself: a string, an object or messages. Returns `None` after adding a diagnostic.
pub(crate) fn decode_given_output(cx: &mut DecodeContext, node: &TreeNode, key: &str) -> Option<GivenOutput> {
    match &node.data {
        NodeValue::Str(text) => Some(GivenOutput::Text(text.clone())),
        NodeValue::Map(_) if node.get("role").is_some() => {
            decode_message(cx, node, MessageUse::Answer).map(|message| GivenOutput::Messages(vec![message]))
        }
        NodeValue::Seq(items) if items.iter().any(looks_like_message) => {
            decode_messages(cx, items, key, node.use_span(), MessageUse::Answer).map(GivenOutput::Messages)
        }
        NodeValue::Map(_) | NodeValue::Seq(_) => Some(GivenOutput::Json(node.to_json())),
        NodeValue::Null => wrong_type(node, &format!("`{key}`"), "a string, an object or a list of messages")
            .with_help("write \"\" for an answer that is empty")
            .reject_in(&mut cx.problems),
        NodeValue::Bool(_) | NodeValue::Int(_) | NodeValue::Float(_) => {
            string(node, key, &mut cx.problems);
            None
        }
    }
}

/// Decodes `input_files`: a file block for each path. A missing file is reported at its own span.
pub(crate) fn decode_input_files(cx: &mut DecodeContext, node: &TreeNode) -> Vec<MessageBlock> {
    let items = match &node.data {
        NodeValue::Str(_) => std::slice::from_ref(node),
        NodeValue::Seq(items) => {
            if items.is_empty() {
                cx.problems.add(empty_list("input_files", node.use_span()));
            }
            items.as_slice()
        }
        _ => {
            cx.problems.add(wrong_type(node, "`input_files`", "a list of paths"));
            return Vec::new();
        }
    };

    let mut blocks = Vec::with_capacity(items.len());
    for item in items {
        let Some(written) = string(item, "input_files", &mut cx.problems) else { continue };
        if written.value.trim().is_empty() {
            cx.problems.add(empty("input_files", written.span));
        } else if media_type(&written.value).is_some() {
            blocks.extend(decode_image_block(cx, &written.value, written.span));
        } else {
            blocks.extend(decode_file_block(cx, &written.value, written.span));
        }
    }

    blocks
}

/// Inserts files before the text of the last user message, as `input_files` requires. Fails if there is none.
pub(crate) fn attach_files(messages: &mut [CaseMessage], files: &[MessageBlock]) -> Result<(), ()> {
    if files.is_empty() {
        return Ok(());
    }

    let last = messages.iter_mut().rev().find(|message| message.role == MessageRole::User).ok_or(())?;
    last.blocks.splice(0..0, files.iter().cloned());

    Ok(())
}

fn looks_like_message(node: &TreeNode) -> bool {
    node.get("role").is_some()
}

fn assistant_message(blocks: Vec<MessageBlock>) -> CaseMessage {
    CaseMessage { blocks, ..CaseMessage::text(MessageRole::Assistant, "") }
}

fn decode_messages(
    cx: &mut DecodeContext,
    items: &[TreeNode],
    key: &str,
    place: Span,
    purpose: MessageUse,
) -> Option<Vec<CaseMessage>> {
    if items.is_empty() {
        return cx.problems.reject(empty_list(key, place));
    }

    let before = cx.problems.error_count();
    let messages: Vec<CaseMessage> =
        items.iter().filter_map(|item| decode_message(cx, item, purpose)).collect();
    (cx.problems.error_count() == before).then_some(messages)
}

fn decode_message(cx: &mut DecodeContext, node: &TreeNode, purpose: MessageUse) -> Option<CaseMessage> {
    if node.as_map().is_none() {
        return Diagnostic::error(codes::BAD_MESSAGE, "a message must be a map")
            .at(node.use_span(), format!("found {}", node.type_name()))
            .with_help("write `- role: user` with `content:` below it")
            .reject_in(&mut cx.problems);
    }

    let before = cx.problems.error_count();
    let mut object = MapReader::new(node, "a message", &mut cx.problems)?;
    let role = decode_role(cx, &mut object);
    let tool_calls = decode_tool_calls(cx, &mut object);
    let blocks = match object.entry("content").map(|entry| &entry.value) {
        Some(value) if !value.is_null() => decode_content(cx, value, purpose, !tool_calls.is_empty()),
        // A model that only calls tools returns no text.
        _ if !tool_calls.is_empty() => Vec::new(),
        _ => {
            Diagnostic::error(codes::BAD_MESSAGE, "a message has no content")
                .at(object.head(), "this message")
                .with_help("add `content:` with the text")
                .add_to(&mut cx.problems);
            Vec::new()
        }
    };

    let name = object.text("name", &mut cx.problems).map(|name| name.value);
    refuse_foreign_keys(
        cx,
        &mut object,
        &[("text", "write the text as `content`"), ("message", "write the text as `content`")],
    );

    let mut data = serde_json::Map::new();
    for key in [
        "tool_call_id", "id", "timestamp", "start_time", "end_time", "duration_ms", "token_usage",
        "cost_usd", "metadata",
    ] {
        if let Some(value) = object.value(key) {
            data.insert(key.to_owned(), value.to_json());
        }
    }

    object.finish(&mut cx.problems);
    let role = role?;
    (cx.problems.error_count() == before).then_some(CaseMessage { role, blocks, tool_calls, name, data })
}

fn decode_role(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Option<MessageRole> {
    let head = object.head();
    let Some(node) = object.value("role") else {
        return Diagnostic::error(codes::BAD_MESSAGE, "a message has no role")
            .at(head, "this message")
            .with_help("add `role: user` (or system, assistant, tool)")
            .reject_in(&mut cx.problems);
    };

    let word = string(node, "role", &mut cx.problems)?;
    if let Some(role) = MessageRole::from_name(&word.value) {
        return Some(role);
    }

    let mut diagnostic = Diagnostic::error(codes::BAD_MESSAGE, format!("unknown role `{}`", word.value))
        .at(word.span, "not a role");

    let near = match word.value.to_ascii_lowercase().as_str() {
        "human" => Some("user"),
        "ai" | "bot" | "model" | "agent" => Some("assistant"),
        "developer" => Some("system"),
        "function" => Some("tool"),
        other => did_you_mean(other, MessageRole::NAMES)
            .or_else(|| MessageRole::NAMES.into_iter().find(|name| *name == other)),
    };
    if let Some(near) = near {
        diagnostic = diagnostic
            .with_help(format!("did you mean `{near}`?"))
            .with_suggestion("change the role", word.span, near);
    }

    cx.problems.reject(diagnostic.with_help("roles are `system`, `user`, `assistant` and `tool`"))
}

fn decode_tool_calls(cx: &mut DecodeContext, object: &mut MapReader<'_>) -> Vec<Value> {
    let Some(node) = object.value("tool_calls") else { return Vec::new() };
    let Some(items) = node.as_seq() else {
        cx.problems.add(wrong_type(node, "`tool_calls`", "a list"));
        return Vec::new();
    };
    for item in items {
        if item.as_map().is_none() {
            Diagnostic::error(codes::BAD_MESSAGE, "a tool call must be a map")
                .at(item.use_span(), format!("found {}", item.type_name()))
                .with_help("write `- tool: NAME` with `input:` below it")
                .add_to(&mut cx.problems);
        }
    }

    items.iter().map(TreeNode::to_json).collect()
}

fn decode_content(
    cx: &mut DecodeContext,
    node: &TreeNode,
    purpose: MessageUse,
    may_be_empty: bool,
) -> Vec<MessageBlock> {
    let may_be_empty = may_be_empty || purpose == MessageUse::Answer;
    match &node.data {
        NodeValue::Str(text) if text.trim().is_empty() && !may_be_empty => {
            cx.problems.add(empty("content", node.use_span()));
            Vec::new()
        }
        NodeValue::Str(text) => vec![MessageBlock::Text(text.clone())],
        NodeValue::Map(_) => vec![MessageBlock::Json(node.to_json())],
        NodeValue::Seq(items) if items.is_empty() && !may_be_empty => {
            cx.problems.add(empty_list("content", node.use_span()));
            Vec::new()
        }
        // In an expected answer, a list without content blocks is a value, as an object is.
        NodeValue::Seq(items)
            if purpose == MessageUse::Answer
                && !items.is_empty()
                && items.iter().all(|item| item.as_str().is_none() && item.get("type").is_none()) =>
        {
            vec![MessageBlock::Json(node.to_json())]
        }
        NodeValue::Seq(items) => items.iter().filter_map(|item| decode_block(cx, item)).collect(),
        _ => {
            let mut diagnostic = wrong_type(node, "`content`", "a string, an object or a list of blocks");
            if matches!(node.data, NodeValue::Int(_) | NodeValue::Float(_) | NodeValue::Bool(_)) {
                diagnostic = diagnostic.with_help("put it in quotes");
            }

            cx.problems.add(diagnostic);
            Vec::new()
        }
    }
}

/// Keys of content blocks that other tools use.
const FOREIGN_BLOCK_KEYS: &[(&str, &str)] = &[
    ("text", "write the text as `value`"),
    ("path", "write the path as `value`"),
    ("image_url", "store the image next to the suite and write its path as `value`"),
];

fn decode_block(cx: &mut DecodeContext, node: &TreeNode) -> Option<MessageBlock> {
    if let Some(text) = node.as_str() {
        return Some(MessageBlock::Text(text.to_owned()));
    }

    if node.as_map().is_none() {
        return Diagnostic::error(codes::BAD_MESSAGE, "a content block must be a string or a map")
            .at(node.use_span(), format!("found {}", node.type_name()))
            .with_help("write `- type: text` with `value:` below it")
            .reject_in(&mut cx.problems);
    }

    let mut object = MapReader::new(node, "a content block", &mut cx.problems)?;
    let head = object.head();
    let kind = object.text("type", &mut cx.problems);
    if kind.is_none() && !object.has("type") {
        Diagnostic::error(codes::BAD_MESSAGE, "a content block has no type")
            .at(head, "this block")
            .with_help("add `type: text`, `type: file` or `type: image`")
            .add_to(&mut cx.problems);
    }

    let given = object.has("value") || FOREIGN_BLOCK_KEYS.iter().any(|(key, _)| object.has(key));
    let value = object.string("value", &mut cx.problems);

    refuse_foreign_keys(cx, &mut object, FOREIGN_BLOCK_KEYS);
    object.finish(&mut cx.problems);

    let kind = kind?;
    let what = match kind.value.as_str() {
        "text" | "file" | "image" => kind.value.as_str(),
        other => {
            let near = did_you_mean(other, ["text", "file", "image"]);
            let mut diagnostic =
                Diagnostic::error(codes::BAD_MESSAGE, format!("unknown type of content block `{other}`"))
                    .at(kind.span, "not a type");
            if let Some(near) = near {
                diagnostic = diagnostic.with_suggestion("change the type", kind.span, near);
            }

            return cx.problems.reject(diagnostic.with_help("types are `text`, `file` and `image`"));
        }
    };

    let Some(value) = value else {
        if !given {
            let help =
                if what == "text" { "add `value:` with the text" } else { "add `value:` with the path" };
            Diagnostic::error(codes::BAD_MESSAGE, "a content block has no value")
                .at(head, "this block")
                .with_help(help)
                .add_to(&mut cx.problems);
        }
        return None;
    };
    if value.value.trim().is_empty() && what != "text" {
        return cx.problems.reject(empty("value", value.span));
    }

    match what {
        "file" => decode_file_block(cx, &value.value, value.span),
        "image" => decode_image_block(cx, &value.value, value.span),
        _ => Some(MessageBlock::Text(value.value)),
    }
}

fn decode_file_block(cx: &mut DecodeContext, written: &str, span: Span) -> Option<MessageBlock> {
    let file = cx.read_text(written, span)?;
    Some(MessageBlock::File { written: written.to_owned(), path: file.path, text: file.text })
}

fn decode_image_block(cx: &mut DecodeContext, written: &str, span: Span) -> Option<MessageBlock> {
    let Some(media_type) = media_type(written) else {
        return Diagnostic::error(codes::UNKNOWN_FILE_KIND, "not a kind of image that is read")
            .at(span, "by its extension")
            .with_help("images are png, jpg, jpeg, gif, webp, svg or bmp files")
            .reject_in(&mut cx.problems);
    };

    let path = cx.find_file(written, span)?;
    if path.is_dir() {
        return Diagnostic::error(codes::FILE_UNREADABLE, "file can't be read")
            .at(span, "it is a folder")
            .with_help("name an image file")
            .reject_in(&mut cx.problems);
    }

    Some(MessageBlock::Image { written: written.to_owned(), path, media_type })
}

/// Returns the media type of an image by its name; `None` for other files.
fn media_type(written: &str) -> Option<&'static str> {
    let ending = Path::new(written).extension()?.to_str()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "bmp" => "image/bmp",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use assize_document::read_yaml;

    use super::*;
    use crate::tests::contexts::context;

    fn read<T>(text: &str, decode: impl FnOnce(&mut DecodeContext, &TreeNode) -> T) -> (T, Vec<Diagnostic>) {
        let mut cx = context();
        let source = cx.sources.add("a.yaml", text);
        let node = read_yaml(&cx.sources, source, &mut cx.problems).expect("valid");
        let value = decode(&mut cx, &node);
        (value, cx.problems.into_vec())
    }

    #[test]
    fn all_forms_of_input() {
        let (found, problems) = read("hello", |cx, node| decode_input(cx, node, "input"));
        assert_eq!(found, Some(vec![CaseMessage::text(MessageRole::User, "hello")]));
        assert_eq!(problems, vec![]);
        let text = "- {role: system, content: be brief}\n\
                    - {role: user, content: [bare, {type: text, value: block}]}\n\
                    - {role: user, content: {a: 1}}\n\
                    - {role: assistant, tool_calls: [{tool: find, input: {q: x}}]}\n\
                    - {role: tool, content: done, name: find, tool_call_id: c1}\n";
        let (found, problems) = read(text, |cx, node| decode_input(cx, node, "input"));
        assert_eq!(problems, vec![]);
        let found = found.expect("sound");
        assert_eq!(
            found[1].blocks,
            vec![MessageBlock::Text("bare".into()), MessageBlock::Text("block".into())]
        );
        assert_eq!(found[2].blocks, vec![MessageBlock::Json(serde_json::json!({"a": 1}))]);
        assert_eq!(found[3].tool_calls.len(), 1);
        assert_eq!(found[4].data["tool_call_id"], "c1");
    }

    #[test]
    fn nothing_of_a_broken_message_is_dropped_silently() {
        for (text, expected) in [
            ("[{role: User, content: x}]", "unknown role `User`"),
            ("[{role: human, content: x}]", "unknown role `human`"),
            ("[{content: x}]", "a message has no role"),
            ("[{role: user}]", "a message has no content"),
            ("[{role: user, content: ''}]", "`content` is empty"),
            ("[{role: user, content: 5}]", "`content` must be a string, an object or a list of blocks"),
            ("[{role: user, content: x, contnt: y}]", "unknown key `contnt`"),
            ("[hello]", "a message must be a map"),
            ("[{role: user, content: [{type: txt, value: x}]}]", "unknown type of content block `txt`"),
            ("[{role: user, content: [{type: text}]}]", "a content block has no value"),
            ("[{role: user, content: [{value: x}]}]", "a content block has no type"),
            ("[{role: user, content: [7]}]", "a content block must be a string or a map"),
            ("[{role: user, content: [{type: file, value: gone.md}]}]", "no file can be read here"),
            ("[{role: user, content: [{type: image, value: a.tiff}]}]", "not a kind of image that is read"),
            ("[]", "`input` is an empty list"),
            ("''", "`input` is empty"),
            ("5", "`input` must be a string or a list of messages"),
            ("{role: user, content: x}", "`input` must be a string or a list of messages"),
        ] {
            let (found, problems) = read(text, |cx, node| decode_input(cx, node, "input"));
            assert_eq!(found, None, "{text}");
            assert_eq!(problems.iter().map(|d| d.title.as_str()).collect::<Vec<_>>(), [expected], "{text}");
            assert!(
                !problems[0].help.is_empty() || problems[0].suggestion.is_some() || text == "5",
                "{text}"
            );
        }
    }

    #[test]
    fn all_forms_of_expected_output() {
        let json = |value| Some(vec![assistant_message(vec![MessageBlock::Json(value)])]);
        for (text, expected_value) in [
            ("yes", Some(vec![CaseMessage::text(MessageRole::Assistant, "yes")])),
            ("{a: 1}", json(serde_json::json!({"a": 1}))),
            ("[1, 2]", json(serde_json::json!([1, 2]))),
            ("4", json(serde_json::json!(4))),
            ("[{role: assistant, content: hi}]", Some(vec![CaseMessage::text(MessageRole::Assistant, "hi")])),
            ("[{role: assistant, content: [{a: 1}]}]", json(serde_json::json!([{"a": 1}]))),
        ] {
            let (found, problems) =
                read(text, |cx, node| decode_expected_messages(cx, node, "expected_output"));
            assert_eq!(problems, vec![], "{text}");
            assert_eq!(found, expected_value, "{text}");
        }
    }

    #[test]
    fn all_forms_of_a_given_output() {
        for (text, expected) in [
            ("''", Some(GivenOutput::Text(String::new()))),
            ("{a: 1}", Some(GivenOutput::Json(serde_json::json!({"a": 1})))),
            (
                "[{role: assistant, content: ''}]",
                Some(GivenOutput::Messages(vec![CaseMessage::text(MessageRole::Assistant, "")])),
            ),
            ("~", None),
            ("12", None),
        ] {
            let (found, problems) = read(text, |cx, node| decode_given_output(cx, node, "output"));
            assert_eq!(found, expected, "{text}");
            assert_eq!(problems.is_empty(), found.is_some(), "{text}");
        }
    }

    #[test]
    fn files_go_before_the_last_user_message() {
        let file = MessageBlock::Text("file".into());
        let mut messages = vec![
            CaseMessage::text(MessageRole::User, "one"),
            CaseMessage::text(MessageRole::User, "two"),
            CaseMessage::text(MessageRole::Assistant, "three"),
        ];
        assert_eq!(attach_files(&mut messages, std::slice::from_ref(&file)), Ok(()));
        assert_eq!(messages[1].blocks, vec![file.clone(), MessageBlock::Text("two".into())]);
        assert_eq!(attach_files(&mut messages[2..], &[file]), Err(()));
    }
}
