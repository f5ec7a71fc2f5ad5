//! Decoder of messages and their content: texts, objects, files, images.

use std::path::Path;

use assize_diagnostic::{Diagnostic, Span, did_you_mean};
use serde_json::Value;

use super::common::{empty, empty_list, refuse};
use super::object::{string, wrong_type};
use super::{Context, Object};
use crate::codes;
use crate::model::{Block, GivenOutput, Message, Role};
use crate::tree::{Data, Node};

/// Use of a list of messages. Answers, given or recorded, may be empty; questions may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Question,
    Answer,
}

/// Decodes `input`: a string (one user message) or a list of messages. Returns `None` after adding a
/// diagnostic.
pub(crate) fn input(cx: &mut Context, node: &Node, key: &str) -> Option<Vec<Message>> {
    match &node.data {
        Data::Str(text) => {
            if text.trim().is_empty() {
                cx.problems.add(empty(key, node.place()));
                return None;
            }
            Some(vec![Message::text(Role::User, text.clone())])
        }
        Data::Seq(items) => list(cx, items, key, node.place(), Use::Question),
        Data::Map(_) if node.get("role").is_some() => {
            cx.problems.add(
                wrong_type(node, &format!("`{key}`"), "a string or a list of messages")
                    .with_help("put a `- ` before `role`: a single message is a list of one"),
            );
            None
        }
        _ => {
            cx.problems.add(wrong_type(node, &format!("`{key}`"), "a string or a list of messages"));
            None
        }
    }
}

/// Decodes `expected_output`: a string, an object or a list as one assistant message, or a list of messages.
/// Returns `None` after adding a diagnostic.
pub(crate) fn expected(cx: &mut Context, node: &Node, key: &str) -> Option<Vec<Message>> {
    match &node.data {
        Data::Str(text) if text.trim().is_empty() => {
            cx.problems.add(empty(key, node.place()));
            None
        }
        Data::Str(text) => Some(vec![Message::text(Role::Assistant, text.clone())]),
        Data::Map(_) if node.get("role").is_some() => {
            message(cx, node, Use::Answer).map(|message| vec![message])
        }
        Data::Seq(items) if items.is_empty() => {
            cx.problems.add(empty_list(key, node.place()));
            None
        }
        Data::Seq(items) if items.iter().any(looks_like_message) => {
            list(cx, items, key, node.place(), Use::Answer)
        }
        // The format accepts any value here; numbers and booleans are answers like objects.
        Data::Map(_) | Data::Seq(_) | Data::Bool(_) | Data::Int(_) | Data::Float(_) => {
            Some(vec![assistant(vec![Block::Json(node.to_json())])])
        }
        Data::Null => None,
    }
}

/// Decodes the answer itself: a string, an object or messages. Returns `None` after adding a diagnostic.
pub(crate) fn given_output(cx: &mut Context, node: &Node, key: &str) -> Option<GivenOutput> {
    match &node.data {
        Data::Str(text) => Some(GivenOutput::Text(text.clone())),
        Data::Map(_) if node.get("role").is_some() => {
            message(cx, node, Use::Answer).map(|message| GivenOutput::Messages(vec![message]))
        }
        Data::Seq(items) if items.iter().any(looks_like_message) => {
            list(cx, items, key, node.place(), Use::Answer).map(GivenOutput::Messages)
        }
        Data::Map(_) | Data::Seq(_) => Some(GivenOutput::Json(node.to_json())),
        Data::Null => {
            cx.problems.add(
                wrong_type(node, &format!("`{key}`"), "a string, an object or a list of messages")
                    .with_help("write \"\" for an answer that is empty"),
            );
            None
        }
        Data::Bool(_) | Data::Int(_) | Data::Float(_) => {
            string(node, key, &mut cx.problems);
            None
        }
    }
}

