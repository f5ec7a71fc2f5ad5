//! Reviews that go on: one for each person and kind, each behind a token of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use assize_engine::{LabelOptions, ProcessContext, write_review_list};
use assize_review::OngoingReview;
use assize_store::RunFolder;

/// Context in which tokens of reviewers are derived from the token of the server.
const TOKEN_CONTEXT: &str = "assize view 1: token of a reviewer";
/// Characters of an id.
const ID_LENGTH: usize = 12;
/// Characters of a token.
const TOKEN_LENGTH: usize = 32;

/// A review that a server offers to one person.
pub struct OfferedReview {
    /// Name of what is reviewed, such as that of a suite.
    pub title: String,
    /// Text that is the same for all reviews of the same items, such as the path of a run.
    pub subject: String,
    /// The review.
    pub review: OngoingReview,
}

/// A review that pages show.
pub(crate) struct RegisteredReview {
    pub(crate) id: String,
    token: String,
    pub(crate) title: String,
    pub(crate) who: String,
    subject: String,
    /// Page to which leaving leads, for who may see all pages; `None` for who may see this review only.
    pub(crate) home: Option<String>,
    /// The run that is reviewed, if the list of what waits for people is written into it from here.
    run: Option<RunFolder>,
    /// True if labels were added since that list was written.
    has_new_labels: AtomicBool,
    review: Mutex<OngoingReview>,
}

impl RegisteredReview {
    pub(crate) fn lock(&self) -> MutexGuard<'_, OngoingReview> {
        self.review.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Address of its pages.
    pub(crate) fn url(&self) -> String {
        format!("/review/{}", self.id)
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Remembers that a label was added.
    pub(crate) fn note_label(&self) {
        self.has_new_labels.store(true, Ordering::Relaxed);
    }

    /// Writes what still waits for people into the run, if labels were added. Labels are the record: without this list, which
    /// repeats what they leave open, nothing is lost.
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
    /// Token of the server, from which those of reviewers follow: they stay the same as long as it does.
    secret: Arc<str>,
    reviews: RwLock<Vec<Arc<RegisteredReview>>>,
}

impl ReviewRegistry {
    pub(crate) fn new(secret: Arc<str>) -> Self {
        Self { secret, reviews: RwLock::default() }
    }

    /// Adds a review. One by the same person of the same items takes the place of the earlier one.
    ///
    /// `home` leads out of it, to a page of the run `run`.
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
        let mut reviews = self.reviews.write().unwrap_or_else(PoisonError::into_inner);
        reviews.retain(|other| other.id != added.id);
        reviews.push(Arc::clone(&added));

        added
    }

    fn all(&self) -> Vec<Arc<RegisteredReview>> {
        self.reviews.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes the lists of all runs to which labels were added.
    pub(crate) fn write_lists(&self, process: &ProcessContext) {
        self.all().iter().for_each(|review| review.write_list(process));
    }

    /// Finds the review that a token is for.
    pub(crate) fn by_token(&self, given: &str) -> Option<Arc<RegisteredReview>> {
        // Equality of hashes takes the same time wherever texts differ.
        let given = blake3::hash(given.as_bytes());
        self.all().into_iter().find(|review| blake3::hash(review.token.as_bytes()) == given)
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<Arc<RegisteredReview>> {
        self.all().into_iter().find(|review| review.id == id)
    }

    /// Tells the other reviewers of the same items that one of them was decided.
    pub(crate) fn tell_others(&self, decided: &RegisteredReview, key: &str) {
        let others = self.all();
        let others =
            others.iter().filter(|other| other.subject == decided.subject && other.who != decided.who);
        for other in others {
            other.lock().decided_by_other(key);
        }
    }
}
