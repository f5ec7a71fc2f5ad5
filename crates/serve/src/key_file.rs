//! Keys of clients: a file with a hash of each key, never the key itself.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use assize_engine::EngineError;
use assize_listen::SecretHash;
use assize_rubric::Usd;
use serde::{Deserialize, Serialize};

/// Prefix of every key, so that secret scanners recognise it.
const PREFIX: &str = "assize_sk_";
/// Largest key file.
const MAX_BYTES: u64 = 4 << 20;

/// A key file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// The keys.
    pub keys: Vec<ClientKey>,
}

/// A key of a client, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientKey {
    /// Name of the client, which metrics show.
    pub name: String,
    /// BLAKE3 hash of the key, in hexadecimal.
    pub hash: String,
    /// When it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// Limits of the client.
    #[serde(default)]
    pub quotas: KeyQuotas,
    /// True for a key of the operator, to whom metrics show the names and amounts of all clients.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operator: bool,
}

/// Limits of one client; `None` means that only the server's limits apply.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyQuotas {
    /// Requests per minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Samples that are accepted and not answered yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples_in_flight: Option<usize>,
    /// US dollars since the server started. Samples in flight when they are spent are finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_usd: Option<Usd>,
}

impl KeyFile {
    /// Reads a file of keys.
    ///
    /// # Errors
    /// When it can't be read, or contains invalid names or hashes.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let bytes = assize_files::read_bytes(path, MAX_BYTES)
            .map_err(|error| format!("can't read `{shown}`: {error}"))?;
        let file: Self = serde_json::from_slice(&bytes).map_err(|error| {
            format!("`{shown}` is not a key file: {error}; make one with `assize serve key new NAME`")
        })?;

        for (index, key) in file.keys.iter().enumerate() {
            check_name(&key.name).map_err(|error| format!("`{shown}`: {error}"))?;
            if SecretHash::from_hex(&key.hash).is_none() {
                return Err(format!("`{shown}`: the hash of `{}` is not valid", key.name));
            }
            if file.keys[..index].iter().any(|other| other.name == key.name || other.hash == key.hash) {
                return Err(format!("`{shown}`: the key `{}` occurs twice", key.name));
            }
        }

        Ok(file)
    }

    /// Adds a key of a client, or of the operator, to the file, which is created if it does not exist. Returns the
    /// key, which is stored nowhere.
    ///
    /// # Errors
    /// When the name is taken or invalid, or the file can't be read or written.
    pub fn add(
        path: &Path,
        name: &str,
        quotas: KeyQuotas,
        created: String,
        operator: bool,
    ) -> Result<String, String> {
        check_name(name)?;
        let mut file = if path.exists() { Self::read(path)? } else { Self::default() };
        if file.keys.iter().any(|key| key.name == name) {
            return Err(format!("`{}` already has a key `{name}`; remove it first", path.display()));
        }

        let key = format!("{PREFIX}{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let hash = SecretHash::new(&key).to_hex();
        file.keys.push(ClientKey { name: name.to_owned(), hash, created: Some(created), quotas, operator });
        file.write(path)?;
        Ok(key)
    }

    /// Removes a key from the file.
    ///
    /// # Errors
    /// When there is no key of this name, or the file can't be read or written.
    pub fn remove(path: &Path, name: &str) -> Result<(), String> {
        let mut file = Self::read(path)?;
        let before = file.keys.len();
        file.keys.retain(|key| key.name != name);
        if file.keys.len() == before {
            return Err(format!("`{}` has no key `{name}`", path.display()));
        }

        file.write(path)
    }

    /// Writes the file atomically, so that a server reading it meanwhile sees the old or the new state.
    fn write(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| format!("can't make the folder of `{}`: {error}", path.display()))?;
        }

        let is_new = !path.exists();
        let written = assize_engine::replace_file_with(path, |file| {
            let protected = if is_new { protect(file.get_ref()) } else { Ok(()) };
            protected
                .and_then(|()| writeln!(file, "{text}"))
                .map_err(|error| EngineError::usage(format!("{}: can't be written: {error}", path.display())))
        });
        written.map_err(|error| error.message)
    }

    /// Default path of the file in a working folder.
    pub fn default_path() -> PathBuf {
        PathBuf::from(".assize/serve-keys.json")
    }
}

/// Makes a new file readable by its owner only. An existing file keeps its permissions.
#[cfg(unix)]
fn protect(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn protect(_: &File) -> io::Result<()> {
    Ok(())
}

/// Names are shown in metrics and logs, and separate the parts of the reply cache.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(format!(
            "the name `{}` can't be used: 1 to 64 of a-z, A-Z, 0-9, `-`, `_`, `.`",
            name.escape_debug()
        ));
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_printed_once_and_only_its_hash_is_stored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let quotas = KeyQuotas { budget_usd: Usd::from_dollars(2.5), ..KeyQuotas::default() };
        let key = KeyFile::add(&path, "trainer", quotas, "2026-01-01".into(), false).unwrap();

        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&key) && key.len() > 70, "{text}");
        let stored = KeyFile::read(&path).unwrap().keys.remove(0);
        assert!(SecretHash::from_hex(&stored.hash).unwrap().matches(&key));
        assert_eq!(stored.quotas, quotas);

        assert!(
            KeyFile::add(&path, "trainer", quotas, String::new(), false).unwrap_err().contains("already")
        );
        for name in ["", "a b", "../x", "a\nb", &"x".repeat(65)] {
            assert!(KeyFile::add(&path, name, quotas, String::new(), false).is_err(), "{name}");
        }
        KeyFile::remove(&path, "trainer").unwrap();
        assert!(KeyFile::read(&path).unwrap().keys.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_its_owners_and_later_permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        KeyFile::add(&path, "a", KeyQuotas::default(), String::new(), false).unwrap();
        assert_eq!(mode(), 0o600);

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        KeyFile::add(&path, "b", KeyQuotas::default(), String::new(), true).unwrap();
        assert_eq!(mode(), 0o640);
        let operators: Vec<bool> =
            KeyFile::read(&path).unwrap().keys.iter().map(|key| key.operator).collect();
        assert_eq!(operators, [false, true]);
    }

    #[test]
    fn files_that_are_no_key_files_are_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys.json");
        let hash = SecretHash::new("a").to_hex();
        let twice = format!(r#"{{"keys":[{{"name":"a","hash":"{hash}"}},{{"name":"b","hash":"{hash}"}}]}}"#);
        for (text, reason) in [
            ("{", "not a key file"),
            (r#"{"keys":[{"name":"a","hash":"plain"}]}"#, "is not valid"),
            (r#"{"keys":[{"name":"a","key":"x"}]}"#, "not a key file"),
            (&twice, "occurs twice"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = KeyFile::read(&path).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
