//! The server: where it listens, how it accepts connections, and how it ends.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use assize_engine::{Engine, EngineError, RunOptions};
use assize_listen::HostRules;
use assize_report::format_count;
use axum::Router;
use futures_util::future::maybe_done;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::access::ClientAccess;
use crate::connection_watch::{ConnectionWatch, OpenConnections, WatchedService};
use crate::options::{RequestLimits, ServeOptions};
use crate::routes;
use crate::service::Service;
use crate::stall::StallGuard;
use crate::tls;

/// How often rubrics and keys are checked for changes.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// Pause after a connection could not be accepted, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long replies may take to reach their clients once everything is graded.
const FINAL_REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a server can't start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum GradingServerError {
    /// Other machines could use it without a key.
    #[error(
        "{0} can be reached by other machines: make a key with `assize serve key new NAME` and name the file with `--keys`"
    )]
    NeedsKeys(SocketAddr),
    /// Keys and requests would travel unencrypted.
    #[error(
        "{0} can be reached by other machines, and keys would travel unencrypted: add `--tls-cert` and `--tls-key`, or put a \
         proxy with TLS before the server and add `--behind-proxy`"
    )]
    NeedsTls(SocketAddr),
    /// A certificate or its key can't be used.
    #[error("{0}")]
    Tls(String),
    /// Judges, rubrics or keys can't be used.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The server can't listen on the address.
    #[error("can't listen on {address}: {source}; name another one with `--listen`")]
    Bind {
        /// Address and port.
        address: SocketAddr,
        /// The reason.
        source: io::Error,
    },
    /// Serving failed.
    #[error("the server ended: {0}")]
    Serve(#[from] io::Error),
}

/// A server that listens.
pub struct GradingServer {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    hosts: HostRules,
}

impl GradingServer {
    /// Reads rubrics and keys, creates the judges and starts to listen. `log` receives the messages for the
    /// operator, one line each.
    ///
    /// # Errors
    /// If the address can't be used or would be open to other machines, or if a judge, a rubric folder or a
    /// file can't be used.
    pub async fn bind(
        engine: &Engine,
        run: RunOptions,
        options: ServeOptions,
        log: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, GradingServerError> {
        let is_local = options.listen.ip().is_loopback();
        if !is_local && options.keys.is_none() {
            return Err(GradingServerError::NeedsKeys(options.listen));
        }
        if !is_local && options.tls.is_none() && !options.behind_proxy {
            return Err(GradingServerError::NeedsTls(options.listen));
        }

        let resolve = |path| engine.process().resolve(path);
        let tls = options.tls.as_ref().map(|(chain, key)| tls::acceptor(&resolve(chain), &resolve(key)));
        let tls = tls.transpose().map_err(GradingServerError::Tls)?;
        let bind = |source| GradingServerError::Bind { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(bind)?;
        let address = listener.local_addr()?;
        let hosts = HostRules::new(is_local, options.names.clone());
        let service = Arc::new(Service::new(engine, run, options, Arc::new(log))?);

        Ok(Self { listener, address, tls, service, hosts })
    }

    /// Address that the server listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// URL for clients on this machine.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// True if no key is needed.
    pub fn is_open(&self) -> bool {
        self.service.tenants().is_open()
    }

    /// Names of the loaded rubrics.
    pub fn rubrics(&self) -> Vec<String> {
        self.service.rubrics.list().0.into_iter().map(|listed| listed.name).collect()
    }

    /// Answers requests until `stop` is done. Then it refuses new requests with 503, lets requests in flight
    /// finish within the grace period, and answers the rest as ungraded: every accepted sample is answered.
    ///
    /// # Errors
    /// If the reply cache could not be written.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) -> Result<(), GradingServerError> {
        let Self { listener, tls, service, hosts, .. } = self;
        let app = routes::router(ClientAccess { service: Arc::clone(&service), hosts });
        let refresh = tokio::spawn(refresh(Arc::clone(&service)));
        let gate = ConnectionGate {
            listener,
            tls,
            app,
            connections: Arc::new(Semaphore::new(service.options.limits.connections)),
            open: OpenConnections::default(),
            limits: service.options.limits,
        };

        let graceful = GracefulShutdown::new();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                accepted = gate.accept() => accepted,
            };
            let Some(accepted) = accepted else { continue };
            let watcher = graceful.watcher();
            let conversation = gate.converse(accepted, Some(watcher));
            tokio::spawn(conversation);
        }

        refresh.abort();
        tokio::select! {
            biased;
            () = finish(&service, graceful) => {}
            () = gate.refuse_all() => {}
        }
        drop(gate);
        if let Some(telemetry) = &service.telemetry {
            telemetry.close().await;
        }
        service.samples.flush()?;
        Ok(())
    }
}

