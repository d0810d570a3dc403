//! The folder on a disk.

use super::Progress;
use super::norms::{self, NORMS};
use crate::files::{
    self, FileError, Locked, LockedError, allocate, free_space, read_text, sync_folder,
    write_atomically,
};
use crate::grid::memory::human;
use crate::number::{fnv, fnv_of_text, rounded};
use crate::problem::{Problem, Source};
use crate::run::history::Record;
use crate::run::initial_guess::InitialGuess;
use crate::run::plan::Plan;
use crate::run::spec::{MethodSpec, RunSpec, StopSpec, place};
use crate::run::toml_message;
use crate::solver::{ArrayFiles, Height, SOLVER_ARRAYS};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the checkpoint.
const VERSION: u32 = 1;

/// The file that says which run the folder belongs to, and how far it has come.
const CHECKPOINT: &str = "checkpoint.toml";

/// A file longer than this is no checkpoint.
const LONGEST: u64 = 1 << 20;

/// The files of the arrays: the iterate after an even and after an odd number of passes, and the right-hand side over the
/// diagonal. Each has the stored values of a field, in the precision of the run and the byte order of the machine.
const ARRAYS: [&str; SOLVER_ARRAYS] = ["iterate-even", "iterate-odd", "right-hand-side"];

/// The folder of a run that streams, in which its arrays lie, locked by this process.
///
/// Nothing else may change the files while a run works with them: the values would be wrong, and a file that becomes shorter
/// ends the process (by SIGBUS, which the program explains). Locks keep other processes of this program out, and no others.
#[derive(Debug)]
pub struct Store {
    locked: Arc<Locked>,
    checkpoint: Checkpoint,
    /// The norms of the passes that were made; `None` where some are not known.
    norms: Option<Vec<Record>>,
}

/// What the file of the checkpoint has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Checkpoint {
    version: u32,
    /// A number that stands for the values that the run reads from files.
    input: String,
    /// One that stands for the rest of this file, which only the program changes; older programs wrote none.
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
    /// None while the arrays are being made.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    /// The run, as far as its iterates depend on it.
    run: RunSpec,
}

/// Why a folder cannot be the store of a run. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be made or written, or another process uses it.
    #[error(transparent)]
    Locked(#[from] LockedError),
    /// A file in it cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The path leads to a file.
    #[error("store is {}; it must be a folder, and this is a file", .path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// There is less room on the disk than the arrays take.
    #[error("the arrays of this run take {} in {}, and its disk has {} free", human(*.needed), .path.display(), human(*.free))]
    Room {
        /// The folder.
        path: PathBuf,
        /// Bytes that the arrays take.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// It belongs to another run.
    #[error("{} belongs to another run, which {CHECKPOINT} in it describes; continue that one, or name another folder", .path.display())]
    OtherRun {
        /// The folder.
        path: PathBuf,
    },
    /// A file that the run reads has other values than at its start.
    #[error("the right-hand side or the initial guess of the run in {} has changed since it began; restore the file, or name another folder", .path.display())]
    OtherInput {
        /// The folder.
        path: PathBuf,
    },
    /// It has made more passes than the run may.
    #[error("the run in {} has made {passes} passes; max_cycles must be at least {passes}", .path.display())]
    Passed {
        /// The folder.
        path: PathBuf,
        /// Passes made.
        passes: u64,
    },
    /// The file of the checkpoint is not one.
    #[error("{} is no checkpoint of this program: {what}", .path.display())]
    NoCheckpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Something in the checkpoint is not as the program wrote it.
    #[error("{} was changed after the run wrote it, or is damaged; name another folder", .path.display())]
    Edited {
        /// The file.
        path: PathBuf,
    },
    /// A file has the name of an array, and there is no checkpoint.
    #[error("{} is not of a run: there is no {CHECKPOINT} beside it; name another folder", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Its iterate is not the one that the checkpoint describes.
    #[error("the iterate in {} is not the one of {CHECKPOINT}, which records ‖r‖₂ = {}: a file was changed or damaged; name another folder", .path.display(), rounded(*.recorded))]
    OtherIterate {
        /// The folder.
        path: PathBuf,
        /// ‖r‖₂ as the checkpoint has it.
        recorded: f64,
    },
    /// The file of an array has another length.
    #[error("{} has {length} bytes, and the array has {expected}; the run cannot go on: name another folder, or delete this one", .path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        length: u64,
        /// That of the array.
        expected: u64,
    },
}

