//! Items of one reviewer: selected, sorted, and separate from decided items.

use assize_engine::{EngineError, id_patterns};

use crate::{
    ReviewItem, ReviewLabelMetadata, ReviewMaterial, ReviewOptions, ReviewOrder, ReviewReason,
    ReviewerLabelFile,
};

/// Items of one reviewer, in order.
#[derive(Debug, Clone)]
pub struct ReviewQueue {
    /// Items that the reviewer has to label, including decided ones.
    pub items: Vec<ReviewItem>,
    /// Items that can only be decided by name.
    pub others: Vec<ReviewItem>,
    /// True if the order should prefer doubtful or rare items, but all items have the same probability.
    pub is_plain_draw: bool,
    given: ReviewLabelMetadata,
    order: ReviewOrder,
}

impl ReviewQueue {
    /// Selects and sorts the items of a reviewer, and marks those with a label for an earlier version.
    ///
    /// # Errors
    /// If a pattern is not valid, or no item has such a case and criterion.
    pub fn new(
        material: ReviewMaterial,
        options: &ReviewOptions,
        given: &ReviewLabelMetadata,
        labels: &ReviewerLabelFile,
    ) -> Result<Self, EngineError> {
        let ids = id_patterns(&options.filter)?;
        let is_selected = |item: &ReviewItem| {
            ids.as_ref().is_none_or(|ids| ids.is_match(&item.case))
                && (options.criteria.is_empty() || options.criteria.contains(&item.criterion))
        };

        let ReviewMaterial { mut items, mut others, .. } = material;
        let all = items.len() + others.len();
        items.retain(&is_selected);
        others.retain(&is_selected);
        if items.is_empty() && others.is_empty() && all > 0 {
            return Err(EngineError::usage(format!("none of the {all} items has such a case and criterion")));
        }

        // The draw comes before decided items are removed, so a seed always gives the same draw.
        let is_plain_draw = options.order.is_plain_draw(&items);
        let listed = options.order.select_items(&mut items, options.limit);
        others.extend(items.split_off(listed));
        for item in items.iter_mut().chain(&mut others) {
            item.is_stale |= labels.has_stale_label(item);
        }

        Ok(Self { items, others, is_plain_draw, given: given.clone(), order: options.order })
    }

    /// Moves the items that the reviewer has decided to the others.
    #[must_use]
    pub fn without_decided(mut self, labels: &ReviewerLabelFile) -> Self {
        let is_done = |item: &ReviewItem| labels.has_label(item, &self.given);
        let (done, open): (Vec<_>, Vec<_>) = self.items.into_iter().partition(is_done);
        self.items = open;
        self.others.extend(done);
        self
    }

    /// Adds the items that left the queue because the reviewer has decided them, so that a continued review
    /// has as many items as before.
    #[must_use]
    pub fn with_decided(mut self, labels: &ReviewerLabelFile) -> Self {
        if self.order == ReviewOrder::Queue {
            let left =
                |item: &ReviewItem| item.why != ReviewReason::Check && labels.has_label(item, &self.given);
            let (done, others): (Vec<_>, Vec<_>) = self.others.into_iter().partition(left);
            self.others = others;
            self.items.extend(done);
            self.order.sort_items(&mut self.items);
        }
        self
    }
}
