//! Certificate and key of a server.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Reads a certificate chain and its private key from PEM files.
///
/// # Errors
/// When a file can't be read, or the two don't match. Messages never quote the key.
pub(crate) fn acceptor(certificates: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let shown = certificates.display();
    let read = |path: &Path| {
        assize_files::read_bytes(path, 4 << 20)
            .map_err(|error| format!("can't read `{}`: {error}", path.display()))
    };
    let chain = CertificateDer::pem_slice_iter(&read(certificates)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| format!("`{shown}` is not a PEM file of certificates"))?;
    if chain.is_empty() {
        return Err(format!("`{shown}` holds no certificate"));
    }

    let private = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|_| format!("`{}` is not a PEM file with a private key", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| format!("`{shown}` and its key can't be used: {error}"))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];

    Ok(TlsAcceptor::from(Arc::new(config)))
}
