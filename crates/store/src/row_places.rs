//! Positions of the rows of many runs, in the order of the plan.

use std::num::NonZeroU64;
use std::path::Path;

use crate::{RecordPosition, SortedRecords, StoreError};

/// Number of integers of a position, and of a question's hash with its position.
const PLACE_LEN: usize = 6;
const ASKED_LEN: usize = 2 + PLACE_LEN;

/// Position of a case's rows in its run.
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
    /// Offset in `questions.jsonl` plus 1; `None` if there is no row.
    pub(crate) question: Option<NonZeroU64>,
}

impl RowPlace {
    /// Converts the position to a record. Records are ordered by place and then by run.
    fn to_record(self) -> [u64; PLACE_LEN] {
        let RecordPosition { result, judgements } = self.at;
        let run = u64::from(self.source) << 32 | u64::from(self.inputs_length);
        let question = self.question.map_or(0, NonZeroU64::get);
        [self.place, run, result, judgements, self.inputs, question]
    }

    fn from_record([place, run, result, judgements, inputs, question]: [u64; PLACE_LEN]) -> Self {
        Self {
            place,
            source: (run >> 32) as u32,
            inputs_length: run as u32,
            at: RecordPosition { result, judgements },
            inputs,
            question: NonZeroU64::new(question),
        }
    }
}

/// Positions of rows; if there are many, they are in a file.
#[derive(Debug)]
pub(crate) struct PlaceSpool {
    places: SortedRecords<PLACE_LEN>,
    /// Positions of rows that have a question, ordered by the question's hash.
    asked: SortedRecords<ASKED_LEN>,
    last_place: u64,
}

impl PlaceSpool {
    /// Creates an empty list. Its file would be in the nearest existing folder above the target.
    pub(crate) fn new(target: &Path) -> Self {
        let beside = target.parent().unwrap_or(target);
        Self { places: SortedRecords::new(beside), asked: SortedRecords::new(beside), last_place: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() + self.asked.len()
    }

    /// Highest place; 0 if there are no positions.
    pub(crate) fn last_place(&self) -> u64 {
        self.last_place
    }

    /// Adds a position, with the hash of its question if the question has a row.
    pub(crate) fn push(&mut self, place: RowPlace, question_hash: Option<[u8; 16]>) {
        self.last_place = self.last_place.max(place.place);
        match question_hash {
            None => self.places.push(place.to_record()),
            Some(hash) => {
                let hash = u128::from_be_bytes(hash);
                let [at, run, result, judgements, inputs, question] = place.to_record();
                let [high, low] = [(hash >> 64) as u64, hash as u64];
                self.asked.push([high, low, at, run, result, judgements, inputs, question]);
            }
        }
    }

    /// Removes the question from all but its first case, because the merged run has one row for each
    /// question.
    pub(crate) fn ask_once(&mut self) -> Result<(), StoreError> {
        let mut before = None;
        for record in std::mem::take(&mut self.asked).in_order()? {
            let [high, low, place @ ..] = record?;
            let mut place = RowPlace::from_record(place);
            if before.replace([high, low]) == Some([high, low]) {
                place.question = None;
            }
            self.places.push(place.to_record());
        }

        Ok(())
    }

    /// Returns all positions, ordered by place and then by run. Only the first case with a question has its
    /// position.
    pub(crate) fn in_order(
        &mut self,
    ) -> Result<impl Iterator<Item = Result<RowPlace, StoreError>>, StoreError> {
        self.ask_once()?;
        Ok(self.places.in_order()?.map(|record| record.map(RowPlace::from_record)))
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
        const EACH: u64 = 20_000;
        let home = tempfile::tempdir().unwrap();
        let mut spool = PlaceSpool::new(&home.path().join("not/there"));
        assert_eq!(spool.in_order().unwrap().count(), 0);
        for source in 0..5 {
            // The later half first.
            for number in (EACH / 2..EACH).chain(0..EACH / 2) {
                spool.push(place(number * 5 + u64::from(source) + 1, source), None);
            }
        }
        spool.push(place(3, 5), None);

        assert_eq!((spool.len() as u64, spool.last_place()), (5 * EACH + 1, 5 * EACH));
        for _ in 0..2 {
            let read: Vec<RowPlace> = spool.in_order().unwrap().map(Result::unwrap).collect();
            let mut expected: Vec<RowPlace> =
                (1..=5 * EACH).map(|at| place(at, u32::try_from((at - 1) % 5).unwrap())).collect();
            expected.insert(3, place(3, 5));
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn a_question_is_named_by_its_first_row_alone() {
        let home = tempfile::tempdir().unwrap();
        let mut spool = PlaceSpool::new(&home.path().join("run"));
        for (at, hash) in [(5, Some(1)), (3, Some(1)), (1, None), (7, Some(2)), (9, Some(1))] {
            spool.push(place(at, 0), hash.map(|hash| [hash; 16]));
        }
        let named = |spool: &mut PlaceSpool| -> Vec<(u64, bool)> {
            let places = spool.in_order().unwrap().map(Result::unwrap);
            places.map(|place| (place.place, place.question.is_some())).collect()
        };
        let expected = [(1, true), (3, true), (5, false), (7, true), (9, false)];
        assert_eq!(named(&mut spool), expected);
        assert_eq!(named(&mut spool), expected);
    }
}
