//! A disk that is full after n blocks, for every n.
//!
//! The limit is that of the size of a file (RLIMIT_FSIZE): a write at it is cut short, and the next fails.

use super::{SMALL, assert_old_file_is_whole, command};
use std::fs;
use std::process::Output;
use tempfile::TempDir;

/// Runs the program where no file grows beyond that many blocks of 512 bytes.
fn limited(folder: &TempDir, arguments: &str, blocks: u64) -> Output {
    let program = env!("CARGO_BIN_EXE_tilescope");
    let script = format!("ulimit -f {blocks}; exec {program} {arguments}");
    command("sh", folder.path()).args(["-c", &script]).output().unwrap()
}

/// Makes a file under every limit up to one that suffices.
fn fails_whole(arguments: &str, name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let arguments = format!("{arguments} {name}");
    let whole = {
        let output = limited(&folder, &arguments, 1 << 20);
        assert!(output.status.success(), "{arguments}: {output:?}");
        fs::metadata(&path).unwrap().len()
    };
    let enough = whole.div_ceil(512);
    // Every limit of a short file; of a long one some, the first and the last among them.
    for blocks in (0..enough).step_by(enough.div_ceil(12) as usize).chain([enough - 1]) {
        fs::write(&path, "old").unwrap();
        let output = limited(&folder, &arguments, blocks);
        let case = format!("{arguments}, {blocks} of {enough} blocks");
        assert_old_file_is_whole(folder.path(), name, &output, &case);
    }
}

#[test]
fn a_field_and_a_curve_are_whole_or_not_there() {
    fails_whole(&format!("solve {SMALL} --save-field"), "u.npy");
    fails_whole(&format!("solve {SMALL} --save-curve"), "c.csv");
}

#[test]
fn a_figure_is_whole_or_not_there() {
    fails_whole(&format!("render {SMALL} --size 200x150 -o"), "a.png");
    fails_whole(&format!("render {SMALL} --kind curves -o"), "a.svg");
    fails_whole(&format!("render {SMALL} --kind curves -o"), "a.pdf");
    fails_whole(&format!("render {SMALL} --kind curves -o"), "a.csv");
    fails_whole(&format!("render {SMALL} --bare -o"), "b.png");
}

#[test]
fn an_animation_is_whole_or_not_there() {
    for name in ["a.apng", "a.gif"] {
        fails_whole("render --shape 40x36 --tile 8 --bare --animate 0..20:10 -o", name);
    }
}

#[test]
fn a_table_keeps_whole_rows() {
    let sweep = "sweep --shape 24x20 --k 1,2,3,4 --tile 8 --measure cycles -o s.csv";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    assert!(limited(&folder, sweep, 1 << 20).status.success());
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for blocks in 0..(whole.len() as u64).div_ceil(512) {
        fs::remove_file(&path).unwrap();
        let output = limited(&folder, sweep, blocks);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{blocks}: {said}");
        assert!(said.starts_with("tilescope: cannot write s.csv: "), "{blocks}: {said}");
        let kept = fs::read_to_string(&path).unwrap();
        let rows = kept.lines().count();
        assert_eq!(kept, lines[..rows].concat(), "{blocks}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{blocks}");
        // With room again it is completed.
        let output = limited(&folder, &format!("{sweep} --resume"), 1 << 20);
        assert!(output.status.success(), "{blocks}: {output:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), whole, "{blocks}");
    }
}
