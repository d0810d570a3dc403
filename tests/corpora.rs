//! The corpora of the fuzzers (`fuzz/corpus`) on a stable toolchain: every file, whole, cut off and with
//! changed bytes, goes to its target, which fails on a panic, on an answer that is no sentence, and on a
//! file that does not survive.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

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
