//! `tilescope solve` as several processes, as a launcher starts them: the real binary, without a GPU. What GPUs do is in
//! `tests/cuda/ranks.rs`.

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A port that was free just now.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn command(folder: &TempDir, arguments: &str, [rank, count]: [usize; 2], port: u16) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tilescope"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command.env("RANK", rank.to_string()).env("WORLD_SIZE", count.to_string());
    command.env("LOCAL_RANK", rank.to_string());
    command.env("MASTER_ADDR", "127.0.0.1").env("MASTER_PORT", port.to_string());
    command.env_remove("TORCHELASTIC_USE_AGENT_STORE").env("TILESCOPE_WAIT", "10");
    // A machine of these tests may have GPUs.
    command.env("CUDA_VISIBLE_DEVICES", "");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(folder: &TempDir, arguments: &str, rank: [usize; 2], port: u16) -> Child {
    command(folder, arguments, rank, port).spawn().unwrap()
}

/// Asserts that a process ended with this exit code, one sentence and no file; returns the sentence.
#[track_caller]
fn failed(folder: &TempDir, output: &Output, code: i32) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(!said.contains("panicked"), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    said.strip_prefix("tilescope: ").expect("a sentence").trim_end().to_owned()
}

const SOLVE: &str = "solve --shape 128x128 --save-field u.npy --save-curve c.csv";

fn all(arguments: &[&str]) -> Vec<String> {
    let (folder, port, count) = (tempfile::tempdir().unwrap(), port(), arguments.len());
    let ranks = arguments.iter().enumerate();
    let ranks: Vec<_> =
        ranks.map(|(rank, arguments)| start(&folder, arguments, [rank, count], port)).collect();
    let ended = ranks.into_iter().map(|rank| rank.wait_with_output().unwrap());
    ended.map(|output| failed(&folder, &output, 1)).collect()
}

#[test]
fn two_and_four_processes_without_a_gpu_all_say_why_they_end() {
    for (count, arguments) in [(2, SOLVE), (4, SOLVE), (2, "solve --matrix trefethen-2000")] {
        let said = all(&vec![arguments; count]);
        for sentence in &said {
            assert_eq!(*sentence, said[0]);
            assert!(sentence.starts_with("rank 0 cannot take part: "), "{sentence}");
        }
    }
}

#[test]
fn processes_that_disagree_on_the_run_all_say_so() {
    let other = format!("{SOLVE} --k 8");
    for sentence in all(&[SOLVE, &other]) {
        assert_eq!(sentence, "ranks 0 and 1 disagree on the run: k = 16 and k = 8");
    }
    for sentence in all(&[SOLVE, "solve --shape 128x128"]) {
        let expected = "ranks 0 and 1 disagree on the run: norms of every cycle: true and norms of every cycle: false";
        assert_eq!(sentence, expected);
    }
}

#[test]
fn a_rank_that_never_comes_or_is_killed_is_missed() {
    let (folder, port) = (tempfile::tempdir().unwrap(), port());
    let mut lost = start(&folder, SOLVE, [1, 3], port);
    let short = |rank: usize| {
        command(&folder, SOLVE, [rank, 3], port).env("TILESCOPE_WAIT", "2").spawn().unwrap()
    };
    lost.kill().unwrap();
    lost.wait().unwrap();
    let ranks = [short(0), short(2)];
    for output in ranks.map(|rank| rank.wait_with_output().unwrap()) {
        let said = failed(&folder, &output, 1);
        assert!(said.starts_with("rank 1 did not come within 2 s; "), "{said}");
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port();
    let said = |rank| {
        let mut command = command(&folder, SOLVE, [rank, 2], port);
        failed(&folder, &command.env("TILESCOPE_WAIT", "1").output().unwrap(), 1)
    };
    let sentence = said(0);
    assert!(sentence.starts_with(&format!("MASTER_PORT {port} is taken by another")), "{sentence}");
    // The stranger takes the call and never answers.
    let sentence = said(1);
    assert!(
        sentence.starts_with(&format!("rank 0 did not answer at 127.0.0.1:{port}")),
        "{sentence}"
    );
}

#[test]
fn what_processes_do_not_share_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, said) in [
        ("solve --shape 1024", 2, "WORLD_SIZE is 2; the points of a single line are shared out"),
        ("solve --matrix trefethen-20 --tile 20", 2, "WORLD_SIZE is 2; it must be at most 1 GPU"),
        ("solve --shape 64x64x64 --method wavefront", 2, "WORLD_SIZE is 2; the sweeps of a wave"),
        (
            "solve --shape 64x64x64 --method pyramid --store s",
            1,
            "--store does not go with WORLD_SIZE 2: ",
        ),
        ("solve --backend cpu", 1, "--backend cpu does not go with WORLD_SIZE 2: "),
        ("solve --devices 0,1", 1, "--devices does not go with WORLD_SIZE 2: "),
        ("solve --save-field u.npy --save-on-interrupt", 1, "--save-on-interrupt does not go with"),
        ("render -o a.png", 1, "WORLD_SIZE is 2, but render runs in one process; solve is shared"),
        ("sweep --k 4,8 -o s.csv", 1, "WORLD_SIZE is 2, but sweep runs in one process; "),
    ] {
        let output = command(&folder, arguments, [1, 2], port()).output().unwrap();
        let sentence = failed(&folder, &output, code);
        assert!(sentence.starts_with(said), "{arguments}: {sentence}");
    }
    // One process of a launcher is like one without.
    let alone = command(&folder, "solve --shape 32x32 --backend cpu", [0, 1], port()).output();
    assert!(alone.unwrap().status.success());
}
