//! The types of requests in the providers' own Python packages.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::mock::RecordedRequest;
use crate::pip;

/// The packages, all with their versions. Anthropic's is the last version with the temperature, which its older models
/// accept.
const PACKAGES: [&str; 4] =
    ["openai==3.57.0", "anthropic==0.125.0", "google-genai==3.6.1", "botocore==1.44.8"];

/// Program that checks requests.
const PROGRAM: &str = include_str!("official_types.py");

/// The packages, installed.
#[derive(Debug)]
pub struct OfficialTypes<'a> {
    folder: &'a Path,
}

impl<'a> OfficialTypes<'a> {
    /// Installs the packages into this folder if they are missing.
    ///
    /// # Errors
    /// When they can't be installed.
    pub fn install(folder: &'a Path) -> Result<Self, String> {
        pip::install(folder, &PACKAGES)?;
        Ok(Self { folder })
    }

    /// Checks requests by their path and body. Returns how many of each kind there were.
    ///
    /// # Panics
    /// If one does not have the types of its package, which fails the test.
    #[track_caller]
    pub fn check(&self, requests: &[RecordedRequest]) -> Value {
        let line = |request: &RecordedRequest| {
            let body: Value = serde_json::from_slice(&request.body).expect("bodies are JSON");
            json!({ "path": request.path, "body": body }).to_string() + "\n"
        };
        let lines: String = requests.iter().map(line).collect();

        let mut program = Command::new("python3")
            .args(["-c", PROGRAM])
            .env("PYTHONPATH", self.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("python3 installed the packages");
        let mut input = program.stdin.take().expect("the input is piped");
        // The output is a few lines, so it can wait until all is written.
        let written = input.write_all(lines.as_bytes());
        drop(input);
        let output = program.wait_with_output().expect("the program ends");
        let out = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(written.is_ok() && output.status.success() && !out.contains("PROBLEM"), "{out}{errors}");
        serde_json::from_str(out.trim()).expect("the last line has the numbers")
    }
}