/// Decodes `input_files`: a file block for each path. Missing files are reported at their own spans.
pub(crate) fn input_files(cx: &mut Context, node: &Node) -> Vec<Block> {
    let items = match &node.data {
        Data::Str(_) => std::slice::from_ref(node),
        Data::Seq(items) => {
            if items.is_empty() {
                cx.problems.add(empty_list("input_files", node.place()));
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
            blocks.extend(image(cx, &written.value, written.span));
        } else {
            blocks.extend(file(cx, &written.value, written.span));
        }
    }
    blocks
}

/// Inserts files before the text of the last user message, as `input_files` requires. Fails if there is none.
pub(crate) fn attach(messages: &mut [Message], files: &[Block]) -> Result<(), ()> {
    if files.is_empty() {
        return Ok(());
    }
    let last = messages.iter_mut().rev().find(|message| message.role == Role::User).ok_or(())?;
    last.blocks.splice(0..0, files.iter().cloned());
    Ok(())
}

fn looks_like_message(node: &Node) -> bool {
    node.get("role").is_some()
}

fn assistant(blocks: Vec<Block>) -> Message {
    Message { blocks, ..Message::text(Role::Assistant, "") }
}

fn list(cx: &mut Context, items: &[Node], key: &str, place: Span, purpose: Use) -> Option<Vec<Message>> {
    if items.is_empty() {
        cx.problems.add(empty_list(key, place));
        return None;
    }
    let before = cx.problems.errors();
    let messages: Vec<Message> = items.iter().filter_map(|item| message(cx, item, purpose)).collect();
    (cx.problems.errors() == before).then_some(messages)
}

fn message(cx: &mut Context, node: &Node, purpose: Use) -> Option<Message> {
    if node.as_map().is_none() {
        cx.problems.add(
            Diagnostic::error(
                codes::BAD_MESSAGE,
                "a message must be a map",
                node.place(),
                format!("found {}", node.kind()),
            )
            .with_help("write `- role: user` with `content:` below it"),
        );
        return None;
    }
    let before = cx.problems.errors();
    let mut object = Object::new(node, "a message", &mut cx.problems)?;
    let role = role(cx, &mut object);
    let tool_calls = tool_calls(cx, &mut object);
    let blocks = match object.entry("content").map(|entry| &entry.value) {
        Some(value) if !value.is_null() => content(cx, value, purpose, !tool_calls.is_empty()),
        // A model that only calls tools returns no text.
        _ if !tool_calls.is_empty() => Vec::new(),
        _ => {
            cx.problems.add(
                Diagnostic::error(
                    codes::BAD_MESSAGE,
                    "a message has no content",
                    object.head(),
                    "this message",
                )
                .with_help("add `content:` with the text"),
            );
            Vec::new()
        }
    };
    let name = object.text("name", &mut cx.problems).map(|name| name.value);
    refuse(
        cx,
        &mut object,
        &[("text", "write the text as `content`"), ("message", "write the text as `content`")],
    );
    let mut data = serde_json::Map::new();
    for key in [
        "tool_call_id",
        "id",
        "timestamp",
        "start_time",
        "end_time",
        "duration_ms",
        "token_usage",
        "cost_usd",
        "metadata",
    ] {
        if let Some(value) = object.value(key) {
            data.insert(key.to_owned(), value.to_json());
        }
    }
    object.finish(&mut cx.problems);
    let role = role?;
    (cx.problems.errors() == before).then_some(Message { role, blocks, tool_calls, name, data })
}

fn role(cx: &mut Context, object: &mut Object<'_>) -> Option<Role> {
    let head = object.head();
    let Some(node) = object.value("role") else {
        cx.problems.add(
            Diagnostic::error(codes::BAD_MESSAGE, "a message has no role", head, "this message")
                .with_help("add `role: user` (or system, assistant, tool)"),
        );
        return None;
    };
    let word = string(node, "role", &mut cx.problems)?;
    if let Some(role) = Role::ALL.into_iter().find(|role| role.name() == word.value) {
        return Some(role);
    }
    let mut diagnostic = Diagnostic::error(
        codes::BAD_MESSAGE,
        format!("unknown role `{}`", word.value),
        word.span,
        "not a role",
    );
    let near = match word.value.to_ascii_lowercase().as_str() {
        "human" => Some("user"),
        "ai" | "bot" | "model" | "agent" => Some("assistant"),
        "developer" => Some("system"),
        "function" => Some("tool"),
        other => did_you_mean(other, Role::ALL.map(Role::name))
            .or_else(|| Role::ALL.map(Role::name).into_iter().find(|name| *name == other)),
    };
    if let Some(near) = near {
        diagnostic = diagnostic.with_help(format!("did you mean `{near}`?")).with_suggestion(
            "change the role",
            word.span,
            near,
        );
    }
    cx.problems.add(diagnostic.with_help("roles are `system`, `user`, `assistant` and `tool`"));
    None
}

fn tool_calls(cx: &mut Context, object: &mut Object<'_>) -> Vec<Value> {
    let Some(node) = object.value("tool_calls") else { return Vec::new() };
    let Some(items) = node.as_seq() else {
        cx.problems.add(wrong_type(node, "`tool_calls`", "a list"));
        return Vec::new();
    };
    for item in items {
        if item.as_map().is_none() {
            cx.problems.add(
                Diagnostic::error(
                    codes::BAD_MESSAGE,
                    "a tool call must be a map",
                    item.place(),
                    format!("found {}", item.kind()),
                )
                .with_help("write `- tool: NAME` with `input:` below it"),
            );
        }
    }
    items.iter().map(Node::to_json).collect()
}

fn content(cx: &mut Context, node: &Node, purpose: Use, may_be_empty: bool) -> Vec<Block> {
    let may_be_empty = may_be_empty || purpose == Use::Answer;
    match &node.data {
        Data::Str(text) if text.trim().is_empty() && !may_be_empty => {
            cx.problems.add(empty("content", node.place()));
            Vec::new()
        }
        Data::Str(text) => vec![Block::Text(text.clone())],
        Data::Map(_) => vec![Block::Json(node.to_json())],
        Data::Seq(items) if items.is_empty() && !may_be_empty => {
            cx.problems.add(empty_list("content", node.place()));
            Vec::new()
        }
        // A list without blocks in an expected answer is a value like an object.
        Data::Seq(items)
            if purpose == Use::Answer
                && !items.is_empty()
                && items.iter().all(|item| item.as_str().is_none() && item.get("type").is_none()) =>
        {
            vec![Block::Json(node.to_json())]
        }
        Data::Seq(items) => items.iter().filter_map(|item| block(cx, item)).collect(),
        _ => {
            let mut diagnostic = wrong_type(node, "`content`", "a string, an object or a list of blocks");
            if matches!(node.data, Data::Int(_) | Data::Float(_) | Data::Bool(_)) {
                diagnostic = diagnostic.with_help("put it in quotes");
            }
            cx.problems.add(diagnostic);
            Vec::new()
        }
    }
}

/// Keys of content blocks in other tools.
const BLOCK_FOREIGN: &[(&str, &str)] = &[
    ("text", "write the text as `value`"),
    ("path", "write the path as `value`"),
    ("image_url", "keep the image beside the suite and write its path as `value`"),
];

fn block(cx: &mut Context, node: &Node) -> Option<Block> {
    if let Some(text) = node.as_str() {
        return Some(Block::Text(text.to_owned()));
    }
    if node.as_map().is_none() {
        cx.problems.add(
            Diagnostic::error(
                codes::BAD_MESSAGE,
                "a content block must be a string or a map",
                node.place(),
                format!("found {}", node.kind()),
            )
            .with_help("write `- type: text` with `value:` below it"),
        );
        return None;
    }
    let mut object = Object::new(node, "a content block", &mut cx.problems)?;
    let head = object.head();
    let kind = object.text("type", &mut cx.problems);
    if kind.is_none() && !object.has("type") {
        cx.problems.add(
            Diagnostic::error(codes::BAD_MESSAGE, "a content block has no type", head, "this block")
                .with_help("add `type: text`, `type: file` or `type: image`"),
        );
    }
    let given = object.has("value") || BLOCK_FOREIGN.iter().any(|(key, _)| object.has(key));
    let value = object.string("value", &mut cx.problems);
    refuse(cx, &mut object, BLOCK_FOREIGN);
    object.finish(&mut cx.problems);
    let kind = kind?;
    let what = match kind.value.as_str() {
        "text" | "file" | "image" => kind.value.as_str(),
        other => {
            let near = did_you_mean(other, ["text", "file", "image"]);
            let mut diagnostic = Diagnostic::error(
                codes::BAD_MESSAGE,
                format!("unknown type of content block `{other}`"),
                kind.span,
                "not a type",
            );
            if let Some(near) = near {
                diagnostic = diagnostic.with_suggestion("change the type", kind.span, near);
            }
            cx.problems.add(diagnostic.with_help("types are `text`, `file` and `image`"));
            return None;
        }
    };
    let Some(value) = value else {
        if !given {
            let help =
                if what == "text" { "add `value:` with the text" } else { "add `value:` with the path" };
            cx.problems.add(
                Diagnostic::error(codes::BAD_MESSAGE, "a content block has no value", head, "this block")
                    .with_help(help),
            );
        }
        return None;
    };
    if value.value.trim().is_empty() && what != "text" {
        cx.problems.add(empty("value", value.span));
        return None;
    }
    match what {
        "file" => file(cx, &value.value, value.span),
        "image" => image(cx, &value.value, value.span),
        _ => Some(Block::Text(value.value)),
    }
}

fn file(cx: &mut Context, written: &str, span: Span) -> Option<Block> {
    let file = cx.read_text(written, span)?;
    Some(Block::File { written: written.to_owned(), path: file.path, text: file.text })
}

fn image(cx: &mut Context, written: &str, span: Span) -> Option<Block> {
    let Some(media_type) = media_type(written) else {
        cx.problems.add(
            Diagnostic::error(
                codes::UNKNOWN_FILE_KIND,
                "not a kind of image that is read",
                span,
                "told by the end of the name",
            )
            .with_help("images are png, jpg, jpeg, gif, webp, svg or bmp files"),
        );
        return None;
    };
    let path = cx.find(written, span)?;
    if path.is_dir() {
        cx.problems.add(
            Diagnostic::error(codes::FILE_UNREADABLE, "file can't be read", span, "it is a folder")
                .with_help("name an image file"),
        );
        return None;
    }
    Some(Block::Image { written: written.to_owned(), path, media_type })
}

/// Returns the media type of an image by its name; `None` for anything else.
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
    use super::*;
    use crate::decode::testing::context;
    use crate::tree::read_yaml;

    fn read<T>(text: &str, decode: impl FnOnce(&mut Context, &Node) -> T) -> (T, Vec<Diagnostic>) {
        let mut cx = context();
        let source = cx.sources.add("a.yaml", text);
        let node = read_yaml(&cx.sources, source, &mut cx.problems).expect("valid");
        let value = decode(&mut cx, &node);
        (value, cx.problems.into_vec())
    }

    #[test]
    fn all_forms_of_input() {
        let (found, problems) = read("hello", |cx, node| input(cx, node, "input"));
        assert_eq!(found, Some(vec![Message::text(Role::User, "hello")]));
        assert_eq!(problems, vec![]);
        let text = "- {role: system, content: be brief}\n\
                    - {role: user, content: [bare, {type: text, value: block}]}\n\
                    - {role: user, content: {a: 1}}\n\
                    - {role: assistant, tool_calls: [{tool: find, input: {q: x}}]}\n\
                    - {role: tool, content: done, name: find, tool_call_id: c1}\n";
        let (found, problems) = read(text, |cx, node| input(cx, node, "input"));
        assert_eq!(problems, vec![]);
        let found = found.expect("sound");
        assert_eq!(found[1].blocks, vec![Block::Text("bare".into()), Block::Text("block".into())]);
        assert_eq!(found[2].blocks, vec![Block::Json(serde_json::json!({"a": 1}))]);
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
            ("[{role: user, content: x, contnt: y}]", "a message has no key `contnt`"),
            ("[hello]", "a message must be a map"),
            ("[{role: user, content: [{type: txt, value: x}]}]", "unknown type of content block `txt`"),
            ("[{role: user, content: [{type: text}]}]", "a content block has no value"),
            ("[{role: user, content: [{value: x}]}]", "a content block has no type"),
            ("[{role: user, content: [7]}]", "a content block must be a string or a map"),
            ("[{role: user, content: [{type: file, value: gone.md}]}]", "file not found"),
            ("[{role: user, content: [{type: image, value: a.tiff}]}]", "not a kind of image that is read"),
            ("[]", "`input` is an empty list"),
            ("''", "`input` is empty"),
            ("5", "`input` must be a string or a list of messages"),
            ("{role: user, content: x}", "`input` must be a string or a list of messages"),
        ] {
            let (found, problems) = read(text, |cx, node| input(cx, node, "input"));
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
        let json = |value| Some(vec![assistant(vec![Block::Json(value)])]);
        for (text, expected_value) in [
            ("yes", Some(vec![Message::text(Role::Assistant, "yes")])),
            ("{a: 1}", json(serde_json::json!({"a": 1}))),
            ("[1, 2]", json(serde_json::json!([1, 2]))),
            ("4", json(serde_json::json!(4))),
            ("[{role: assistant, content: hi}]", Some(vec![Message::text(Role::Assistant, "hi")])),
            ("[{role: assistant, content: [{a: 1}]}]", json(serde_json::json!([{"a": 1}]))),
        ] {
            let (found, problems) = read(text, |cx, node| expected(cx, node, "expected_output"));
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
                Some(GivenOutput::Messages(vec![Message::text(Role::Assistant, "")])),
            ),
            ("~", None),
            ("12", None),
        ] {
            let (found, problems) = read(text, |cx, node| given_output(cx, node, "output"));
            assert_eq!(found, expected, "{text}");
            assert_eq!(problems.is_empty(), found.is_some(), "{text}");
        }
    }

    #[test]
    fn files_go_before_the_last_user_message() {
        let file = Block::Text("file".into());
        let mut messages = vec![
            Message::text(Role::User, "one"),
            Message::text(Role::User, "two"),
            Message::text(Role::Assistant, "three"),
        ];
        assert_eq!(attach(&mut messages, std::slice::from_ref(&file)), Ok(()));
        assert_eq!(messages[1].blocks, vec![file.clone(), Block::Text("two".into())]);
        assert_eq!(attach(&mut messages[2..], &[file]), Err(()));
    }
}