/// Checks rubrics and keys for changes, again and again.
async fn refresh(service: Arc<Service>) {
    loop {
        tokio::time::sleep(REFRESH_INTERVAL).await;
        let service = Arc::clone(&service);
        // Files may be on a slow disk.
        let _ = tokio::task::spawn_blocking(move || service.refresh()).await;
    }
}

/// Accepts connections and answers them.
struct ConnectionGate {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    app: Router,
    connections: Arc<Semaphore>,
    open: OpenConnections,
    limits: RequestLimits,
}

/// A connection that was accepted.
struct AcceptedConnection {
    stream: TcpStream,
    watch: Arc<ConnectionWatch>,
    permit: OwnedSemaphorePermit,
}

impl ConnectionGate {
    /// Waits for a connection, and for a free connection permit. If there is none, closes a connection without a
    /// request.
    async fn accept(&self) -> Option<AcceptedConnection> {
        let Ok((stream, address)) = self.listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            return None;
        };
        if self.connections.available_permits() == 0 {
            self.open.dismiss_one();
        }
        let permit = Arc::clone(&self.connections).acquire_owned().await.ok()?;
        let watch = Arc::new(ConnectionWatch::new());
        self.open.add(address.ip(), &watch);

        Some(AcceptedConnection { stream, watch, permit })
    }

    /// Answers the requests of a connection. With a watcher, a stopping server waits for them.
    fn converse(
        &self,
        accepted: AcceptedConnection,
        watcher: Option<Watcher>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (tls, app, limits) = (self.tls.clone(), self.app.clone(), self.limits);
        async move {
            let AcceptedConnection { stream, watch, permit: _permit } = accepted;
            let _ = stream.set_nodelay(true);
            let shared = Arc::clone(&watch);
            let talk = async move {
                match tls {
                    None => {
                        let stream = StallGuard::new(stream, limits.stall_time);
                        converse(stream, app, limits, &shared, watcher).await;
                    }
                    Some(tls) => {
                        let shaken = tokio::time::timeout(limits.header_time, tls.accept(stream)).await;
                        if let Ok(Ok(stream)) = shaken {
                            let stream = StallGuard::new(stream, limits.stall_time);
                            converse(stream, app, limits, &shared, watcher).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = talk => {}
                () = watch.is_dismissed() => {}
            }
        }
    }

    /// Accepts connections while it is polled, so that clients of a stopping server get an error that explains it.
    async fn refuse_all(&self) {
        let mut conversations = JoinSet::new();
        loop {
            if let Some(accepted) = self.accept().await {
                while conversations.try_join_next().is_some() {}
                conversations.spawn(self.converse(accepted, None));
            }
        }
    }
}

/// Answers the requests of a connection, until its client disconnects or leaves it unused for too long.
async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    app: Router,
    limits: RequestLimits,
    watch: &Arc<ConnectionWatch>,
    watcher: Option<Watcher>,
) {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_time);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(20))
        .max_concurrent_streams(1_024)
        .max_header_list_size(64 << 10);

    let service = WatchedService::new(app, Arc::clone(watch));
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let talk = async {
        // Errors here mean that the client disconnected or did not speak HTTP.
        let _ = match watcher {
            Some(watcher) => watcher.watch(connection).await,
            None => connection.await,
        };
    };
    tokio::select! {
        () = talk => {}
        () = watch.is_held(&limits) => {}
    }
}

/// Ends the service: refuses new requests, waits for those in flight, then ends the rest as ungraded.
async fn finish(service: &Service, graceful: GracefulShutdown) {
    service.is_draining.store(true, Ordering::Release);
    let accepted = service.queue.unfinished();
    if accepted > 0 {
        let seconds = service.options.grace.as_secs();
        let samples = format_count(accepted as u64, "sample in flight has", "samples in flight have");
        (service.log)(&format!("stopping: {samples} {seconds} s to finish"));
    }

    service.tasks.close();
    // Clients may disconnect before their work is done, so this wait can end before the next one begins.
    let mut connections = pin!(maybe_done(graceful.shutdown()));
    let all = async {
        tokio::join!(service.tasks.wait(), connections.as_mut());
    };
    if tokio::time::timeout(service.options.grace, all).await.is_ok() {
        return;
    }

    let left = service.queue.unfinished();
    if left > 0 {
        let samples = format_count(left as u64, "sample", "samples");
        (service.log)(&format!(
            "{samples} did not finish in time; criteria that are not decided are ungraded"
        ));
    }
    service.stop.stop("the server is shutting down");
    service.tasks.wait().await;
    let _ = tokio::time::timeout(FINAL_REPLY_TIMEOUT, connections).await;
}
