//! Reviews in progress: one for each person and kind, each with its own token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assize_engine::{LabelOptions, ProcessContext, write_review_list};
use assize_review::OngoingReview;
use assize_store::RunFolder;
use parking_lot::{Mutex, MutexGuard, RwLock};

/// Context for deriving reviewers' tokens from the server's token.
const TOKEN_CONTEXT: &str = "assize view 1: token of a reviewer";
/// Length of an id in characters.
const ID_LENGTH: usize = 12;
/// Length of a token in characters.
const TOKEN_LENGTH: usize = 32;

/// A review that a server offers to one person.
pub struct OfferedReview {
    /// Name of the reviewed object, such as the name of a suite.
    pub title: String,
    /// Text that is the same for all reviews of the same items, such as the path of a run.
    pub subject: String,
    /// The review.
    pub review: OngoingReview,
}

/// A review that pages show.
pub(crate) struct RegisteredReview {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) title: String,
    pub(crate) who: String,
    pub(crate) subject: String,
    /// Page that leaving leads to, for visitors who may see all pages; `None` for visitors who may see only
    /// this review.
    pub(crate) home: Option<String>,
    /// The reviewed run, if this server writes the list of items that wait for people into it.
    run: Option<RunFolder>,
    /// True if labels were added since that list was written.
    has_new_labels: AtomicBool,
    review: Mutex<OngoingReview>,
}

impl RegisteredReview {
    pub(crate) fn lock(&self) -> MutexGuard<'_, OngoingReview> {
        self.review.lock()
    }

    /// Address of its pages.
    pub(crate) fn url(&self) -> String {
        format!("/review/{}", self.id)
    }

    /// Records that a label was added.
    pub(crate) fn note_label(&self) {
        self.has_new_labels.store(true, Ordering::Relaxed);
    }

    /// Writes the list of items that still wait for people into the run, if labels were added. The list can be computed
    /// again from the labels, so errors are ignored.
    pub(crate) fn write_list(&self, process: &ProcessContext) {
        let Some(run) = &self.run else { return };
        if self.has_new_labels.swap(false, Ordering::Relaxed)
            && write_review_list(run, &LabelOptions::default(), process).is_err()
        {
            self.note_label();
        }
    }
}

/// All reviews of a server.
pub(crate) struct ReviewRegistry {
    /// Token of the server. Reviewers' tokens are derived from it, so they stay the same while it does.
    secret: Arc<str>,
    reviews: RwLock<Vec<Arc<RegisteredReview>>>,
}

impl ReviewRegistry {
    pub(crate) fn new(secret: Arc<str>) -> Self {
        Self { secret, reviews: RwLock::default() }
    }

    /// Adds a review. It replaces an earlier one by the same person of the same items.
    ///
    /// `home` is the page that leaving leads to; `run` is the reviewed run.
    pub(crate) fn add(
        &self,
        offered: OfferedReview,
        home: Option<(String, RunFolder)>,
    ) -> Arc<RegisteredReview> {
        let OfferedReview { title, subject, review } = offered;
        let identity = format!("{subject}\n{}", review.identity());
        let mut id = blake3::hash(identity.as_bytes()).to_hex().to_string();
        id.truncate(ID_LENGTH);

        let key = blake3::derive_key(TOKEN_CONTEXT, self.secret.as_bytes());
        let mut token = blake3::keyed_hash(&key, id.as_bytes()).to_hex().to_string();
        token.truncate(TOKEN_LENGTH);

        let who = review.who().to_owned();
        let (home, run) = home.unzip();
        let added = Arc::new(RegisteredReview {
            id,
            token,
            title,
            who,
            subject,
            home,
            run,
            has_new_labels: AtomicBool::new(false),
            review: Mutex::new(review),
        });
        let mut reviews = self.reviews.write();
        reviews.retain(|other| other.id != added.id);
        reviews.push(Arc::clone(&added));

        added
    }

    pub(crate) fn all(&self) -> Vec<Arc<RegisteredReview>> {
        self.reviews.read().clone()
    }

    /// Finds the review that a token opens.
    pub(crate) fn by_token(&self, given: &str) -> Option<Arc<RegisteredReview>> {
        // The time to compare hashes does not show where the texts differ.
        let given = blake3::hash(given.as_bytes());
        self.all().into_iter().find(|review| blake3::hash(review.token.as_bytes()) == given)
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<Arc<RegisteredReview>> {
        self.all().into_iter().find(|review| review.id == id)
    }

    /// Notifies the other reviews of the same items that a reviewer has decided one of them.
    pub(crate) fn tell_others(&self, subject: &str, who: &str, key: &str) {
        let others = self.all();
        let others = others.iter().filter(|other| other.subject == subject && other.who != who);
        for other in others {
            other.lock().decided_by_other(key);
        }
    }
}
