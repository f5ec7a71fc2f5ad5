//! Encrypted connections.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// Time limit for the handshake of a client.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// Number of simultaneous handshakes, and of connections waiting to be served.
const MAX_HANDSHAKES: usize = 256;

/// Certificate and key of a server, as read from their files.
#[derive(Clone)]
pub struct TlsIdentity {
    /// Certificates in PEM: the server's first, then the chain to a known authority.
    pub certificate: Vec<u8>,
    /// Private key in PEM.
    pub key: Vec<u8>,
}

impl fmt::Debug for TlsIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsIdentity").finish_non_exhaustive()
    }
}

impl TlsIdentity {
    /// Parses certificate and key; the error says why they can't be used.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, String> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = chain.map_err(|error| format!("the certificate is not PEM: {error}"))?;
        if chain.is_empty() {
            return Err("the file of the certificate holds none in PEM".to_owned());
        }

        let key = PrivateKeyDer::from_pem_slice(&self.key)
            .map_err(|_| "the file of the key holds no unencrypted private key in PEM".to_owned())?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));

        config.map(|config| TlsAcceptor::from(Arc::new(config))).map_err(|error| error.to_string())
    }
}

/// Listener for encrypted connections. Handshakes run concurrently, so that a client that never finishes one does not
/// block others.
pub(crate) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    pub(crate) fn new(mut listener: TcpListener, acceptor: TlsAcceptor) -> io::Result<Self> {
        let address = TcpListener::local_addr(&listener)?;
        let (send, ready) = mpsc::channel(MAX_HANDSHAKES);
        let slots = Arc::new(Semaphore::new(MAX_HANDSHAKES));

        tokio::spawn(async move {
            loop {
                let accepted = tokio::select! {
                    accepted = Listener::accept(&mut listener) => accepted,
                    () = send.closed() => return,
                };
                let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
                let (stream, peer) = accepted;
                let (acceptor, send) = (acceptor.clone(), send.clone());
                // If this fails, the end of a long reply only comes a little later.
                let _ = stream.set_nodelay(true);

                tokio::spawn(async move {
                    // Clients that don't speak TLS are dropped without a reply.
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIME, acceptor.accept(stream)).await {
                        // Fails only once the server has ended.
                        let _ = send.send((stream, peer)).await;
                    }
                    drop(slot);
                });
            }
        });

        Ok(Self { ready, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            // The accepting task ends only with this listener.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
