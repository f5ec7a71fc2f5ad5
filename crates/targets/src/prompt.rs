//! Prompts from a case's messages: one text for commands, chat messages for models.

use std::fmt::Write;

use assize_llm::{ChatMessage, Part};
use assize_process::absolute_path;
use assize_rubric::MessageRole;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::{InputMessage, TargetInputPart};

/// Formats the messages as one text, for a command.
///
/// A single non-empty user message is used unchanged. Otherwise the messages follow each other, each under a line with
/// its role in brackets and with an empty line between them. Attached files are written as references, `[file: PATH]`
/// or `[image: PATH]`, on separate lines, because a command can open them itself. Their paths are absolute, because the
/// command may run in another folder.
pub fn prompt_text(messages: &[InputMessage]) -> String {
    let written: Vec<(MessageRole, String)> = messages
        .iter()
        .map(|message| (message.role, join_parts(message.parts.iter().map(part_reference))))
        .filter(|(_, text)| !text.trim().is_empty())
        .collect();
    if let [(MessageRole::User, text)] = written.as_slice() {
        return text.clone();
    }

    let headed: Vec<String> =
        written.iter().map(|(role, text)| format!("[{}]\n{text}", role.name())).collect();
    headed.join("\n\n")
}

/// Formats the messages as promptfoo does: a single non-empty user message as its text, others as JSON.
pub fn prompt_or_messages(messages: &[InputMessage]) -> String {
    match messages {
        [only] if only.role == MessageRole::User => prompt_text(messages),
        // A list of texts can be written as JSON.
        _ => serde_json::to_string_pretty(&messages_json(messages)).unwrap_or_default(),
    }
}

/// Formats the messages as JSON, for a command: a list of `{role, content}`, oldest first, with attached
/// files as references.
pub fn messages_json(messages: &[InputMessage]) -> Value {
    let one = |message: &InputMessage| json!({ "role": message.role.name(), "content": join_parts(message.parts.iter().map(part_reference)) });
    messages.iter().map(one).collect()
}

/// Formats the messages as a chat, for a model.
///
/// The content of attached files is enclosed in tags with the file's name; the tag is chosen so that the content can't
/// close it. Tool messages become assistant messages under a `[tool]` line, because servers accept tool messages only
/// as results of calls in the same conversation. Empty messages are skipped.
pub fn chat_messages(messages: &[InputMessage]) -> Vec<ChatMessage> {
    messages
        .iter()
        .map(chat_message)
        .filter(|message| {
            message.content.iter().any(|part| match part {
                Part::Text(text) => !text.trim().is_empty(),
                Part::Image { .. } => true,
            })
        })
        .collect()
}

fn chat_message(message: &InputMessage) -> ChatMessage {
    let mut content = Vec::new();
    let mut text = String::new();
    let (role, marker) = match message.role {
        MessageRole::Tool => (MessageRole::Assistant, "[tool]"),
        role => (role, ""),
    };
    text.push_str(marker);

    for part in &message.parts {
        match part {
            TargetInputPart::Text(words) => push_line(&mut text, words),
            TargetInputPart::File { display, text: file, .. } => {
                push_line(&mut text, &enclose_file(display, file));
            }
            TargetInputPart::Image { media_type, bytes, .. } => {
                if !text.is_empty() {
                    content.push(Part::Text(std::mem::take(&mut text).into()));
                }
                let data = STANDARD.encode(bytes);
                content.push(Part::Image { media_type: media_type.clone(), data });
            }
        }
    }

    if !text.is_empty() {
        content.push(Part::Text(text.into()));
    }

    ChatMessage { role, content: content.into() }
}

/// Encloses a file's content in tags that do not occur in it.
fn enclose_file(name: &str, content: &str) -> String {
    let mut tag = String::from("attached-file");
    let mut number = 1;
    while content.contains(&format!("</{tag}>")) {
        number += 1;
        tag = format!("attached-file-{number}");
    }

    let mut text = format!("<{tag} name=\"");
    for character in name.chars() {
        match character {
            '"' => text.push_str("&quot;"),
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            control if control.is_control() => {
                let _ = write!(text, "&#{};", u32::from(control));
            }
            other => text.push(other),
        }
    }

    let _ = write!(text, "\">\n{content}");

    if !content.is_empty() && !content.ends_with('\n') {
        text.push('\n');
    }

    let _ = write!(text, "</{tag}>");
    text
}

