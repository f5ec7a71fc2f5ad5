//! The server loop: open documents, checks, and answers to requests.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assize_evalfile::LoadOptions;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    CodeActionParams, CodeActionProviderCapability, CompletionOptions, CompletionParams,
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, GotoDefinitionParams,
    HoverParams, HoverProviderCapability, OneOf, PositionEncodingKind, PublishDiagnosticsParams,
    ServerCapabilities, TextDocumentSyncCapability, TextDocumentSyncKind, Uri,
};
use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::check::{DocumentCheck, check_document};
use crate::code_actions::code_actions;
use crate::completion::list_completions;
use crate::definition::find_definition;
use crate::document_kind::DocumentKind;
use crate::file_uri;
use crate::hover::describe_at;
use crate::open::Open;
use crate::positions;
use crate::stdio;

/// Pause without a message after which changed texts are checked.
const CHECK_DELAY: Duration = Duration::from_millis(120);

/// Failure of the server, other than an orderly shutdown.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The editor violates the protocol.
    #[error("the client does not use the language server protocol: {0}")]
    Protocol(String),
    /// Reading from or writing to the editor fails.
    #[error("the editor can't be reached: {0}")]
    Pipe(#[from] std::io::Error),
    /// A message of this server cannot be serialised.
    #[error("a message can't be written: {0}")]
    Message(#[from] serde_json::Error),
    /// The editor closed the connection.
    #[error("the editor went away")]
    Disconnected,
}

/// Serves the editor on standard input and output until it ends the session.
pub fn serve(options: &LoadOptions) -> Result<(), ServeError> {
    let (connection, editor) = Connection::memory();
    let Connection { sender, receiver } = editor;
    let output = Arc::new(Mutex::new(std::io::stdout()));

    let errors = Arc::clone(&output);
    // The thread waits for input and is never joined: an editor that has ended sends no more input, so the thread might
    // never end.
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        while let Ok(Some(message)) = stdio::read_message(&mut input) {
            let done = match message {
                Ok(message) => sender.send(message).is_err(),
                Err(error) => stdio::write_error(&errors, &error).is_err(),
            };
            if done {
                break;
            }
        }
    });

    let writer = std::thread::spawn(move || {
        receiver.iter().try_for_each(|message| message.write(&mut *output.lock()))
    });

    serve_connection(&connection, options)?;
    drop(connection);
    match writer.join() {
        Ok(written) => Ok(written?),
        Err(_) => Err(std::io::Error::other("the thread that writes has ended").into()),
    }
}

/// Serves messages from memory, as an editor would send them; returns the server's messages.
pub fn serve_messages(messages: Vec<Value>, options: &LoadOptions) -> Result<Vec<Value>, ServeError> {
    let (editor, connection) = Connection::memory();
    let Connection { sender, receiver } = editor;
    for message in messages {
        sender.send(serde_json::from_value(message)?).map_err(|_| ServeError::Disconnected)?;
    }

    drop(sender);
    match serve_connection(&connection, options) {
        // After the last message, the editor is gone.
        Ok(()) | Err(ServeError::Disconnected) => {}
        Err(error) => return Err(error),
    }

    drop(connection);
    receiver.into_iter().map(|message| Ok(serde_json::to_value(message)?)).collect()
}

fn serve_connection(connection: &Connection, options: &LoadOptions) -> Result<(), ServeError> {
    let protocol = |error: lsp_server::ProtocolError| ServeError::Protocol(error.to_string());
    let (id, _) = connection.initialize_start().map_err(protocol)?;
    let answer = json!({
        "capabilities": capabilities(),
        "serverInfo": { "name": "assize", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(protocol)?;

    let mut server = LanguageServer { connection, options, open: BTreeMap::new() };
    loop {
        let message = if server.open.values().all(|document| document.checked.is_some()) {
            // An editor that exits without `shutdown` closes the pipe.
            connection.receiver.recv().map_err(|_| ServeError::Disconnected)?
        } else {
            match connection.receiver.recv_timeout(CHECK_DELAY) {
                Ok(message) => message,
                Err(error) if error.is_timeout() => {
                    for address in server.open.keys().cloned().collect::<Vec<_>>() {
                        server.ensure_checked(&address)?;
                    }
                    continue;
                }
                Err(_) => return Err(ServeError::Disconnected),
            }
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request).map_err(protocol)? {
                    return Ok(());
                }
                server.handle_request(request)?;
            }
            Message::Notification(notification) => server.handle_notification(notification)?,
            Message::Response(_) => {}
        }
    }
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![" ".to_owned(), "-".to_owned()]),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
        ..ServerCapabilities::default()
    }
}

struct LanguageServer<'a> {
    connection: &'a Connection,
    options: &'a LoadOptions,
    /// Open documents by URI.
    open: BTreeMap<String, Open>,
}

