//! The folder of data sets and suites beside the checkout.

use std::path::{Path, PathBuf};

/// A folder of data sets (`data/`), suites (`corpus/`) and known numbers (`vectors/`).
#[derive(Debug, Clone)]
pub(crate) struct SharedFolder(PathBuf);

impl SharedFolder {
    /// The folder that `ASSIZE_SHARED` names, or `../shared` relative to the root of the checkout. It may not
    /// exist.
    #[expect(clippy::disallowed_methods, reason = "a variable of these checks alone")]
    pub(crate) fn locate() -> Self {
        let named = std::env::var_os("ASSIZE_SHARED").filter(|path| !path.is_empty()).map(PathBuf::from);
        Self(named.unwrap_or_else(|| checkout().join("../shared")))
    }

    /// A path within the folder.
    pub(crate) fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        let path = self.0.join(inside);
        path.canonicalize().unwrap_or(path)
    }

    /// Whether the folder holds a file or folder.
    pub(crate) fn has(&self, inside: &str) -> bool {
        self.0.join(inside).exists()
    }
}

impl std::fmt::Display for SharedFolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.display())
    }
}

/// The root of the checkout.
pub(crate) fn checkout() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Every file below a folder, except git's.
pub(crate) fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == ".git" {
            continue;
        }

        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }

    Ok(found)
}
