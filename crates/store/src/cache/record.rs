//! Row of the cache, and its binary form, which is written to the journal and covered by the checksum.

use std::io::{self, Read};

/// Row of the cache: a reply with the key of its call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedReply {
    /// Key of the call.
    pub key: [u8; 32],
    /// The model that was called, for people.
    pub model: String,
    /// Time of the call, in seconds since 1970.
    pub created: i64,
    /// The reply, in a format that the caller chooses.
    pub reply: String,
    /// The body as received, if `reply` does not contain it.
    pub body: Option<String>,
}

/// Version of the binary form. Reading ends at a record with another version.
const VERSION: u8 = 1;

/// Length of a record's head: version, checksum and length of the fields.
const HEAD_LEN: usize = 1 + 4 + 8;

impl CachedReply {
    /// CRC-32 of all fields.
    pub(super) fn sum(&self) -> u32 {
        let mut sum = crc32fast::Hasher::new();
        self.fields(|bytes| sum.update(bytes));
        sum.finalize()
    }

    /// Length of its texts in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.model.len() + self.reply.len() + self.body.as_ref().map_or(0, String::len)) as u64
    }

    /// Encodes the reply as a record: a head, then its fields.
    pub(super) fn record(&self) -> Vec<u8> {
        let body = self.body.as_deref().unwrap_or_default();
        let mut record = Vec::with_capacity(HEAD_LEN + 80 + self.model.len() + self.reply.len() + body.len());
        record.resize(HEAD_LEN, 0);
        self.fields(|bytes| record.extend_from_slice(bytes));

        let length = (record.len() - HEAD_LEN) as u64;
        let sum = crc32fast::hash(&record[HEAD_LEN..]);

        record[0] = VERSION;
        record[1..5].copy_from_slice(&sum.to_le_bytes());
        record[5..HEAD_LEN].copy_from_slice(&length.to_le_bytes());

        record
    }

    /// Passes the bytes of every field to `take`, each text with its length before it.
    fn fields(&self, mut take: impl FnMut(&[u8])) {
        let Self { key, model, created, reply, body } = self;
        take(key);
        take(&created.to_le_bytes());
        take(&[u8::from(body.is_some())]);

        for text in [model.as_str(), reply, body.as_deref().unwrap_or_default()] {
            take(&(text.len() as u64).to_le_bytes());
            take(text.as_bytes());
        }
    }
}

/// Reads the next record of a file with `left` bytes left. `None` at the end, and at an incomplete or damaged record,
/// because the record boundaries after it can't be found.
pub(super) fn read(from: &mut impl Read, left: &mut u64) -> io::Result<Option<CachedReply>> {
    if *left < HEAD_LEN as u64 {
        return Ok(None);
    }

    let mut head = [0; HEAD_LEN];
    from.read_exact(&mut head)?;
    *left -= HEAD_LEN as u64;

    let [form, s0, s1, s2, s3, length @ ..] = head;
    let length = u64::from_le_bytes(length);
    if form != VERSION || length > *left {
        return Ok(None);
    }

    let mut fields = Vec::new();
    from.take(length).read_to_end(&mut fields)?;
    *left -= length;

    let sound = crc32fast::hash(&fields) == u32::from_le_bytes([s0, s1, s2, s3]);
    Ok(if sound { decode(&fields) } else { None })
}

fn decode(fields: &[u8]) -> Option<CachedReply> {
    let (key, rest) = fields.split_first_chunk()?;
    let (created, rest) = rest.split_first_chunk()?;
    let (has_body, mut rest) = rest.split_first()?;
    let mut text = || {
        let (length, after) = rest.split_first_chunk()?;
        let (text, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        rest = after;
        String::from_utf8(text.to_vec()).ok()
    };

    let (model, reply, body) = (text()?, text()?, text()?);
    let body = (*has_body == 1).then_some(body);
    Some(CachedReply { key: *key, model, created: i64::from_le_bytes(*created), reply, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(n: u8, body: Option<&str>) -> CachedReply {
        let (model, reply) = ("modèle".into(), "r".repeat(n.into()));
        CachedReply { key: [n; 32], model, created: -i64::from(n), reply, body: body.map(Into::into) }
    }

    fn all(bytes: &[u8]) -> Vec<CachedReply> {
        let (mut from, mut left) = (bytes, bytes.len() as u64);
        std::iter::from_fn(|| read(&mut from, &mut left).unwrap()).collect()
    }

    #[test]
    fn records_come_back_as_they_were() {
        let replies = [reply(1, None), reply(2, Some("")), reply(200, Some("a\0b\n"))];
        let bytes: Vec<u8> = replies.iter().flat_map(CachedReply::record).collect();
        assert_eq!(all(&bytes), replies);
        assert_ne!(replies[1].sum(), CachedReply { body: None, ..replies[1].clone() }.sum());
    }

    #[test]
    fn reading_ends_where_a_record_is_torn_or_damaged() {
        let replies = [reply(3, Some("body")), reply(4, None)];
        let bytes: Vec<u8> = replies.iter().flat_map(CachedReply::record).collect();
        let first = replies[0].record().len();
        for end in 0..bytes.len() {
            assert_eq!(all(&bytes[..end]).len(), usize::from(end >= first), "{end}");
        }
        for at in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            assert_eq!(all(&bytes).len(), usize::from(at / 8 >= first), "{at}");
        }
    }
}
