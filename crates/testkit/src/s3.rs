//! A server that speaks S3 for tests, moto, in a process of its own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The Python package with the server.
const PACKAGE: &str = "moto[server]==5.2.5";
/// Time for the server to be ready.
const READY: Duration = Duration::from_mins(1);

/// A server with buckets in its memory. Dropping it ends it.
#[derive(Debug)]
pub struct S3Server {
    child: Child,
    port: u16,
}

impl S3Server {
    /// Starts the server of this folder, and installs it there with pip if it is absent; the error says what is missing.
    ///
    /// # Errors
    /// When it can't be installed or started.
    pub fn start(folder: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let lock = std::fs::File::create(folder.join("lock")).map_err(|error| error.to_string())?;
        lock.lock().map_err(|error| error.to_string())?;
        if !folder.join("moto").is_dir() {
            let installed = Command::new("python3")
                .args(["-m", "pip", "install", "--quiet", "--target"])
                .arg(folder)
                .arg(PACKAGE)
                .output();
            let output = installed.map_err(|error| format!("there is no `python3`: {error}"))?;
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                return Err(format!("pip can't install {PACKAGE}: {}", why.trim()));
            }
        }
        drop(lock);

        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let child = Command::new("python3")
            .args(["-m", "moto.server", "--host", "127.0.0.1", "--port", &port.to_string()])
            .env("PYTHONPATH", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("can't start moto: {error}"))?;
        let server = Self { child, port };

        let until = Instant::now() + READY;
        while server.request("GET", "/moto-api/").is_err() {
            if Instant::now() > until {
                return Err("moto is not ready in time".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Address for `AWS_ENDPOINT`.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Makes a bucket.
    ///
    /// # Panics
    /// If it can't be made, which fails the test.
    pub fn make_bucket(&self, name: &str) {
        let answer = self.request("PUT", &format!("/{name}")).unwrap_or_else(|error| error.to_string());
        assert!(answer.contains(" 200 "), "{answer}");
    }

    fn request(&self, method: &str, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(stream, "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