impl LanguageServer<'_> {
    /// Returns a document and the result of its check; checks it and publishes its diagnostics if it changed.
    fn ensure_checked(&mut self, address: &str) -> Result<Option<(&Open, &DocumentCheck)>, ServeError> {
        let all = || self.open.values().map(|open| (open.path.clone(), open.text.clone())).collect();
        let unchecked = self.open.get(address).is_some_and(|document| document.checked.is_none());
        let open: BTreeMap<PathBuf, String> = if unchecked { all() } else { BTreeMap::new() };
        let Some(document) = self.open.get_mut(address) else { return Ok(None) };
        if document.checked.is_none() {
            let checked = check_document(&document.path, &document.text, &open, self.options);
            let params = PublishDiagnosticsParams {
                uri: document.uri.clone(),
                diagnostics: checked.to_protocol(&document.path, &document.text),
                version: document.version,
            };

            document.checked = Some(checked);
            publish(self.connection, params)?;
        }

        let document = self.open.get(address);
        Ok(document.and_then(|document| Some((document, document.checked.as_ref()?))))
    }

    /// Handles a notification. Unknown notifications are ignored, as the protocol requires.
    fn handle_notification(&mut self, notification: Notification) -> Result<(), ServeError> {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                if let Some(params) = parse_params::<DidOpenTextDocumentParams>(params) {
                    let document = params.text_document;
                    self.set_document(document.uri, Some(document.version), document.text);
                }
            }
            "textDocument/didChange" => {
                if let Some(params) = parse_params::<DidChangeTextDocumentParams>(params) {
                    let document = params.text_document;
                    let known = self.open.get(document.uri.as_str()).map(|open| open.text.clone());
                    let text = params.content_changes.into_iter().try_fold(known, |text, change| {
                        match (change.range, text) {
                            (None, _) => Some(Some(change.text)),
                            (Some(range), Some(text)) => {
                                Some(Some(positions::apply_change(&text, range, &change.text)?))
                            }
                            (Some(_), None) => None,
                        }
                    });

                    // A change that does not fit leaves the text unchanged; the next full text corrects it.
                    if let Some(Some(text)) = text {
                        self.set_document(document.uri, Some(document.version), text);
                    }
                }
            }
            // Files that the open files refer to may have changed on disk.
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                for document in self.open.values_mut() {
                    document.checked = None;
                }
            }
            "textDocument/didClose" => {
                if let Some(params) = parse_params::<DidCloseTextDocumentParams>(params) {
                    let uri = params.text_document.uri;
                    if self.open.remove(uri.as_str()).is_some() {
                        let none = PublishDiagnosticsParams { uri, diagnostics: Vec::new(), version: None };
                        publish(self.connection, none)?;
                    }
                }
            }
            _ => {}
        }

        Ok(())
    }

    fn set_document(&mut self, uri: Uri, version: Option<i32>, text: String) {
        // A text without a file has no folder against which its references could be resolved.
        let Some(path) = file_uri::to_path(uri.as_str()) else { return };

        // The files of a scorecard are checked together.
        if let DocumentKind::Card(root, _) = DocumentKind::detect(&path, &text) {
            for other in self.open.values_mut().filter(|other| other.path.starts_with(&root)) {
                other.checked = None;
            }
        }

        self.open.insert(uri.as_str().to_owned(), Open { uri, path, version, text, checked: None });
    }

    /// Answers a request.
    fn handle_request(&mut self, request: Request) -> Result<(), ServeError> {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            "textDocument/hover" => match parse_params::<HoverParams>(params) {
                Some(params) => {
                    let at = params.text_document_position_params;
                    let found = self.ensure_checked(at.text_document.uri.as_str())?;
                    Some(json!(
                        found.and_then(|(document, checked)| describe_at(document, checked, at.position))
                    ))
                }
                None => None,
            },
            "textDocument/completion" => parse_params::<CompletionParams>(params).map(|params| {
                let at = params.text_document_position;
                let document = self.open.get(at.text_document.uri.as_str());
                json!(document.map(|document| list_completions(document, at.position)).unwrap_or_default())
            }),
            "textDocument/definition" => parse_params::<GotoDefinitionParams>(params).map(|params| {
                let at = params.text_document_position_params;
                let document = self.open.get(at.text_document.uri.as_str());
                json!(document.and_then(|document| find_definition(document, at.position, self.options)))
            }),
            "textDocument/codeAction" => match parse_params::<CodeActionParams>(params) {
                Some(params) => {
                    let found = self.ensure_checked(params.text_document.uri.as_str())?;
                    let found =
                        found.map(|(document, checked)| code_actions(document, checked, params.range));
                    Some(json!(found.unwrap_or_default()))
                }
                None => None,
            },
            other => {
                let message = format!("`{other}` is not supported");
                let code = ErrorCode::MethodNotFound as i32;
                return send(self.connection, Message::Response(Response::new_err(id, code, message)));
            }
        };

        let response = match result {
            Some(value) => Response::new_ok(id, value),
            None => Response::new_err(
                id,
                ErrorCode::InvalidParams as i32,
                "the parameters do not match the request".to_owned(),
            ),
        };
        send(self.connection, Message::Response(response))
    }
}

fn parse_params<T: DeserializeOwned>(params: Value) -> Option<T> {
    serde_json::from_value(params).ok()
}

fn publish(connection: &Connection, params: PublishDiagnosticsParams) -> Result<(), ServeError> {
    let notification =
        Notification::new("textDocument/publishDiagnostics".to_owned(), serde_json::to_value(params)?);
    send(connection, Message::Notification(notification))
}

fn send(connection: &Connection, message: Message) -> Result<(), ServeError> {
    connection.sender.send(message).map_err(|_| ServeError::Disconnected)
}
