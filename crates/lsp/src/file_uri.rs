//! Conversion between `file:` URIs (RFC 8089) and paths.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

/// Characters to escape in URIs: all except those that editors leave unescaped. `url` leaves brackets unescaped, which
/// `Uri` refuses.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'%')
    .remove(b':');

/// The path of a `file:` URI; `None` for any other URI, such as that of an unsaved text or of a file on another
/// machine.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let address = Url::parse(uri).ok().filter(|address| address.scheme() == "file")?;

    address.to_file_path().ok()
}

/// Returns the URI of an absolute path.
pub(crate) fn to_uri(path: &Path) -> Option<Uri> {
    let address = Url::from_file_path(path).ok()?;

    Uri::from_str(&utf8_percent_encode(address.as_str(), ESCAPED).to_string()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn paths_and_addresses_lead_to_each_other() {
        let odd = Path::new("/a b/ü#%.eval.yaml");
        let address = to_uri(odd).expect("absolute");
        assert_eq!(address.as_str(), "file:///a%20b/%C3%BC%23%25.eval.yaml");
        assert_eq!(to_path(address.as_str()).as_deref(), Some(odd));
        for other in ["untitled:Untitled-1", "http://a/b", "file://host/a", ""] {
            assert_eq!(to_path(other), None, "{other}");
        }
    }
}
