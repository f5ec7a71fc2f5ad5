//! Conversion between `file:` URIs (RFC 8089) and paths.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;

/// Returns the path of a `file:` URI; `None` for any other URI, such as that of a text that was never saved.
pub(crate) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // Files of other machines are not read.
    let encoded = rest.strip_prefix("localhost").unwrap_or(rest);
    if !encoded.starts_with('/') {
        return None;
    }
    let decoded = decoded(encoded)?;
    let drive = decoded.as_bytes();
    // `/c:/folder` is a path with a drive.
    let is_drive = cfg!(windows) && drive.get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { &decoded[1..] } else { &decoded }))
}

/// Returns the URI of an absolute path.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', if cfg!(windows) { "/" } else { "\\" });
    let mut address = String::from("file://");
    if !text.starts_with('/') {
        address.push('/');
    }
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            write!(address, "%{byte:02X}").ok()?;
        }
    }
    Uri::from_str(&address).ok()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn paths_and_addresses_lead_to_each_other() {
        let odd = Path::new("/a b/ü#%.eval.yaml");
        let address = uri(odd).expect("absolute");
        assert_eq!(address.as_str(), "file:///a%20b/%C3%BC%23%25.eval.yaml");
        assert_eq!(path(address.as_str()).as_deref(), Some(odd));
        for other in ["untitled:Untitled-1", "http://a/b", "file://host/a", "file:///a%2", "file:///a%zz", ""]
        {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
