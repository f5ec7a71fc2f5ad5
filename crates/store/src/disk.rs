//! The few disk operations that run folders and the reply cache use, in one place, so that tests can make each of them
//! fail.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::private_file::private_options;

/// A file that is written to.
#[derive(Debug)]
pub(crate) struct DiskFile {
    file: File,
    #[cfg(test)]
    faults: faults::FaultPlan,
}

impl DiskFile {
    /// Creates a file, or empties one.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Self::open(private_options().create(true).write(true).truncate(true), path)
    }

    /// Opens a file for appending, creating it if it is missing.
    pub(crate) fn append(path: &Path) -> io::Result<Self> {
        Self::open(private_options().create(true).append(true), path)
    }

    /// Creates a file for appending. An existing file is an error.
    pub(crate) fn append_new(path: &Path) -> io::Result<Self> {
        Self::open(private_options().create_new(true).append(true), path)
    }

    fn open(options: &fs::OpenOptions, path: &Path) -> io::Result<Self> {
        #[cfg(test)]
        let faults = faults::FaultPlan::current();
        #[cfg(test)]
        faults.step(faults::DiskStep::Open)?;

        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }

        Ok(Self {
            file,
            #[cfg(test)]
            faults,
        })
    }

    /// Locks the file against other writers while it is open.
    pub(crate) fn try_lock(&self) -> Result<(), fs::TryLockError> {
        self.file.try_lock()
    }

    /// Opens the same file again.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            file: self.file.try_clone()?,
            #[cfg(test)]
            faults: self.faults.clone(),
        })
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Truncates the file to a length in bytes.
    pub(crate) fn set_len(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Syncs everything written to disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.step(faults::DiskStep::Sync)?;

        self.file.sync_all()
    }
}

impl Write for &DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        let bytes =
            &bytes[..self.faults.write(bytes.len(), |some| (&self.file).write_all(&bytes[..some]))?];

        (&self.file).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.file).flush()
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self).flush()
    }
}

/// Replaces a file by another one, in one step that survives a loss of power.
pub(crate) fn replace(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(test)]
    faults::FaultPlan::current().step(faults::DiskStep::Rename)?;

    fs::rename(from, to)?;
    sync_folder(to.parent().unwrap_or(Path::new(".")))
}

/// Syncs the names in a folder to disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(test)]
    faults::FaultPlan::current().step(faults::DiskStep::SyncFolder)?;

    // Other systems sync names on their own, and can't open a folder.
    #[cfg(unix)]
    {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }

    #[cfg(not(unix))]
    let _ = folder;

    Ok(())
}

#[cfg(test)]
pub(crate) mod faults {
    //! Simulated disk faults, at the n-th operation on a thread's files.

    use std::cell::RefCell;
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;

    /// Kind of operation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum DiskStep {
        Open,
        Write,
        Sync,
        Rename,
        SyncFolder,
        /// Part of a transaction of the database, which writes its files on its own.
        Transaction,
    }

    /// Fault of an operation.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum DiskFault {
        /// The operation fails with this error, and so do all later ones of the same kind.
        Error(io::ErrorKind),
        /// Half of the bytes are written, then the operation fails.
        ShortWrite(io::ErrorKind),
        /// The operation fails with this error, and so do all later ones of any kind.
        Gone(io::ErrorKind),
    }

    #[derive(Debug, Default)]
    struct PlanState {
        steps: usize,
        fault: Option<(usize, DiskFault)>,
        /// Kind of operation that failed.
        failed: Option<DiskStep>,
    }

    /// Fault plan of the files that a thread opens.
    #[derive(Debug, Clone, Default)]
    pub(crate) struct FaultPlan {
        state: Arc<Mutex<PlanState>>,
    }

    thread_local! {
        static CURRENT: RefCell<FaultPlan> = RefCell::default();
    }

    impl FaultPlan {
        /// Sets the plan for files that this thread opens from now on: operation `nth`, from 0, fails with
        /// `fault`.
        pub(crate) fn begin(nth: usize, fault: DiskFault) -> Self {
            let plan = Self::default();
            plan.lock().fault = Some((nth, fault));
            CURRENT.with(|current| *current.borrow_mut() = plan.clone());
            plan
        }

        /// Removes this thread's plan.
        pub(crate) fn end() {
            CURRENT.with(|current| *current.borrow_mut() = Self::default());
        }

        /// Makes it this thread's plan as well.
        pub(crate) fn adopt(self) {
            CURRENT.with(|current| *current.borrow_mut() = self);
        }

        pub(crate) fn current() -> Self {
            CURRENT.with(|current| current.borrow().clone())
        }

        /// Kind of operation that failed, if any.
        pub(crate) fn failed(&self) -> Option<DiskStep> {
            self.lock().failed
        }

        fn lock(&self) -> parking_lot::MutexGuard<'_, PlanState> {
            self.state.lock()
        }

        /// Counts an operation and returns its fault.
        fn fault_of(&self, step: DiskStep) -> Option<DiskFault> {
            let mut state = self.lock();
            let (nth, fault) = state.fault?;
            let number = state.steps;
            state.steps += 1;

            let goes_on = matches!(fault, DiskFault::Gone(_)) && number > nth;
            if number == nth || goes_on || state.failed == Some(step) {
                state.failed.get_or_insert(step);
                return Some(fault);
            }

            None
        }

        /// Counts a part of a transaction, and reports its fault as the database would.
        pub(crate) fn transaction(&self) -> rusqlite::Result<()> {
            self.step(DiskStep::Transaction).map_err(|error| {
                let code = match error.kind() {
                    io::ErrorKind::StorageFull => rusqlite::ffi::SQLITE_FULL,
                    _ => rusqlite::ffi::SQLITE_IOERR,
                };
                rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
            })
        }

        pub(super) fn step(&self, step: DiskStep) -> io::Result<()> {
            match self.fault_of(step) {
                Some(DiskFault::Error(kind) | DiskFault::ShortWrite(kind) | DiskFault::Gone(kind)) => {
                    Err(kind.into())
                }
                None => Ok(()),
            }
        }

        /// Simulates the fault of a write. Returns the number of bytes that are still to be written.
        pub(super) fn write(
            &self,
            length: usize,
            write: impl FnOnce(usize) -> io::Result<()>,
        ) -> io::Result<usize> {
            match self.fault_of(DiskStep::Write) {
                None => Ok(length),
                Some(DiskFault::Error(kind) | DiskFault::Gone(kind)) => Err(kind.into()),
                Some(DiskFault::ShortWrite(kind)) => {
                    write(length / 2)?;
                    Err(kind.into())
                }
            }
        }
    }
}
