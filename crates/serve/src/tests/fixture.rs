//! A server in this process, and its working folder.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::{GradingServer, GradingServerError, ServeOptions};
use assize_engine::{Engine, ProcessContext, RunOptions};
use assize_testkit::mock::MockServer;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::tests::client::{Reply, request_text, send};

/// A server to be started.
pub(crate) struct Setup {
    pub(crate) folder: TempDir,
    pub(crate) options: ServeOptions,
    pub(crate) run: RunOptions,
    variables: BTreeMap<String, String>,
}

/// A running server.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    pub(crate) log: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<Result<(), GradingServerError>>,
}

impl Setup {
    /// A server with the offline judge on a free port.
    pub(crate) fn offline() -> Self {
        let options = ServeOptions { listen: ([127, 0, 0, 1], 0).into(), ..ServeOptions::default() };
        Self {
            folder: tempfile::tempdir().unwrap(),
            options,
            run: RunOptions::default(),
            variables: BTreeMap::new(),
        }
    }

    /// A server with this model as its judge.
    pub(crate) fn with_model(model: &MockServer) -> Self {
        let mut setup = Self::offline();
        setup.run.judges = vec!["openai:judge-1".to_owned()];
        setup.variables = [
            ("OPENAI_API_KEY", "sk-test-0123456789abcdef".to_owned()),
            ("OPENAI_BASE_URL", model.base_url()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        setup
    }

    /// Writes a file of the working folder.
    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Sets an environment variable.
    pub(crate) fn variable(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Adds keys of these names; returns them.
    pub(crate) fn keys(&mut self, keys: &[(&str, crate::KeyQuotas)]) -> Vec<String> {
        let path = self.folder.path().join("keys.json");
        self.options.keys = Some(path.clone());
        let add = |(name, quotas): &(&str, crate::KeyQuotas)| {
            crate::KeyFile::add(&path, name, *quotas, "2026-01-01".to_owned(), false).unwrap()
        };
        keys.iter().map(add).collect()
    }

    fn engine(&self) -> Engine {
        let process =
            ProcessContext::new(self.folder.path().to_owned(), std::env::temp_dir(), jiff::Timestamp::now)
                .with_variables(self.variables.clone());
        Engine::new(process, |_| {})
    }

    pub(crate) async fn bind_error(self) -> String {
        let bound = GradingServer::bind(&self.engine(), self.run, self.options, |_| {}).await;
        bound.err().expect("it is refused").to_string()
    }

    pub(crate) async fn start(self) -> Running {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = Arc::clone(&log);
        let server =
            GradingServer::bind(&self.engine(), self.run.clone(), self.options.clone(), move |line| {
                lines.lock().unwrap().push(line.to_owned());
            })
            .await
            .unwrap();

        let address = server.address();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(server.serve(async {
            let _ = stopped.await;
        }));
        Running { address, folder: self.folder, log, stop: Some(stop), served }
    }
}

impl Running {
    pub(crate) async fn get(&self, path: &str) -> Reply {
        send(self.address, &request_text("GET", path, &[], b"")).await
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Reply {
        send(self.address, &request_text("POST", path, headers, body.to_string().as_bytes())).await
    }

    pub(crate) async fn grade(&self, body: &Value) -> Reply {
        self.post("/v1/grade", &[], body).await
    }

    /// Grades and returns the reply, which must be a success.
    pub(crate) async fn graded(&self, body: &Value) -> Value {
        let reply = self.grade(body).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// Value of a metric.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let text = self.get("/metrics").await.body;
        value_of(name, &text).unwrap_or_else(|| panic!("{name} is not in\n{text}"))
    }

    /// Waits until a metric has a value. A missing metric counts as 0.
    pub(crate) async fn wait_for(&self, name: &str, is_right: impl Fn(f64) -> bool) {
        for _ in 0..400 {
            if is_right(value_of(name, &self.get("/metrics").await.body).unwrap_or(0.0)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} never had the value");
    }

    /// Tells the server to stop.
    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(mut self) {
        self.stop();
        tokio::time::timeout(Duration::from_secs(20), self.served).await.expect("it ends").unwrap().unwrap();
    }
}

fn value_of(name: &str, page: &str) -> Option<f64> {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok())
}
