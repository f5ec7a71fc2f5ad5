//! Scripts and styles, compiled into the program. Their addresses contain a hash of their contents, so browsers
//! may cache them forever.

use std::sync::LazyLock;

/// A file that pages use.
pub(crate) struct PageAsset {
    pub(crate) name: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! asset {
    ($name:literal, $content_type:literal) => {
        PageAsset {
            name: $name,
            content_type: $content_type,
            bytes: include_bytes!(concat!("../assets/", $name)),
        }
    };
}

/// Every file that pages use.
pub(crate) const ASSETS: &[PageAsset] = &[
    asset!("view.css", "text/css; charset=utf-8"),
    asset!("app.js", "text/javascript; charset=utf-8"),
    asset!("table.js", "text/javascript; charset=utf-8"),
    asset!("reason.js", "text/javascript; charset=utf-8"),
    asset!("mark.js", "text/javascript; charset=utf-8"),
    asset!("post.js", "text/javascript; charset=utf-8"),
    asset!("review.js", "text/javascript; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
];

/// Hash of all files, used in their addresses.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    for asset in ASSETS {
        hasher.update(asset.bytes);
    }
    hasher.finalize().to_hex()[..12].to_owned()
});

/// Address of a file.
pub(crate) fn asset_url(name: &str) -> String {
    format!("/assets/{}/{name}", *VERSION)
}

/// The file at an address.
pub(crate) fn find_asset(version: &str, name: &str) -> Option<&'static PageAsset> {
    ASSETS.iter().find(|asset| asset.name == name && version == *VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_and_styles_stay_small() {
        let total: usize = ASSETS.iter().map(|asset| asset.bytes.len()).sum();
        assert!(total < 120_000, "{total} bytes");
    }

    #[test]
    fn assets_are_found_by_their_address_only() {
        let url = asset_url("view.css");
        let mut parts = url.trim_start_matches("/assets/").split('/');
        let (version, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        assert!(find_asset(version, name).is_some());
        assert!(find_asset("other", name).is_none() && find_asset(version, "../lib.rs").is_none());
    }
}
