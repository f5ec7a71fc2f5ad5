//! Results in a folder that all machines see, or in a bucket.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use assize_llm::HttpTransport;
use futures_util::TryStreamExt;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use crate::error::ClusterError;
use crate::seam::{Later, ResultStore};

/// Environment variables of the process.
pub(crate) type Variables = BTreeMap<String, String>;

/// File extension of results.
pub(crate) const ENDING: &str = ".tar.gz";

/// Refuses a location that other machines would read differently, or that holds a secret: locations are stored
/// with the job and shown. The error does not repeat the location.
///
/// # Errors
/// When it is a relative path, or an address with a user, a password, a query or a fragment.
pub fn check_results(place: &str) -> Result<(), ClusterError> {
    let refused = |why: &str| Err(ClusterError::Refused(format!("`--results` {why}")));
    if !place.contains("://") {
        return if Path::new(place).is_absolute() {
            Ok(())
        } else {
            refused("is a relative path, which names another folder on each machine; write the whole path")
        };
    }

    match url::Url::parse(place) {
        Ok(url) => {
            let has_user = !url.username().is_empty() || url.password().is_some();
            if has_user || url.query().is_some() || url.fragment().is_some() {
                return refused(
                    "is an address with a user, password or query, which would be stored and shown; set the usual variables \
                     of the provider instead",
                );
            }
            Ok(())
        }
        Err(error) => refused(&format!("is not an address: {error}")),
    }
}

/// Opens the results of a job in a folder, or at the address of a bucket such as `s3://bucket/folder`.
/// Credentials of buckets come from `variables`, the environment of the process.
///
/// # Errors
/// When the location can't be used.
pub fn open_results(
    place: &str,
    job: &str,
    variables: &Variables,
) -> Result<Arc<dyn ResultStore>, ClusterError> {
    Ok(Arc::new(BucketResults::open(place, job, variables)?))
}

/// Like [`open_results`], and checks that this process can read there, so that a missing bucket or missing
/// access is reported before workers pay for results that can't be stored.
///
/// # Errors
/// When the location can't be used or reached.
pub(crate) async fn reach_results(
    place: &str,
    job: &str,
    variables: &Variables,
) -> Result<Arc<dyn ResultStore>, ClusterError> {
    let results = BucketResults::open(place, job, variables)?;
    // A list request would do as well, but its errors don't say whether a retry helps.
    match results.store.get(&results.object(NO_UNIT)).await {
        Err(error @ object_store::Error::NotFound { .. }) if !is_bucket_missing(&error) => {}
        Err(error) => return Err(failed(&format!("use `{place}` for results"), error)),
        Ok(_) => {}
    }

    Ok(Arc::new(results))
}

/// A name that no unit has.
const NO_UNIT: &str = "0";

/// True if the bucket is missing rather than the object, according to the code in the server's answer.
fn is_bucket_missing(error: &object_store::Error) -> bool {
    let text = error.to_string();
    ["NoSuchBucket", "ContainerNotFound"].iter().any(|code| text.contains(code))
}

/// Results of a job as objects in a store.
pub(crate) struct BucketResults {
    store: Arc<dyn ObjectStore>,
    folder: ObjectPath,
}

impl BucketResults {
    /// Opens the results of a job in a folder or at an address such as `s3://bucket/folder`. Credentials of
    /// buckets come from `variables`.
    ///
    /// # Errors
    /// When the location can't be used.
    pub(crate) fn open(place: &str, job: &str, variables: &Variables) -> Result<Self, ClusterError> {
        check_results(place)?;
        let (store, folder) =
            if place.contains("://") { from_url(place, variables)? } else { from_folder(Path::new(place))? };

        Ok(Self { store, folder: folder.join(job) })
    }

    fn object(&self, name: &str) -> ObjectPath {
        self.folder.clone().join(format!("{name}{ENDING}"))
    }
}

fn from_folder(folder: &Path) -> Result<(Arc<dyn ObjectStore>, ObjectPath), ClusterError> {
    let failed = |error: &dyn std::fmt::Display| {
        ClusterError::storage(&format!("use `{}` for results", folder.display()), error)
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let store = object_store::local::LocalFileSystem::new_with_prefix(folder)
        .map_err(|error| failed(&error))?
        .with_fsync(true);

    Ok((Arc::new(store), ObjectPath::default()))
}

fn from_url(
    address: &str,
    variables: &Variables,
) -> Result<(Arc<dyn ObjectStore>, ObjectPath), ClusterError> {
    let failed =
        |error: &dyn std::fmt::Display| ClusterError::storage(&format!("use `{address}` for results"), error);
    let url = url::Url::parse(address).map_err(|error| failed(&error))?;
    if !cfg!(feature = "cloud") && url.scheme() != "file" {
        return Err(failed(&"this build has no support for buckets; build it with the feature `cloud`"));
    }
    // The client panics unless a TLS provider is installed, and every transport installs one.
    drop(HttpTransport::default());
    let is_meant = |name: &str| ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix));
    let options = variables.iter().filter(|(name, _)| is_meant(name));
    let options = options.map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    let (store, folder) = object_store::parse_url_opts(&url, options).map_err(|error| failed(&error))?;

    Ok((Arc::from(store), folder))
}

