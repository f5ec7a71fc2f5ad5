//! Records of a fixed size in their order: few in memory, many in a file.
//!
//! Design: `docs/design/performance.md`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::{SpoolFile, StoreError};

/// Bytes of records that are sorted in memory at once.
const MAX_HELD_BYTES: usize = 2 << 20;
/// Bytes of records that are read from a run of the file at once.
const READ_BYTES: usize = 4 << 10;

/// Sorts any number of records, each an array of integers, in lexicographic order. If they exceed two
/// megabytes, they are written to an unnamed file in sorted stretches, which are merged when they are read; a
/// killed process leaves nothing behind. Memory is then limited to the two megabytes and, while reading, four
/// kilobytes for each stretch.
#[derive(Debug)]
pub struct SortedRecords<const N: usize> {
    /// Folder for the file.
    beside: PathBuf,
    file: Option<SpoolFile>,
    /// Offset and number of records of each sorted stretch.
    stretches: Vec<(u64, usize)>,
    held: Vec<[u64; N]>,
    len: usize,
    /// Error while writing the file. Later records are lost.
    failed: Option<StoreError>,
}

impl<const N: usize> Default for SortedRecords<N> {
    fn default() -> Self {
        Self::new(&std::env::temp_dir())
    }
}

impl<const N: usize> SortedRecords<N> {
    /// Bytes of a record in the file.
    const BYTES: usize = N * size_of::<u64>();
    /// Number of records that are sorted in memory at once.
    const HELD: usize = MAX_HELD_BYTES / Self::BYTES;
    /// Number of records that are read from a stretch at once.
    const READ: usize = READ_BYTES / Self::BYTES;

    /// Creates an empty list. Its file would be in this folder, or in the nearest existing one above it.
    pub fn new(beside: &Path) -> Self {
        Self {
            beside: beside.to_path_buf(),
            file: None,
            stretches: Vec::new(),
            held: Vec::new(),
            len: 0,
            failed: None,
        }
    }

    /// Adds a record. An error is kept and returned when the records are read.
    pub fn push(&mut self, record: [u64; N]) {
        self.len += 1;
        if self.failed.is_some() {
            return;
        }

        self.held.push(record);
        if self.held.len() >= Self::HELD
            && let Err(error) = self.store_stretch()
        {
            self.held = Vec::new();
            self.failed = Some(error);
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no records.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sorts the records in memory and writes them as a stretch.
    fn store_stretch(&mut self) -> Result<(), StoreError> {
        self.held.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open_file(&self.beside)?),
        };
        self.stretches.push((file.end(), self.held.len()));
        for piece in self.held.chunks(Self::READ) {
            append(file, piece)?;
        }
        self.held.clear();

        Ok(())
    }

    /// Merges all stretches into one, for records that are read many times.
    ///
    /// # Errors
    /// As for [`Self::in_order`].
    pub fn settle(&mut self) -> Result<(), StoreError> {
        if self.failed.is_none() && self.stretches.is_empty() {
            self.held.sort_unstable();
            return Ok(());
        }

        let mut file = open_file(&self.beside)?;
        let mut piece = Vec::with_capacity(Self::READ);
        for record in self.in_order()? {
            piece.push(record?);
            if piece.len() == Self::READ {
                append(&mut file, &piece)?;
                piece.clear();
            }
        }
        append(&mut file, &piece)?;

        self.file = Some(file);
        self.stretches = vec![(0, self.len)];
        self.held = Vec::new();
        Ok(())
    }

    /// Reads the records at these positions of the sorted order. [`Self::settle`] must have been called after
    /// the last record was added.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn range(&mut self, positions: Range<usize>) -> Result<Vec<[u64; N]>, StoreError> {
        match &mut self.file {
            None => Ok(self.held[positions].to_vec()),
            Some(file) => read(file, (positions.start * Self::BYTES) as u64, positions.len()),
        }
    }

    /// Reads the records in order. More records may be added afterwards.
    ///
    /// # Errors
    /// If the file can't be written or read. An error while a record was added is returned from then on.
    pub fn in_order(&mut self) -> Result<RecordsInOrder<'_, N>, StoreError> {
        if let Some(error) = &self.failed {
            return Err(error.again());
        }

        self.held.sort_unstable();
        let mut readers: Vec<StretchReader<N>> = self
            .stretches
            .iter()
            .map(|&(next, left)| StretchReader { next, left, ready: Vec::new() })
            .collect();
        let mut next = BinaryHeap::with_capacity(readers.len());
        // A single stretch, such as after `settle`, needs no merging.
        if let Some(file) = &mut self.file
            && (readers.len() > 1 || !self.held.is_empty())
        {
            for (at, reader) in readers.iter_mut().enumerate() {
                next.extend(reader.take(file)?.map(|record| Reverse((record, at))));
            }
        }

        Ok(RecordsInOrder { held: self.held.iter().peekable(), file: self.file.as_mut(), readers, next })
    }
}

/// Creates a file in a folder, or in the nearest existing one above it.
fn open_file(beside: &Path) -> Result<SpoolFile, StoreError> {
    let above = beside.ancestors().find(|folder| folder.is_dir());
    SpoolFile::unnamed(&above.map_or_else(std::env::temp_dir, Path::to_path_buf))
}