impl Store {
    /// Locks the folder of a run, which is made if it is not there, and reads how far the run has come. Of a new store
    /// the arrays get their place on the disk.
    ///
    /// # Errors
    /// [`StoreError`] if the folder cannot be used for this run.
    pub fn open(path: &Path, plan: &Plan) -> Result<Self, StoreError> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
            return Err(StoreError::NoFolder { path: path.to_owned() });
        }
        let locked = Arc::new(Locked::new(path)?);
        let run = essence(plan);
        let input = input(&plan.problem);
        let new = Checkpoint { version: VERSION, input, checksum: None, progress: None, run };
        let mut store = Self { locked, checkpoint: new, norms: None };
        match store.begin(plan) {
            Ok(()) => Ok(store),
            Err(refused) => {
                if let Some(locked) = Arc::into_inner(store.locked) {
                    locked.undo();
                }
                Err(refused)
            }
        }
    }

    /// Reads how far the run has come; of a new one it makes the files.
    fn begin(&mut self, plan: &Plan) -> Result<(), StoreError> {
        let path = self.path().to_owned();
        let file = path.join(CHECKPOINT);
        if files::exists(&file) {
            self.take_over(&file, plan)?;
        } else if let Some(name) = ARRAYS.iter().find(|name| files::exists(&path.join(name))) {
            return Err(StoreError::Foreign { path: path.join(name) });
        }
        if self.checkpoint.progress.is_none() {
            self.make(plan)?;
        }
        self.norms = norms::take_over(&path, self.passes().unwrap_or(0))?;
        Ok(())
    }

    /// Bytes that the arrays of a run take on the disk.
    pub fn bytes(plan: &Plan) -> u64 {
        plan.problem.shape.array_bytes(ARRAYS.len(), plan.precision)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.locked.path()
    }

    /// How far the run has come; `None` of one that begins.
    pub(in crate::run::runner) fn progress(&self) -> Option<&Progress> {
        self.checkpoint.progress.as_ref()
    }

    /// Passes made, where the run goes on from an earlier one.
    pub fn passes(&self) -> Option<u64> {
        self.progress().map(|progress| progress.passes)
    }

    /// Whether the norms of all passes that were made are known. Stores of older programs have none.
    pub fn knows_norms(&self) -> bool {
        self.norms.is_some()
    }

    /// The norms of the passes that were made, where all are known.
    pub(in crate::run::runner) fn take_norms(&mut self) -> Vec<Record> {
        self.norms.take().unwrap_or_default()
    }

    /// The arrays, for a solver that begins at the iterate.
    ///
    /// # Errors
    /// [`StoreError::File`] if they cannot be opened.
    pub(in crate::run::runner) fn arrays(&self) -> Result<ArrayFiles, StoreError> {
        let [even, odd, rhs] = ARRAYS;
        let is_odd = self.passes().is_some_and(|passes| passes % 2 == 1);
        let [iterate, next] = if is_odd { [odd, even] } else { [even, odd] };
        Ok(ArrayFiles {
            locked: Arc::clone(&self.locked),
            iterates: [self.file(iterate)?, self.file(next)?],
            rhs: self.file(rhs)?,
            are_new: self.checkpoint.progress.is_none(),
        })
    }

    /// Writes how far the run has come, whole or not at all, and the norms of its last pass. The iterate must be on the
    /// disk.
    ///
    /// # Errors
    /// [`FileError::Write`] if it cannot be written, or an array is gone; the one before is still there.
    pub(in crate::run::runner) fn keep(
        &mut self,
        progress: Progress,
        record: &Record,
    ) -> Result<(), FileError> {
        // An array whose file was removed is still mapped: nothing else would tell before the run is to continue.
        ARRAYS.iter().try_for_each(|name| self.file(name).map(drop))?;
        if progress.passes > 0 {
            norms::append(self.path(), record)?;
        }
        self.checkpoint.progress = Some(progress);
        self.write()
    }

    /// Reads the checkpoint of the run.
    fn take_over(&mut self, file: &Path, plan: &Plan) -> Result<(), StoreError> {
        let no_checkpoint = |what| StoreError::NoCheckpoint { path: file.to_owned(), what };
        let text = read_text(file, LONGEST)?;
        let found: Checkpoint = toml::from_str(&text)
            .map_err(|error| no_checkpoint(place(&text, error.span()) + &toml_message(&error)))?;
        if found.version != VERSION {
            return Err(no_checkpoint(format!("its version is {}", found.version)));
        }
        let summed = found.summed().map_err(|error| no_checkpoint(error.to_string()))?;
        if found.checksum.is_some() && found.checksum != summed.checksum {
            return Err(StoreError::Edited { path: file.to_owned() });
        }
        let path = self.path().to_owned();
        if found.run != self.checkpoint.run {
            return Err(StoreError::OtherRun { path });
        }
        if found.input != self.checkpoint.input {
            return Err(StoreError::OtherInput { path });
        }
        if let Some(Progress { passes, .. }) = found.progress {
            if passes > plan.stop.max_cycles {
                return Err(StoreError::Passed { path, passes });
            }
            let expected = plan.problem.shape.array_bytes(1, plan.precision);
            for name in ARRAYS {
                let path = path.join(name);
                let length =
                    fs::metadata(&path).map_err(|cause| FileError::read(&path, cause))?.len();
                if length != expected {
                    return Err(StoreError::Length { path, length, expected });
                }
            }
        }
        self.checkpoint = found;
        Ok(())
    }

    /// Makes the files of the arrays, in place of those that a process left which ended while it did so. The checkpoint
    /// comes first: it says whose they are.
    fn make(&self, plan: &Plan) -> Result<(), StoreError> {
        let left = ARRAYS.iter().filter_map(|name| fs::metadata(self.path().join(name)).ok());
        let left: u64 = left.map(|metadata| metadata.len()).sum();
        let (needed, path) = (Self::bytes(plan), self.path().to_owned());
        if let Some(free) = free_space(&path).map(|free| free.saturating_add(left))
            && free < needed
        {
            return Err(StoreError::Room { path, needed, free });
        }
        self.write()?;
        let made = ARRAYS.iter().try_for_each(|name| {
            let path = path.join(name);
            let bytes = plan.problem.shape.array_bytes(1, plan.precision);
            let made = File::create(&path).and_then(|mut file| allocate(&mut file, bytes));
            made.map_err(|cause| FileError::Write { path, cause })
        });
        if made.is_err() {
            // It gives back what it took of a full disk.
            for name in ARRAYS.iter().chain([&CHECKPOINT, &NORMS]) {
                _ = fs::remove_file(path.join(name));
            }
        }
        Ok(made?)
    }

    fn write(&self) -> Result<(), FileError> {
        write_atomically(&self.path().join(CHECKPOINT), |out| {
            out.write_all(self.checkpoint.summed()?.text()?.as_bytes())
        })?;
        // The next pass overwrites the iterate that the checkpoint before needs.
        sync_folder(self.path())
    }

    fn file(&self, name: &str) -> Result<File, FileError> {
        let path = self.path().join(name);
        let file = File::options().read(true).write(true).open(&path);
        file.map_err(|cause| FileError::Write { path, cause })
    }
}

