//! Decompresses the pages of a Parquet file, up to a limit.
//!
//! The library's own decompression reserves as much memory as a page claims to need, and its zstd is a C
//! library.

use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;
use parquet::basic::Compression;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use crate::size_limits::SizeLimits;

/// Limits on how much more of a file may be read.
#[derive(Debug)]
pub(crate) struct PageLimits {
    /// Remaining bytes of decompressed pages.
    bytes: AtomicU64,
    /// Remaining number of values in pages.
    values: AtomicU64,
    /// Descriptions of the limits.
    bytes_limit: String,
    values_limit: String,
    /// The description of the limit that was exceeded, if any.
    exceeded: Mutex<Option<String>>,
}

impl PageLimits {
    pub(crate) fn new(limits: SizeLimits) -> Self {
        Self {
            bytes: (limits.bytes as u64).into(),
            values: (limits.cells as u64).into(),
            bytes_limit: limits.larger("its pages"),
            values_limit: format!("it has more than {} values", limits.cells),
            exceeded: Mutex::default(),
        }
    }

    /// Returns the limit that a page exceeded, if any.
    pub(crate) fn exceeded(&self) -> Option<String> {
        self.exceeded.lock().clone()
    }

    fn take(&self, left: &AtomicU64, count: u64, what: &str) -> Result<()> {
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count)).is_ok() {
            return Ok(());
        }
        *self.exceeded.lock() = Some(what.to_owned());
        Err(ParquetError::General(what.to_owned()))
    }
}

/// A group of rows of a file.
pub(crate) struct RowGroup<'m> {
    pub(crate) file: Arc<Bytes>,
    pub(crate) metadata: &'m RowGroupMetaData,
    pub(crate) limits: Arc<PageLimits>,
}

impl RowGroupReader for RowGroup<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.metadata
    }

    fn num_columns(&self) -> usize {
        self.metadata.num_columns()
    }

    fn get_column_page_reader(&self, i: usize) -> Result<Box<dyn PageReader>> {
        let column = self.metadata.column(i);
        // The inner reader must not decompress the pages.
        let plain = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        let rows = usize::try_from(self.metadata.num_rows())?;
        let inner = SerializedPageReader::new(Arc::clone(&self.file), &plain, rows, None)?;

        Ok(Box::new(LimitedPages {
            inner,
            compression: column.compression(),
            limits: Arc::clone(&self.limits),
        }))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// The pages of a column. Each is decompressed when it is read.
struct LimitedPages {
    inner: SerializedPageReader<Bytes>,
    compression: Compression,
    limits: Arc<PageLimits>,
}

impl LimitedPages {
    /// Decompresses the part of a page after the first `plain` bytes.
    fn decompress(&self, page: &Bytes, plain: usize) -> Result<Bytes> {
        let (head, body) = page
            .split_at_checked(plain)
            .ok_or_else(|| ParquetError::General("a page is shorter than its header states".to_owned()))?;
        let left = self.limits.bytes.load(Ordering::Relaxed);
        let mut whole = head.to_vec();
        let failed = |error: &dyn std::fmt::Display| ParquetError::General(error.to_string());
        match self.compression {
            _ if body.is_empty() => {}
            Compression::UNCOMPRESSED => whole.extend_from_slice(body),
            Compression::SNAPPY => {
                let size = snap::raw::decompress_len(body).map_err(|error| failed(&error))?;
                if size as u64 <= left {
                    let body =
                        snap::raw::Decoder::new().decompress_vec(body).map_err(|error| failed(&error))?;
                    whole.extend_from_slice(&body);
                } else {
                    self.take_bytes(size as u64)?;
                }
            }
            Compression::GZIP(_) => {
                flate2::read::MultiGzDecoder::new(body)
                    .take(left.saturating_add(1))
                    .read_to_end(&mut whole)
                    .map_err(|error| failed(&error))?;
            }
            Compression::ZSTD(_) => {
                ruzstd::decoding::StreamingDecoder::new(body)
                    .map_err(|error| failed(&error))?
                    .take(left.saturating_add(1))
                    .read_to_end(&mut whole)
                    .map_err(|error| failed(&error))?;
            }
            other => return Err(ParquetError::NYI(format!("{other} compression"))),
        }

        Ok(whole.into())
    }

    fn take_bytes(&self, count: u64) -> Result<()> {
        self.limits.take(&self.limits.bytes, count, &self.limits.bytes_limit)
    }

    fn limited(&self, mut page: Page) -> Result<Page> {
        let is_dictionary = matches!(page, Page::DictionaryPage { .. });
        let values = u64::from(page.num_values());
        let size = match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => {
                *buf = self.decompress(buf, 0)?;
                buf.len()
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, is_compressed, .. } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                let plain = if *is_compressed { levels } else { buf.len() };
                // Levels are part of the page even if it is not compressed.
                if levels > buf.len() {
                    return Err(ParquetError::General("a page is shorter than its header states".to_owned()));
                }
                *buf = self.decompress(buf, plain)?;
                buf.len()
            }
        };
        self.take_bytes(size as u64)?;
        // The library reserves memory for the values of a dictionary. Each value takes at least a byte.
        if is_dictionary && values > size as u64 {
            return Err(ParquetError::General("a dictionary is shorter than its header states".to_owned()));
        }
        self.limits.take(&self.limits.values, values, &self.limits.values_limit)?;

        Ok(page)
    }
}

impl Iterator for LimitedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for LimitedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        page.map(|page| self.limited(page)).transpose()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}
