//! Size of the cache, and pruning.

use rusqlite::{Connection, params};

use super::database::{cache_error, open};
use super::replies::ReplyCache;
use crate::StoreError;

/// Statistics of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheStats {
    /// Number of replies.
    pub replies: u64,
    /// Size of these replies in bytes.
    pub bytes: u64,
    /// Size of the file in bytes, free pages included.
    pub file_bytes: u64,
    /// Time of the oldest reply, in seconds since 1970.
    pub oldest: Option<i64>,
    /// Time of the newest reply, in seconds since 1970.
    pub newest: Option<i64>,
    /// Statistics by model, largest first.
    pub models: Vec<ModelStats>,
}

/// Statistics of the replies of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelStats {
    /// Name of the model.
    pub model: String,
    /// Number of replies.
    pub replies: u64,
    /// Size of these replies in bytes.
    pub bytes: u64,
}

impl ReplyCache {
    /// Counts the replies and their bytes.
    pub fn stats(&self) -> Result<CacheStats, StoreError> {
        let connection = open(self.path())?;
        stats(&connection).map_err(cache_error(self.path()))
    }

    /// Deletes the replies from before this time (seconds since 1970), or all of them for `None`, and shrinks
    /// the file. Returns the number of deleted replies.
    pub fn prune(&self, before: Option<i64>) -> Result<u64, StoreError> {
        self.flush()?;
        let connection = open(self.path())?;
        let deleted = match before {
            Some(before) => connection.execute("DELETE FROM replies WHERE created < ?1", params![before]),
            None => connection.execute("DELETE FROM replies", []),
        };
        let deleted = deleted.map_err(cache_error(self.path()))?;

        // The file can't shrink while another process reads it; a later call will shrink it.
        let _ = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        Ok(deleted as u64)
    }
}

fn stats(connection: &Connection) -> rusqlite::Result<CacheStats> {
    let bytes = "coalesce(sum(length(CAST(reply AS BLOB)) + coalesce(length(CAST(body AS BLOB)), 0)), 0)";
    let mut by_model = connection.prepare(&format!(
        "SELECT model, count(*), {bytes} FROM replies GROUP BY model ORDER BY 3 DESC, 1"
    ))?;
    let models: Vec<ModelStats> = by_model
        .query_map([], |row| Ok(ModelStats { model: row.get(0)?, replies: row.get(1)?, bytes: row.get(2)? }))?
        .collect::<rusqlite::Result<_>>()?;
    let (oldest, newest) =
        connection.query_row("SELECT min(created), max(created) FROM replies", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let pages: u64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page_size: u64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;

    Ok(CacheStats {
        replies: models.iter().map(|model| model.replies).sum(),
        bytes: models.iter().map(|model| model.bytes).sum(),
        file_bytes: pages * page_size,
        oldest,
        newest,
        models,
    })
}