impl Checkpoint {
    fn text(&self) -> io::Result<String> {
        toml::to_string(self).map_err(io::Error::other)
    }

    /// The same with the number that stands for all else in it.
    fn summed(&self) -> io::Result<Self> {
        let rest = Self { checksum: None, ..self.clone() };
        let checksum = Some(format!("{:016x}", fnv_of_text(&rest.text()?)));
        Ok(Self { checksum, ..rest })
    }
}

/// What the iterates of a run depend on, and where it ends but for the limit of its cycles.
fn essence(plan: &Plan) -> RunSpec {
    let mut run = plan.spec.clone();
    let MethodSpec { name, precision, .. } = run.method;
    let sweeps = usize::try_from(plan.sweeps_per_cycle()).unwrap_or(usize::MAX);
    let height = Some(Height::Sweeps(sweeps));
    run.method = MethodSpec { name, precision, height, ..MethodSpec::default() };
    run.stop.max_cycles = StopSpec::default().max_cycles;
    run.store = None;
    // Their values count, and not where they lie.
    run.problem.rhs = None;
    run.problem.initial =
        run.problem.initial.filter(|initial| matches!(initial, InitialGuess::Value(_)));
    run
}

/// A number that stands for the values that were read from files.
fn input(problem: &Problem) -> String {
    let Problem { shape, rhs, initial_guess, .. } = problem;
    let listed = [rhs, initial_guess].into_iter().filter(|source| source.is_listed());
    let value = |source: &Source, point: usize| {
        let nx = shape.nx();
        source.at(nx, point % nx, point / nx)
    };
    let values =
        listed.flat_map(|source| (0..shape.points()).map(move |point| value(source, point)));
    format!("{:016x}", fnv(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::ByteCount;
    use crate::run::{Backend, MethodName, Planner};

    fn plan(change: impl FnOnce(&mut RunSpec)) -> Plan {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![30, 40];
        spec.method.set_name(MethodName::Pyramid);
        (spec.method.memory, spec.method.backend) = (Some(ByteCount::new(10_000)), Backend::Cpu);
        spec.stop.max_cycles = 10;
        change(&mut spec);
        Planner::default().plan(&spec).unwrap()
    }

    #[test]
    fn a_store_is_for_one_run_however_it_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let open = |plan: &Plan| Store::open(folder.path(), plan);
        let store = open(&plan(|_| ())).unwrap();
        assert_eq!(store.passes(), None);
        let said = open(&plan(|_| ())).unwrap_err().to_string();
        assert!(said.contains(" is in use by process "), "{said}");
        drop(store);
        let height = plan(|_| ()).sweeps_per_cycle() as usize;
        open(&plan(|spec| {
            spec.method.threads = 2;
            spec.method.memory = Some(ByteCount::new(1_000_000));
            spec.method.height = Some(Height::Sweeps(height));
            spec.stop.max_cycles = 20;
            spec.store = Some(folder.path().to_owned());
        }))
        .unwrap();
        for other in [
            plan(|spec| spec.method.height = Some(Height::Sweeps(height + 1))),
            plan(|spec| spec.problem.shape = vec![30, 41]),
            plan(|spec| spec.stop.tolerance = None),
            plan(|spec| spec.problem.initial = Some(InitialGuess::Value(2.0))),
        ] {
            let said = open(&other).unwrap_err().to_string();
            assert!(said.contains(" belongs to another run, which checkpoint.toml "), "{said}");
        }
    }

    #[test]
    fn what_cannot_be_a_store_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("iterate-odd");
        fs::write(&file, "mine").unwrap();
        let open = |path: &Path, plan: &Plan| Store::open(path, plan).unwrap_err().to_string();
        let said = open(&file, &plan(|_| ()));
        assert!(said.ends_with("it must be a folder, and this is a file"), "{said}");
        let said = open(folder.path(), &plan(|_| ()));
        assert!(said.contains("iterate-odd is not of a run"), "{said}");
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        fs::remove_file(&file).unwrap();
        fs::write(folder.path().join(CHECKPOINT), "a = 1").unwrap();
        let said = open(folder.path(), &plan(|_| ()));
        assert!(said.contains("checkpoint.toml is no checkpoint"), "{said}");
    }

    #[test]
    fn a_disk_without_room_is_found_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        // Half an exabyte.
        let huge = plan(|spec| {
            spec.problem.shape = vec![150_000_000, 150_000_000];
            spec.method.memory = Some(ByteCount::new(1_000_000_000_000));
            spec.method.height = Some(Height::Sweeps(1));
            spec.store = Some(folder.path().to_owned());
        });
        let said = Store::open(folder.path(), &huge).unwrap_err().to_string();
        assert!(said.starts_with("the arrays of this run take 540 PB in "), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// A store whose arrays were not complete is made again.
    #[test]
    fn arrays_that_were_being_made_are_made_again() {
        let folder = tempfile::tempdir().unwrap();
        drop(Store::open(folder.path(), &plan(|_| ())).unwrap());
        let array = folder.path().join(ARRAYS[0]);
        let length = fs::metadata(&array).unwrap().len();
        fs::write(&array, "unfinished").unwrap();
        let store = Store::open(folder.path(), &plan(|_| ())).unwrap();
        assert_eq!(fs::read(&array).unwrap(), vec![0; length as usize]);
        assert!(store.arrays().unwrap().are_new);
    }
}
