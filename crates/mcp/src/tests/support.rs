//! A folder with a server, and a client connected to it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{McpOptions, McpServer, RunStorage};
use assize_engine::{ProcessContext, ProgramUse};
use assize_rubric::Usd;
use assize_testkit::mock::MockServer;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::{ClientHandler, RoleClient, ServiceExt};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::DuplexStream;
use tokio::task::JoinHandle;

/// Folder of a test, with the options of its server.
pub(crate) struct Fixture {
    folder: TempDir,
    variables: BTreeMap<String, String>,
    pub(crate) storage: RunStorage,
    pub(crate) programs: ProgramUse,
    pub(crate) budget: Option<Usd>,
}

/// Client of a server in this process.
pub(crate) struct Client {
    service: RunningService<RoleClient, ()>,
    server: JoinHandle<()>,
}

impl Fixture {
    /// An empty folder, and a server that may neither write nor start programs.
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().expect("a folder"),
            variables: BTreeMap::new(),
            storage: RunStorage::Refused,
            programs: ProgramUse::Refuse,
            budget: None,
        }
    }

    /// A folder whose server may store runs.
    pub(crate) fn writing() -> Self {
        Self { storage: RunStorage::Allowed, ..Self::new() }
    }

    /// Sends requests to `openai` models to this server.
    pub(crate) fn with_models(mut self, server: &MockServer) -> Self {
        self.variables.insert("OPENAI_API_KEY".to_owned(), "sk-test-0123456789abcdef".to_owned());
        self.variables.insert("OPENAI_BASE_URL".to_owned(), server.base_url());
        self.write(".assize/prices.yaml", "models: {\"openai:gpt-4o-mini\": {input: 0.15, output: 0.60}}\n");
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Names of everything in the folder.
    pub(crate) fn entries(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("readable");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Starts a server, and a client that is connected to it.
    pub(crate) async fn connect(&self) -> Client {
        let (near, server) = self.start();
        let service = ().serve(near).await.expect("a client");

        Client { service, server }
    }

    /// Starts a server, and a client with this handler.
    pub(crate) async fn connect_as<H: ClientHandler>(&self, handler: H) -> RunningService<RoleClient, H> {
        handler.serve(self.start().0).await.expect("a client")
    }

    fn start(&self) -> (DuplexStream, JoinHandle<()>) {
        let folder = self.folder.path().to_path_buf();
        let process = ProcessContext::new(folder.clone(), std::env::temp_dir(), jiff::Timestamp::now)
            .with_variables(self.variables.clone());
        let Self { storage, programs, budget, .. } = *self;
        let options = McpOptions { root: folder, storage, programs, budget };
        let server = McpServer::new(process, options).expect("a server");

        let (near, far) = tokio::io::duplex(1 << 20);
        let server = tokio::spawn(async move {
            let streams = tokio::io::split(far);
            server.serve(streams, std::future::pending()).await.expect("it serves");
        });

        (near, server)
    }
}

impl Client {
    pub(crate) fn service(&self) -> &RunningService<RoleClient, ()> {
        &self.service
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);

        self.service.call_tool(request).await.expect("the protocol works")
    }

    /// Result of a call that succeeds.
    pub(crate) async fn succeed(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(false), "{tool}: {result:?}");

        let data = result.structured_content.expect("data");
        let tools = self.service.list_all_tools().await.expect("tools");
        let listed = tools.into_iter().find(|listed| listed.name == tool).expect("it is listed");
        let schema = Value::Object((*listed.output_schema.expect("a schema")).clone());
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let errors: Vec<String> = validator.iter_errors(&data).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{tool}: {errors:?}\n{data:#}");

        data
    }

    /// Message of a call that fails.
    pub(crate) async fn fail(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{tool}: {result:?}");
        assert_eq!(
            result.structured_content, None,
            "{tool}: only results have the form of its output schema"
        );
        let text = &result.content[0].as_text().expect("text").text;

        let body = serde_json::from_str::<Value>(text).ok();
        let message = body.and_then(|value| value["error"]["message"].as_str().map(str::to_owned));
        message.unwrap_or_else(|| text.clone())
    }

    /// Closes the connection; returns when the server has ended.
    pub(crate) async fn disconnect(self) {
        self.service.cancel().await.expect("it ends");
        self.server.await.expect("the server ends in good order");
    }
}

/// A suite of cases with given answers and a text check, so that no model is called: each case passes if its
/// answer contains `right`.
pub(crate) fn checked_suite(answers: &[(&str, &str)]) -> String {
    let case = |(id, answer): &(&str, &str)| {
        format!(
            "  - id: {id}\n    criteria: be right\n    input: question\n    output: {answer:?}\n    assertions:\n      \
             - type: contains\n        value: right\n"
        )
    };

    format!("name: checks\ntests:\n{}", answers.iter().map(case).collect::<String>())
}
