//! Unpacks the stored results of a job into run folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::bucket::{ENDING, Variables, check_results, open_results};
use crate::error::ClusterError;
use crate::pack::unpack;
use crate::seal::{JobSecret, open_result};
use crate::seam::ResultStore;
use crate::unit::{UnitName, covering_units};
use crate::worker::CLUSTER_FOLDER;

/// Run folders of the units of a job. Dropping this removes them.
#[derive(Debug)]
pub struct UnpackedJob {
    folder: PathBuf,
    /// The run folders, in the order of their units.
    pub runs: Vec<PathBuf>,
}

impl Drop for UnpackedJob {
    fn drop(&mut self) {
        // A failure leaves only unused files behind.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// True for the location of the results of a job: an address, or a folder that has results and is not a run.
pub fn is_job(place: &str) -> bool {
    if place.contains("://") {
        return true;
    }

    let unit = |name: &str| name.strip_suffix(ENDING).is_some_and(|name| name.parse::<UnitName>().is_ok());
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(unit))
}

/// Unpacks the results of a job, such as `/mnt/results/JOB` or `s3://BUCKET/FOLDER/JOB`, in a working folder.
/// If a unit was halved but also has a whole result, the whole result is used. With a secret, results that are not signed
/// with it are refused.
///
/// # Errors
/// When the location can't be read, holds no results, or one of them is damaged.
pub async fn unpack_job(
    place: &str,
    variables: &Variables,
    working_folder: &Path,
    secret: Option<&JobSecret>,
) -> Result<UnpackedJob, ClusterError> {
    let (parent, job) = split(place)?;
    let results = open_results(&parent, &job, variables)?;
    let names = results.names().await?;
    let done: BTreeSet<UnitName> = names.iter().filter_map(|name| name.parse().ok()).collect();
    // Names come in the order of shards.
    let Some(last) = done.last().map(|unit| unit.shard) else {
        return Err(ClusterError::Refused(format!("`{job}` has no results of a job")));
    };

    let own = format!("merge-{}", uuid::Uuid::new_v4().simple());
    let folder = working_folder.join(CLUSTER_FOLDER).join(own);
    std::fs::create_dir_all(&folder).map_err(|error| ClusterError::storage("unpack results", error))?;
    let mut unpacked = UnpackedJob { folder, runs: Vec::new() };
    for unit in covering_units(last, &done) {
        let run = unpacked.folder.join(unit.to_string());
        let unpacking = unpack_signed(&*results, &job, &unit, run.clone(), secret);
        unpacking.await.map_err(|error| match error {
            ClusterError::Damaged(why) => ClusterError::Damaged(format!(
                "{why}. Remove `{unit}{ENDING}` from `{place}`, and run the command of the job with `--resume`, or merge the \
                 others with `--allow-missing`"
            )),
            error => error,
        })?;
        unpacked.runs.push(run);
    }

    Ok(unpacked)
}

/// Unpacks a stored result whose signature is checked if there is a secret.
async fn unpack_signed(
    results: &dyn ResultStore,
    job: &str,
    unit: &UnitName,
    folder: PathBuf,
    secret: Option<&JobSecret>,
) -> Result<(), ClusterError> {
    let Some(secret) = secret else { return unpack_stored(results, unit, folder).await };
    let name = unit.to_string();
    let opening = async { unpack(open_result(secret, job, &name, results.get(&name).await?)?, folder).await };
    opening.await.map_err(|error| damaged(unit, error))
}

/// Unpacks a stored result into a folder that does not exist yet.
///
/// # Errors
/// [`ClusterError::Damaged`] when the stored bytes are not a result; another error when it can't be read, or
/// files can't be written.
pub(crate) async fn unpack_stored(
    results: &dyn ResultStore,
    unit: &UnitName,
    folder: PathBuf,
) -> Result<(), ClusterError> {
    let unpacking = async { unpack(results.get(&unit.to_string()).await?, folder).await };
    unpacking.await.map_err(|error| damaged(unit, error))
}

fn damaged(unit: &UnitName, error: ClusterError) -> ClusterError {
    match error {
        ClusterError::Damaged(why) => {
            ClusterError::Damaged(format!("the stored result of unit {unit} is damaged: {why}"))
        }
        error => error,
    }
}

/// The location of the results of all jobs, and the name of one job in it.
fn split(place: &str) -> Result<(String, String), ClusterError> {
    if place.contains("://") {
        check_results(place)?;
        let (parent, job) = place.trim_end_matches('/').rsplit_once('/').unwrap_or_default();
        if parent.ends_with('/') || job.is_empty() {
            return Err(ClusterError::Refused(
                "the address names no job; add the name of its folder".to_owned(),
            ));
        }
        return Ok((parent.to_owned(), job.to_owned()));
    }

    let failed = |error| ClusterError::storage(&format!("read `{place}`"), error);
    let whole = Path::new(place).canonicalize().map_err(failed)?;
    match (whole.parent(), whole.file_name()) {
        (Some(parent), Some(job)) => Ok((parent.display().to_string(), job.to_string_lossy().into_owned())),
        _ => Err(ClusterError::Refused(format!("`{place}` is not the folder of a job"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::pack;

    #[tokio::test]
    async fn stored_results_become_run_folders_for_as_long_as_they_are_needed() {
        let place = tempfile::tempdir().unwrap();
        let (run, job) = (place.path().join("run"), place.path().join("jobs/job-1"));
        std::fs::create_dir_all(&run).unwrap();
        std::fs::create_dir_all(&job).unwrap();
        assert!(!is_job(&job.display().to_string()) && !is_job("nowhere"));
        std::fs::write(run.join("run.json"), "{}").unwrap();
        let bytes = pack(run).await.unwrap();
        for name in ["1.1.tar.gz", "2.tar.gz", "2.1.tar.gz", "10.tar.gz", "notes.tar.gz"] {
            std::fs::write(job.join(name), &bytes).unwrap();
        }

        let name = job.display().to_string();
        assert!(is_job(&name));
        let here = place.path();
        let unpacked = unpack_job(&name, &Variables::new(), here, None).await.unwrap();
        let names: Vec<_> = unpacked.runs.iter().map(|run| run.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["1.1", "2", "10"]);
        assert!(unpacked.runs.iter().all(|run| run.join("run.json").exists()));
        drop(unpacked);
        assert_eq!(std::fs::read_dir(here.join(CLUSTER_FOLDER)).unwrap().count(), 0);

        std::fs::write(job.join("2.tar.gz"), &bytes[..bytes.len() - 4]).unwrap();
        let damaged =
            unpack_job(&name, &Variables::new(), here, None).await.map(|_| ()).unwrap_err().to_string();
        for part in ["result of unit 2 is damaged", "Remove `2.tar.gz` from `", "`--allow-missing`"] {
            assert!(damaged.contains(part), "{damaged}");
        }

        let other = place.path().join("jobs/other");
        std::fs::create_dir(&other).unwrap();
        let empty = unpack_job(&other.display().to_string(), &Variables::new(), here, None).await;
        let error = empty.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("has no results of a job"), "{error}");
        for address in ["s3://bucket", "s3://bucket/?sig=hidden"] {
            assert!(unpack_job(address, &Variables::new(), here, None).await.is_err(), "{address}");
        }
    }
}
