//! Servers with buckets for tests, each in its own process: moto for S3, Azurite for Azure.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to start.
const READY_TIMEOUT: Duration = Duration::from_mins(2);
/// Pause between two checks of a starting server.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Account of Azurite, its published key, and a signature with that key for creating buckets.
const AZURE_ACCOUNT: &str = "devstoreaccount1";
const AZURE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const AZURE_SIGNATURE: &str = "sv=2020-02-10&ss=b&srt=sco&sp=rwdlac&se=2199-01-01T00%3A00%3A00Z&spr=https%2Chttp&\
                               sig=zotZNiSK1b5zfqqKc%2B0LYt0TG%2F62b7JojxadLfPDYWs%3D";

/// Starts moto with one request at a time. Its own program answers several at once, and then two writers can both
/// create an object that was not there.
const ONE_AT_A_TIME: &str = "
import os, sys
os.environ['MOTO_PORT'] = sys.argv[1]
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple('127.0.0.1', int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=False)
";

/// Wire format of a bucket server.
///
/// Google Cloud Storage has none: no server in the package registries accepts the requests with which a client
/// of the XML format creates an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BucketFormat {
    /// Amazon's S3.
    S3,
    /// Azure Blob Storage.
    Azure,
}

impl BucketFormat {
    /// Formats for which there are servers.
    pub const ALL: [Self; 2] = [Self::S3, Self::Azure];

    /// Packages of the server, the first with its version. `moto[server]` would bring the servers of all of Amazon's services.
    const fn packages(self) -> &'static [&'static str] {
        match self {
            Self::S3 => &["moto[s3]==5.2.5", "flask", "flask-cors"],
            Self::Azure => &["azurite@3.37.0"],
        }
    }

    /// Command that installs the server into its working folder.
    fn installer(self) -> Command {
        let (program, args): (_, &[&str]) = match self {
            Self::S3 => ("python3", &["-m", "pip", "install", "--quiet", "--no-compile", "--target", "."]),
            Self::Azure => (
                "npm",
                &[
                    "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix",
                    ".",
                ],
            ),
        };
        let mut command = Command::new(program);
        command.args(args).args(self.packages());
        command
    }

    /// Command that starts the server from its working folder.
    fn server(self, port: u16) -> Command {
        let (program, args): (_, &[&str]) = match self {
            Self::S3 => ("python3", &["-c", ONE_AT_A_TIME]),
            Self::Azure => (
                "node",
                &[
                    "node_modules/azurite/dist/src/blob/main.js",
                    "--inMemoryPersistence",
                    "--skipApiVersionCheck",
                    "--silent",
                    "--disableTelemetry",
                    "--blobHost",
                    "127.0.0.1",
                    "--blobPort",
                ],
            ),
        };
        let mut command = Command::new(program);
        command.args(args).arg(port.to_string());
        command
    }

    /// File or folder of the installed server.
    const fn installed(self) -> &'static str {
        match self {
            Self::S3 => "moto",
            Self::Azure => "node_modules/azurite/dist/src/blob/main.js",
        }
    }
}

/// A server with buckets in memory. Dropping this ends it.
#[derive(Debug)]
pub struct BucketServer {
    format: BucketFormat,
    child: Child,
    port: u16,
}

impl BucketServer {
    /// Starts the server from a folder below `folder`, and installs it there if it is missing. The error names the
    /// missing parts.
    ///
    /// # Errors
    /// When it can't be installed or started.
    pub fn start(format: BucketFormat, folder: &Path) -> Result<Self, String> {
        let folder = folder.join(format!("{format:?}").to_lowercase());
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // Tests in other processes may be installing the same server.
        let lock = std::fs::File::create(folder.join("lock")).map_err(|error| error.to_string())?;
        lock.lock().map_err(|error| error.to_string())?;
        if !folder.join(format.installed()).exists() {
            install(format, &folder)?;
        }
        drop(lock);

        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let child = format
            .server(port)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't start {}: {error}", format.packages()[0]))?;
        let server = Self { format, child, port };

        let until = Instant::now() + READY_TIMEOUT;
        while server.request("GET", "/").is_err() {
            if Instant::now() > until {
                return Err(format!("{} is not ready in time", format.packages()[0]));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(server)
    }

    /// Environment variables with the server's address and credentials.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        match self.format {
            BucketFormat::S3 => vec![
                ("AWS_ENDPOINT", endpoint),
                ("AWS_ALLOW_HTTP", "true".to_owned()),
                ("AWS_REGION", "us-east-1".to_owned()),
                ("AWS_ACCESS_KEY_ID", "test".to_owned()),
                ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
            ],
            BucketFormat::Azure => vec![
                ("AZURE_STORAGE_ENDPOINT", format!("{endpoint}/{AZURE_ACCOUNT}")),
                ("AZURE_ALLOW_HTTP", "true".to_owned()),
                ("AZURE_STORAGE_ACCOUNT_NAME", AZURE_ACCOUNT.to_owned()),
                ("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY.to_owned()),
            ],
        }
    }

    /// Creates a bucket; returns its address.
    ///
    /// # Panics
    /// If it can't be created, which fails the test.
    pub fn make_bucket(&self, name: &str) -> String {
        let (scheme, path) = match self.format {
            BucketFormat::S3 => ("s3", format!("/{name}")),
            BucketFormat::Azure => {
                ("az", format!("/{AZURE_ACCOUNT}/{name}?restype=container&{AZURE_SIGNATURE}"))
            }
        };
        let answer = self.request("PUT", &path).unwrap_or_else(|error| error.to_string());
        assert!(answer.contains(" 200 ") || answer.contains(" 201 "), "{answer}");
        format!("{scheme}://{name}")
    }

    fn request(&self, method: &str, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            self.port
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

fn install(format: BucketFormat, folder: &Path) -> Result<(), String> {
    let mut installer = format.installer();
    let program = installer.get_program().to_string_lossy().into_owned();
    let output = installer.current_dir(folder).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`{program}` can't be started: {error}"))?;
    if output.status.success() && folder.join(format.installed()).exists() {
        return Ok(());
    }

    let why = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{program}` can't install {}: {}", format.packages()[0], why.trim()))
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
