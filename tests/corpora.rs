//! The corpora of the fuzzers (`fuzz/corpus`) on a stable toolchain: every file, whole, cut off and with
//! changed bytes, goes to its target, which fails on a panic, on an answer that is not a sentence, and on a
//! file that does not survive.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZero;
use std::panic;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Cuts, and changed bytes, of each file.
const CASES: usize = 24;

#[test]
fn every_reader_answers_whatever_it_is_given() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        let mut files = 0;
        for entry in fs::read_dir(corpus.join(name)).unwrap() {
            let path = entry.unwrap().path();
            let whole = fs::read(&path).unwrap();
            assert!(whole.len() <= 4096, "{} is too long for a corpus", path.display());
            target(&whole);
            files += 1;
            for case in 0..CASES.min(whole.len()) {
                let at = case * whole.len() / CASES.min(whole.len());
                target(&whole[..at]);
                let mut changed = whole.clone();
                // Another value each time: every bit is changed in some case.
                changed[at] ^= 1 << (case % 8) | (case as u8 & 0x11);
                target(&changed);
            }
        }
        assert!(files >= 3, "{files} files for {name}");
    }
}

/// A program of cargo-fuzz only calls its target, which is compiled here; it takes a nightly toolchain itself.
#[test]
fn every_target_has_its_program() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
    for (name, _) in targets::TARGETS {
        let function = name.replace('-', "_");
        let listed = format!("name = \"{name}\"\npath = \"fuzz_targets/{function}.rs\"\n");
        assert!(manifest.contains(&listed), "{name} is not in fuzz/Cargo.toml");
        let program = fuzz.join("fuzz_targets").join(&function).with_extension("rs");
        let program = fs::read_to_string(program).unwrap();
        let call = format!("fuzz_target!(|bytes: &[u8]| targets::{function}(bytes));");
        assert!(program.contains(&call), "{name}: {program}");
    }
    let programs = fs::read_dir(fuzz.join("fuzz_targets")).unwrap().count();
    assert_eq!(programs, targets::TARGETS.len(), "a program has no target");
}

/// A short run of a fuzzer without a nightly toolchain: random changes of the corpora, for that many seconds
/// per target. What fails is written to the folder of temporary files, and named.
#[test]
fn every_reader_answers_for_some_seconds_of_random_changes() {
    let Ok(seconds) = std::env::var("TILESCOPE_FUZZ_SECONDS") else {
        println!("fuzzing: not run, TILESCOPE_FUZZ_SECONDS is not set");
        return;
    };
    let time = Duration::from_secs(seconds.parse().expect("TILESCOPE_FUZZ_SECONDS is a number"));
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    // One target per core, so that each has the whole time.
    let remaining = Mutex::new(targets::TARGETS.into_iter());
    let next = || remaining.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((name, target)) = next() {
            fuzz(name, target, &corpus.join(name), time);
        }
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        }
    });
}

/// Feeds random changes of the files in a folder to a target, as long as there is time.
fn fuzz(name: &str, target: fn(&[u8]), corpus: &Path, time: Duration) {
    let files = fs::read_dir(corpus).unwrap();
    let files: Vec<_> = files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect();
    let (begin, mut random, mut cases) = (Instant::now(), Random::default(), 0_u64);
    while begin.elapsed() < time {
        let bytes = changed(&files, &mut random);
        if panic::catch_unwind(|| target(&bytes)).is_err() {
            let path = std::env::temp_dir().join(format!("tilescope-{name}-{cases}"));
            fs::write(&path, &bytes).unwrap();
            panic!("{name} fails on {}", path.display());
        }
        cases += 1;
    }
    println!("fuzzing: {name}, {cases} cases in {} s", time.as_secs());
    assert!(cases > 0);
}

/// Random numbers of the standard library's hasher, whose keys differ in every process.
#[derive(Default)]
struct Random {
    keys: RandomState,
    count: u64,
}

impl Random {
    /// A number less than `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        self.count += 1;
        (self.keys.hash_one(self.count) % end as u64) as usize
    }
}

/// A file of a corpus with up to eight changes: a bit, a byte, a piece of another file, a cut, a repetition.
fn changed(files: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = files[random.below(files.len())].clone();
    for _ in 0..=random.below(8) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let end = at + random.below(bytes.len() - at + 1).min(64);
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => {
                let other = &files[random.below(files.len())];
                let start = random.below(other.len() + 1);
                let piece = &other[start..(start + 64).min(other.len())];
                bytes.splice(at..end, piece.iter().copied());
            }
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..end)),
            _ => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}