/// Appends records to a file. Only this process reads it, so the byte order is the machine's own.
fn append<const N: usize>(file: &mut SpoolFile, records: &[[u64; N]]) -> Result<(), StoreError> {
    let mut bytes = vec![0; records.len() * SortedRecords::<N>::BYTES];
    for (part, number) in bytes.as_chunks_mut().0.iter_mut().zip(records.as_flattened()) {
        *part = number.to_ne_bytes();
    }

    file.append(&bytes).map(drop)
}

/// Reads records back from a file.
fn read<const N: usize>(file: &mut SpoolFile, at: u64, count: usize) -> Result<Vec<[u64; N]>, StoreError> {
    let mut bytes = vec![0; count * SortedRecords::<N>::BYTES];
    file.read_at(at, &mut bytes)?;
    let mut records = vec![[0; N]; count];
    for (number, part) in records.as_flattened_mut().iter_mut().zip(bytes.as_chunks().0) {
        *number = u64::from_ne_bytes(*part);
    }

    Ok(records)
}

/// Reads the records of a stretch one by one.
#[derive(Debug)]
struct StretchReader<const N: usize> {
    /// Offset of the next records in the file.
    next: u64,
    /// Number of records there.
    left: usize,
    /// Records already read, in reverse order.
    ready: Vec<[u64; N]>,
}

impl<const N: usize> StretchReader<N> {
    fn take(&mut self, file: &mut SpoolFile) -> Result<Option<[u64; N]>, StoreError> {
        if self.ready.is_empty() && self.left > 0 {
            let count = self.left.min(SortedRecords::<N>::READ);
            self.ready = read(file, self.next, count)?;
            self.ready.reverse();
            self.next += (count * SortedRecords::<N>::BYTES) as u64;
            self.left -= count;
        }

        Ok(self.ready.pop())
    }
}

/// Records in order.
#[derive(Debug)]
pub struct RecordsInOrder<'a, const N: usize> {
    held: std::iter::Peekable<std::slice::Iter<'a, [u64; N]>>,
    file: Option<&'a mut SpoolFile>,
    readers: Vec<StretchReader<N>>,
    /// The next record of each stretch, with the index of the stretch.
    next: BinaryHeap<Reverse<([u64; N], usize)>>,
}

impl<const N: usize> Iterator for RecordsInOrder<'_, N> {
    type Item = Result<[u64; N], StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let stored = self.next.peek().map(|Reverse((record, _))| record);
        if self.held.peek().is_some_and(|held| stored.is_none_or(|stored| *held < stored)) {
            return self.held.next().copied().map(Ok);
        }

        let Some(Reverse((record, at))) = self.next.pop() else {
            let (reader, file) = self.readers.first_mut().zip(self.file.as_mut())?;
            return reader.take(file).transpose();
        };
        match self.file.as_mut().map(|file| self.readers[at].take(file)).transpose() {
            Ok(following) => self.next.extend(following.flatten().map(|record| Reverse((record, at)))),
            Err(error) => return Some(Err(error)),
        }

        Some(Ok(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 64;

    /// A record with this number.
    fn large(number: u64) -> [u64; LARGE] {
        let mut record = [7; LARGE];
        record[0] = number;
        record
    }

    fn read(records: &mut SortedRecords<LARGE>) -> Vec<u64> {
        records.in_order().unwrap().map(|record| record.unwrap()[0]).collect()
    }

    #[test]
    fn records_come_back_in_order_from_memory_and_from_the_file() {
        let home = tempfile::tempdir().unwrap();
        let held = SortedRecords::<LARGE>::HELD as u64;
        for count in [0, 1, 100, held, 3 * held + 7] {
            let mut records = SortedRecords::new(&home.path().join("not/there"));
            // An unsorted order: a step without a common factor with the count visits each number once.
            for at in 0..count {
                records.push(large(at * 7_919 % count));
            }
            assert_eq!((records.len() as u64, records.stretches.len() as u64), (count, count / held));
            let mut expected: Vec<u64> = (0..count).collect();
            for _ in 0..2 {
                assert_eq!(read(&mut records), expected);
            }

            records.settle().unwrap();
            assert_eq!(records.stretches.len(), usize::from(count >= held));
            assert_eq!(read(&mut records), expected);
            let (from, to) = (expected.len() / 3, expected.len() / 2);
            let some: Vec<u64> = records.range(from..to).unwrap().iter().map(|record| record[0]).collect();
            assert_eq!(some, expected[from..to]);

            // Records that are added after reading are sorted too.
            records.push(large(u64::MAX));
            records.push(large(0));
            expected.insert(0, 0);
            expected.push(u64::MAX);
            assert_eq!(read(&mut records), expected);
        }
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "the file has no name, or is gone");
    }

    #[test]
    fn equal_records_stay_as_many_as_they_were() {
        let home = tempfile::tempdir().unwrap();
        let mut records = SortedRecords::<8>::new(home.path());
        let count = SortedRecords::<8>::HELD * 2 + 1;
        for at in 0..count {
            records.push([at as u64 % 3; 8]);
        }
        let read: Vec<[u64; 8]> = records.in_order().unwrap().map(Result::unwrap).collect();
        assert_eq!(read.len(), count);
        assert!(read.is_sorted());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_cannot_be_written_is_told_when_records_are_read() {
        let mut records = SortedRecords::<128>::new(Path::new("/proc/self"));
        for _ in 0..SortedRecords::<128>::HELD {
            records.push([0; 128]);
        }
        for _ in 0..2 {
            assert!(records.in_order().is_err());
        }
        assert_eq!(records.len(), SortedRecords::<128>::HELD);
    }
}
