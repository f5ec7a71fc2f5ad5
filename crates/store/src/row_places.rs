//! Positions of the rows of many runs in the order of the plan, in a file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};

use crate::{RecordPosition, SpoolFile, SpoolPlace, StoreError};

/// Positions that are sorted in memory at once: 3 MB of them.
const MOST_HELD: usize = 1 << 16;
/// Positions that are read again at once, of each run.
const PIECE: usize = 32;
/// Bytes of a position in the file, without its source.
const RECORD: usize = 6 * 8;

/// Position of the rows of a case in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowPlace {
    /// Place in the plan, from 1.
    pub(crate) place: u64,
    /// Index of the run.
    pub(crate) source: u32,
    pub(crate) inputs_length: u32,
    pub(crate) at: RecordPosition,
    /// Offset in `inputs.jsonl`, if there is a row.
    pub(crate) inputs: u64,
    /// Offset in `questions.jsonl`, from 1.
    pub(crate) question: Option<NonZeroU64>,
}

impl RowPlace {
    fn write(&self, bytes: &mut Vec<u8>) {
        let question = self.question.map_or(0, NonZeroU64::get);
        let RecordPosition { result, judgements } = self.at;
        let length = u64::from(self.inputs_length);
        for number in [self.place, length, result, judgements, self.inputs, question] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn read(record: &[u8], source: u32) -> Self {
        let number = |at: usize| {
            let bytes = record.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_le_bytes)
        };
        Self {
            place: number(0),
            source,
            inputs_length: u32::try_from(number(1)).unwrap_or(0),
            at: RecordPosition { result: number(2), judgements: number(3) },
            inputs: number(4),
            question: NonZeroU64::new(number(5)),
        }
    }
}

/// Positions of rows, sorted in stretches. What it holds is some bytes for each of [`PIECE`] rows.
#[derive(Debug)]
pub(crate) struct PlaceSpool {
    /// Folder for the file.
    beside: PathBuf,
    file: Option<SpoolFile>,
    stretches: Vec<Stretch>,
    /// Positions of the present run that are not sorted yet.
    held: Vec<RowPlace>,
    count: usize,
    last_place: u64,
}

/// Sorted positions of one run.
#[derive(Debug)]
struct Stretch {
    source: u32,
    pieces: Vec<SpoolPlace>,
}

impl PlaceSpool {
    /// No positions. The file will be in the nearest folder above this one that is there.
    pub(crate) fn new(target: &Path) -> Self {
        let above = target.ancestors().skip(1).find(|folder| folder.is_dir());
        let beside = above.map_or_else(std::env::temp_dir, Path::to_path_buf);
        Self { beside, file: None, stretches: Vec::new(), held: Vec::new(), count: 0, last_place: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Highest place; 0 if there is none.
    pub(crate) fn last_place(&self) -> u64 {
        self.last_place
    }

    /// Adds a position of the present run.
    pub(crate) fn push(&mut self, place: RowPlace) -> Result<(), StoreError> {
        self.count += 1;
        self.last_place = self.last_place.max(place.place);
        self.held.push(place);

        if self.held.len() >= MOST_HELD { self.end_run() } else { Ok(()) }
    }

    /// Sorts and stores what was added since the last time. A run may have several such stretches.
    pub(crate) fn end_run(&mut self) -> Result<(), StoreError> {
        let Some(first) = self.held.first() else { return Ok(()) };
        let source = first.source;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(SpoolFile::unnamed(&self.beside)?),
        };

        self.held.sort_unstable_by_key(|row| row.place);
        let mut pieces = Vec::with_capacity(self.held.len().div_ceil(PIECE));
        let mut bytes = Vec::with_capacity(PIECE * RECORD);
        for piece in self.held.chunks(PIECE) {
            bytes.clear();
            for place in piece {
                place.write(&mut bytes);
            }
            pieces.push(file.append(&bytes)?);
        }
        self.stretches.push(Stretch { source, pieces });
        self.held.clear();

        Ok(())
    }

    /// All positions, by their place and then by their run.
    pub(crate) fn in_order(&mut self) -> Result<PlacesInOrder<'_>, StoreError> {
        self.end_run()?;
        let readers = self.stretches.iter().map(|stretch| StretchReader {
            source: stretch.source,
            pieces: stretch.pieces.iter(),
            ready: Vec::new(),
        });
        let mut places = PlacesInOrder {
            readers: readers.collect(),
            file: self.file.as_mut(),
            next: BinaryHeap::with_capacity(self.stretches.len()),
        };
        for at in 0..places.readers.len() {
            places.look(at)?;
        }

        Ok(places)
    }
}

/// Positions that are read one after the other.
pub(crate) struct PlacesInOrder<'a> {
    file: Option<&'a mut SpoolFile>,
    readers: Vec<StretchReader<'a>>,
    /// Next place of each stretch, its run, and its index.
    next: BinaryHeap<Reverse<(u64, u32, usize)>>,
}

struct StretchReader<'a> {
    source: u32,
    pieces: std::slice::Iter<'a, SpoolPlace>,
    /// Places already read, the last one first.
    ready: Vec<RowPlace>,
}

impl PlacesInOrder<'_> {
    /// Makes the next position of a stretch ready.
    fn look(&mut self, at: usize) -> Result<(), StoreError> {
        let reader = &mut self.readers[at];
        if reader.ready.is_empty()
            && let Some((file, piece)) = self.file.as_mut().zip(reader.pieces.next())
        {
            let bytes = file.read(*piece)?;
            let records = bytes.chunks(RECORD).rev();
            reader.ready.extend(records.map(|record| RowPlace::read(record, reader.source)));
        }
        self.next.extend(reader.ready.last().map(|place| Reverse((place.place, place.source, at))));

        Ok(())
    }
}

impl Iterator for PlacesInOrder<'_> {
    type Item = Result<RowPlace, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((_, _, at)) = self.next.pop()?;
        let place = self.readers[at].ready.pop()?;

        Some(self.look(at).map(|()| place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(place: u64, source: u32) -> RowPlace {
        let at = RecordPosition { result: place * 3, judgements: place * 5 };
        let question = NonZeroU64::new(place % 2);
        RowPlace { place, source, inputs_length: 7, at, inputs: place * 11, question }
    }

    #[test]
    fn positions_come_back_in_the_order_of_the_plan() {
        const EACH: u64 = 3 * PIECE as u64 + 1;
        let home = tempfile::tempdir().unwrap();
        let mut spool = PlaceSpool::new(&home.path().join("not/there"));
        assert_eq!(spool.in_order().unwrap().count(), 0);
        for source in 0..5 {
            // The later half first, and in two stretches.
            for number in (EACH / 2..EACH).chain(0..EACH / 2) {
                if number == 0 {
                    spool.end_run().unwrap();
                }
                spool.push(place(number * 5 + u64::from(source) + 1, source)).unwrap();
            }
            spool.end_run().unwrap();
        }
        spool.push(place(3, 5)).unwrap();

        assert_eq!((spool.len() as u64, spool.last_place()), (5 * EACH + 1, 5 * EACH));
        for _ in 0..2 {
            let read: Vec<RowPlace> = spool.in_order().unwrap().map(Result::unwrap).collect();
            let mut expected: Vec<RowPlace> =
                (1..=5 * EACH).map(|at| place(at, u32::try_from((at - 1) % 5).unwrap())).collect();
            expected.insert(3, place(3, 5));
            assert_eq!(read, expected);
        }
        drop(spool);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "the file has no name, or is gone");
    }
}