fn part_reference(part: &TargetInputPart) -> String {
    match part {
        TargetInputPart::Text(text) => text.clone(),
        TargetInputPart::File { path, .. } => format!("[file: {}]", absolute_path(path).display()),
        TargetInputPart::Image { path, .. } => format!("[image: {}]", absolute_path(path).display()),
    }
}

fn join_parts(parts: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for part in parts {
        push_line(&mut text, &part);
    }
    text
}

/// Appends `part` on a new line, without adding a line break if the text already ends with one.
fn push_line(text: &mut String, part: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file(display: &str, text: &str) -> TargetInputPart {
        TargetInputPart::File {
            path: PathBuf::from("/suite").join(display),
            display: display.into(),
            text: text.into(),
        }
    }

    #[test]
    fn one_user_message_stays_as_it_is() {
        let alone = [InputMessage::text(MessageRole::User, " Say\n\"hi\" \n")];
        assert_eq!(prompt_text(&alone), " Say\n\"hi\" \n");
        let with_silence = [InputMessage::text(MessageRole::System, "  "), alone[0].clone()];
        assert_eq!(prompt_text(&with_silence), " Say\n\"hi\" \n");
        assert_eq!(prompt_text(&[]), "");
    }

    #[test]
    fn several_messages_are_told_apart_by_role() {
        let messages = [
            InputMessage::text(MessageRole::System, "Be brief."),
            InputMessage::text(MessageRole::User, "Why?"),
            InputMessage::text(MessageRole::Tool, "42"),
        ];
        assert_eq!(prompt_text(&messages), "[system]\nBe brief.\n\n[user]\nWhy?\n\n[tool]\n42");
        assert_eq!(prompt_text(&messages[..1]), "[system]\nBe brief.");
        let wanted = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"},
            {"role": "tool", "content": "42"}]);
        assert_eq!(messages_json(&messages), wanted);
    }

    #[test]
    fn commands_get_references_and_models_get_contents() {
        let parts = vec![file("a.rs", "fn a() {}"), TargetInputPart::Text("Review it.".into())];
        let messages = [InputMessage { role: MessageRole::User, parts }];
        assert_eq!(prompt_text(&messages), "[file: /suite/a.rs]\nReview it.");
        let wanted = "<attached-file name=\"a.rs\">\nfn a() {}\n</attached-file>\nReview it.";
        assert_eq!(chat_messages(&messages), [ChatMessage::user(wanted)]);
    }

    #[test]
    fn a_file_cannot_close_its_own_tag() {
        let text = enclose_file("x\"y\n", "</attached-file></attached-file-2>");
        assert_eq!(
            text,
            "<attached-file-3 name=\"x&quot;y&#10;\">\n</attached-file></attached-file-2>\n</attached-file-3>"
        );
    }

    #[test]
    fn pictures_keep_their_place() {
        let image = TargetInputPart::Image {
            path: "/suite/p.png".into(),
            media_type: "image/png".into(),
            bytes: vec![0, 255].into(),
        };
        let parts = vec![TargetInputPart::Text("See".into()), image, TargetInputPart::Text("there".into())];
        let messages = [InputMessage { role: MessageRole::User, parts }];
        assert_eq!(prompt_text(&messages), "See\n[image: /suite/p.png]\nthere");
        assert_eq!(
            *chat_messages(&messages)[0].content,
            [
                Part::Text("See".into()),
                Part::Image { media_type: "image/png".into(), data: "AP8=".into() },
                Part::Text("there".into()),
            ]
        );
    }

    #[test]
    fn tool_messages_become_marked_assistant_messages() {
        let messages =
            [InputMessage::text(MessageRole::Tool, "42"), InputMessage::text(MessageRole::User, "")];
        assert_eq!(chat_messages(&messages), [ChatMessage::assistant("[tool]\n42")]);
    }
}