fn failed(what: &str, error: object_store::Error) -> ClusterError {
    match error {
        // May be temporary: the network is down, the disk is full.
        object_store::Error::Generic { .. } => ClusterError::unreachable(what, error),
        _ => ClusterError::storage(what, error),
    }
}

impl ResultStore for BucketResults {
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> Later<'a, bool> {
        Box::pin(async move {
            let options = PutOptions::from(PutMode::Create);
            match self.store.put_opts(&self.object(name), PutPayload::from(bytes), options).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                Err(error) => Err(failed(&format!("store the result of unit {name}"), error)),
            }
        })
    }

    fn contains<'a>(&'a self, name: &'a str) -> Later<'a, bool> {
        Box::pin(async move {
            match self.store.head(&self.object(name)).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(failed(&format!("look for the result of unit {name}"), error)),
            }
        })
    }

    fn get<'a>(&'a self, name: &'a str) -> Later<'a, Vec<u8>> {
        Box::pin(async move {
            let read = async { self.store.get(&self.object(name)).await?.bytes().await };
            match read.await {
                Ok(bytes) => Ok(bytes.to_vec()),
                Err(object_store::Error::NotFound { .. }) => {
                    Err(ClusterError::Damaged(format!("there is no `{}`", self.object(name))))
                }
                Err(error) => Err(failed(&format!("read the result of unit {name}"), error)),
            }
        })
    }

    fn discard<'a>(&'a self, name: &'a str) -> Later<'a, ()> {
        Box::pin(async move {
            match self.store.delete(&self.object(name)).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(failed(&format!("remove the result of unit {name}"), error)),
            }
        })
    }

    fn names(&self) -> Later<'_, Vec<String>> {
        Box::pin(async move {
            let objects = self.store.list(Some(&self.folder)).try_filter_map(|object| async move {
                let name = object.location.filename().and_then(|name| name.strip_suffix(ENDING));
                Ok(name.map(str::to_owned))
            });

            objects.try_collect().await.map_err(|error| failed("list the results", error))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_result_of_a_unit_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("results").display().to_string();
        let [one, two] = [(); 2].map(|()| BucketResults::open(&place, "job-1", &Variables::new()).unwrap());
        assert!(one.create("1.2", b"first".to_vec()).await.unwrap());
        assert!(!two.create("1.2", b"second".to_vec()).await.unwrap());
        assert_eq!(two.get("1.2").await.unwrap(), b"first");
        assert!(one.contains("1.2").await.unwrap() && !one.contains("1").await.unwrap());
        assert_eq!(two.names().await.unwrap(), ["1.2"]);
        for _ in 0..2 {
            one.discard("1.2").await.unwrap();
        }
        let gone = two.get("1.2").await;
        assert!(matches!(gone, Err(ClusterError::Damaged(_))), "{gone:?}");
        assert!(two.create("1.2", b"third".to_vec()).await.unwrap());
        assert!(
            BucketResults::open(&place, "job-2", &Variables::new())
                .unwrap()
                .names()
                .await
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn places_that_mean_something_else_elsewhere_or_hold_secrets_are_refused_without_repeating_them() {
        for place in ["/mnt/results", "file:///mnt/results", "s3://results/evals", "gs://results"] {
            check_results(place).unwrap();
        }
        for (place, words) in [
            ("results", "relative path"),
            ("./hidden", "relative path"),
            ("s3://hidden@results", "user, password or query"),
            ("s3://me:hidden@results/evals", "user, password or query"),
            ("az://results/evals?sig=hidden", "user, password or query"),
            ("az://results/evals#hidden", "user, password or query"),
            ("://hidden", "is not an address"),
        ] {
            let error = check_results(place).unwrap_err().to_string();
            assert!(error.contains(words) && !error.contains("hidden"), "{place}: {error}");
            let opened = BucketResults::open(place, "job", &Variables::new()).err().unwrap().to_string();
            assert_eq!(opened, error);
        }
    }

    #[cfg(not(feature = "cloud"))]
    #[test]
    fn a_build_without_buckets_says_so() {
        let error =
            BucketResults::open("s3://results/evals", "job", &Variables::new()).err().unwrap().to_string();
        assert!(error.contains("feature `cloud`"), "{error}");
    }
}
