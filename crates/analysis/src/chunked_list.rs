//! Append-only list for the data kept about each case of a run.

/// Values per chunk: large enough that chunks are few, small enough that a small run allocates little.
const CHUNK_SIZE: usize = 1024;

/// Values in chunks. A full chunk is never copied, whereas a `Vec` copies everything when it grows and needs
/// up to three times its size meanwhile.
#[derive(Debug, Clone)]
pub(crate) struct ChunkedList<T>(Vec<Vec<T>>);

impl<T> Default for ChunkedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ChunkedList<T> {
    pub(crate) fn push(&mut self, value: T) {
        match self.0.last_mut() {
            Some(last) if last.len() < CHUNK_SIZE => last.push(value),
            _ => {
                let mut piece = Vec::with_capacity(CHUNK_SIZE);
                piece.push(value);
                self.0.push(piece);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_in_order_and_where_they_are() {
        let mut pieces = ChunkedList::default();
        assert_eq!((pieces.len(), pieces.iter().next()), (0, None));
        pieces.push(0);
        let first = std::ptr::from_ref(pieces.iter().next().unwrap());
        for value in 1..3 * CHUNK_SIZE {
            pieces.push(value);
        }
        assert_eq!(pieces.len(), 3 * CHUNK_SIZE);
        assert!(pieces.iter().copied().eq(0..3 * CHUNK_SIZE));
        assert!(std::ptr::eq(first, pieces.iter().next().unwrap()));
    }
}
