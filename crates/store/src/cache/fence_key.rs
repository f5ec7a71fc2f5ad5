//! The secret key of fences. It is stored so that equal requests stay equal from run to run.
//!
//! A new key for each process would change every prompt, and so the cache key of every call.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::StoreError;
use crate::disk::DiskFile;

/// Reads the key in this file. If there is none, `fresh` becomes the key; if several processes do this at
/// once, all of them get the key that was stored first. Only the user can read the file.
pub fn fence_key(path: &Path, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
    }

    // Written under a temporary name first, so that no process reads an incomplete key.
    let draft = path.with_extension(format!("{}.new", hex(&fresh[..8])));
    let written = DiskFile::append_new(&draft)
        .and_then(|mut file| file.write_all(hex(&fresh).as_bytes()).and_then(|()| file.sync()));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map_err(StoreError::io("write", &draft))?;

    // A link never replaces a file, unlike a rename, so the first key is kept.
    let linked = fs::hard_link(&draft, path);
    let placed = match linked {
        Err(_) if !path.exists() => fs::rename(&draft, path),
        _ => fs::remove_file(&draft),
    };
    placed.map_err(StoreError::io("write", path))?;

    read(path)?.ok_or_else(|| damaged(path))
}

fn read(path: &Path) -> Result<Option<[u8; 32]>, StoreError> {
    let text = match assize_files::read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Io { action: "read", path: path.to_path_buf(), source }),
    };
    let text = text.trim();
    let mut key = [0; 32];

    if text.len() != 64 || !text.is_ascii() {
        return Err(damaged(path));
    }

    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).map_err(|_| damaged(path))?;
    }

    Ok(Some(key))
}

fn damaged(path: &Path) -> StoreError {
    let message = "expected 64 hexadecimal digits; delete the file, and a new key is made".to_owned();
    StoreError::Cache { path: path.to_path_buf(), message }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache/fence.key");
        assert_eq!(fence_key(&path, [7; 32]).unwrap(), [7; 32]);
        assert_eq!(fence_key(&path, [8; 32]).unwrap(), [7; 32]);
        assert_eq!(fs::read_dir(folder.path().join("cache")).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn processes_that_start_at_once_agree() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fence.key");
        let keys: Vec<[u8; 32]> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..16)
                .map(|n| {
                    scope.spawn({
                        let path = path.clone();
                        move || fence_key(&path, [n; 32]).unwrap()
                    })
                })
                .collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    }

    #[test]
    fn a_damaged_key_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fence.key");
        for text in ["", "12", &"zz".repeat(32), &"ä".repeat(32)] {
            fs::write(&path, text).unwrap();
            let error = fence_key(&path, [1; 32]).unwrap_err().to_string();
            assert!(error.contains("delete the file"), "{error}");
        }
    }
}
