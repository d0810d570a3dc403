//! Guards that several processes share a run to its end, and that all end where one is lost. Stand-ins for the driver and for
//! NCCL do what GPUs would but for the kernels, which do nothing: every iterate is the initial guess.

use super::{FAILURE, driver};
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use tilescope::grid::memory::available;

const RUN: &str = "solve --problem random --shape 90x100 --tile 16 --k 4 --overlap 2 --tol none --max-cycles 50 --json";
const TILES: &str = "--tile 16 --k 4 --overlap 2";
const SAVED: &str = "--save-field u.npy --save-curve c.csv";

/// Processes of one run, each with a stand-in for a GPU.
struct Ranks {
    folder: TempDir,
    /// What NCCL's stand-in leaves.
    messages: TempDir,
    processes: Vec<Child>,
}

impl Ranks {
    fn start(count: usize, arguments: &str, changes: &[(&str, &str)]) -> Self {
        let [folder, messages] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let start = |rank: usize| {
            let mut command = with_gpus(count, arguments, folder.path());
            command.env("RANK", rank.to_string()).env("LOCAL_RANK", rank.to_string());
            command.env("WORLD_SIZE", count.to_string());
            command.env("MASTER_ADDR", "localhost").env("MASTER_PORT", port.to_string());
            command.env("TILESCOPE_TEST_FOLDER", messages.path()).envs(changes.iter().copied());
            command.spawn().unwrap()
        };
        let processes = (0..count).map(start).collect();
        Self { folder, messages, processes }
    }

    /// What each has said at its end.
    fn end(self) -> (TempDir, Vec<Output>) {
        let ended = self.processes.into_iter().map(|it| it.wait_with_output().unwrap());
        (self.folder, ended.collect())
    }
}

fn with_gpus(count: usize, arguments: &str, folder: &Path) -> Command {
    let mut command = Command::new(cargo_bin("tilescope"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command.env("LD_LIBRARY_PATH", driver()).env(FAILURE, "slow-f64");
    command.env("TILESCOPE_TEST_GPUS", count.to_string());
    command.env_remove("TORCHELASTIC_USE_AGENT_STORE").env_remove("NCCL_NVLS_ENABLE");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The summary without the time.
fn summary(output: &Output) -> Value {
    let mut summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    summary["seconds"] = Value::Null;
    summary
}

#[test]
fn processes_share_a_run_to_its_end_and_rank_0_prints_and_saves() {
    for (count, options) in [(2, ""), (4, ""), (2, "--exchange-every 3"), (3, "--method classic")] {
        let run = if options.contains("classic") { RUN.replace(TILES, "") } else { RUN.to_owned() };
        let arguments = format!("{run} {options} {SAVED}");
        let (folder, ended) = Ranks::start(count, &arguments, &[]).end();
        let devices: Vec<_> = (0..count).map(|gpu| gpu.to_string()).collect();
        let together = tempfile::tempdir().unwrap();
        let devices = format!("{arguments} --devices {}", devices.join(","));
        let expected = with_gpus(count, &devices, together.path()).output().unwrap();
        for (rank, output) in ended.iter().enumerate() {
            assert_eq!(output.status.code(), Some(0), "rank {rank}: {}", said(output));
            assert!(
                rank == 0 || output.stdout.is_empty() && output.stderr.is_empty(),
                "rank {rank}"
            );
        }
        assert_eq!(summary(&ended[0]), summary(&expected), "{options}");
        assert_eq!(said(&ended[0]), said(&expected));
        let saved = |folder: &TempDir| std::fs::read(folder.path().join("u.npy")).unwrap();
        assert!(saved(&folder) == saved(&together), "{options}");
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    }
}

/// Also where a GPU, or NCCL while it connects, waits for the lost one for ever.
#[test]
fn all_processes_end_where_one_is_killed() {
    for (count, lost, call) in [(2, 1, 1), (2, 0, 9), (4, 2, 3), (4, 2, 9), (4, 0, 12)] {
        let hangs = format!("{lost}:{call}");
        let changes = [("TILESCOPE_TEST_HANGS", hangs.as_str())];
        let mut ranks = Ranks::start(count, &format!("{RUN} {SAVED}"), &changes);
        while !ranks.messages.path().join("hangs").exists() {
            let ended = ranks.processes.iter_mut().any(|it| it.try_wait().unwrap().is_some());
            assert!(!ended, "{hangs}: it ended by itself");
            thread::sleep(Duration::from_millis(20));
        }
        ranks.processes[lost].kill().unwrap();
        let (folder, ended) = ranks.end();
        for (rank, output) in ended.iter().enumerate().filter(|(rank, _)| *rank != lost) {
            let said = said(output);
            let notes: Vec<_> = said.lines().filter(|line| !line.contains("f32")).collect();
            let expected = format!("tilescope: rank {lost} ended before the run was done");
            assert_eq!(notes, [expected], "{hangs}, rank {rank}");
            assert_eq!(output.status.code(), Some(1));
            assert!(output.stdout.is_empty());
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "no file is left");
    }
}

#[test]
fn a_rank_that_fails_says_why_and_the_others_that_it_is_gone() {
    // Rank 0 alone finds that it cannot save.
    let (_, ended) =
        Ranks::start(2, &format!("{RUN} --save-field no/such/u.npy"), &[("TILESCOPE_WAIT", "2")])
            .end();
    assert!(said(&ended[0]).contains("no/such"), "{}", said(&ended[0]));
    assert!(said(&ended[1]).contains("rank 0 was not reached"), "{}", said(&ended[1]));
    for (changes, sentence) in [
        (
            ("TILESCOPE_NCCL", "/nowhere.so"),
            "rank 0 cannot take part: TILESCOPE_NCCL is /nowhere.so, which cannot be opened as NCCL",
        ),
        (
            ("LOCAL_RANK", "1"),
            "ranks 0 and 1 have the same GPU; start one process for each GPU, with its number on the machine in LOCAL_RANK",
        ),
        (("TILESCOPE_TEST_GPU", "none"), "rank 0 cannot take part: the NVIDIA driver finds no GPU"),
    ] {
        let (folder, ended) = Ranks::start(2, &format!("{RUN} {SAVED}"), &[changes]).end();
        for output in &ended {
            assert_eq!(said(output), format!("tilescope: {sentence}\n"));
            assert_eq!(output.status.code(), Some(1));
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}

/// Each holds the arrays of the whole grid, and would fit alone.
#[test]
fn ranks_of_a_machine_need_memory_together() {
    // Three arrays of 0.6 of the memory that is free.
    let rows = (available() as f64 * 0.6 / (3.0 * 8.0 * 65_536.0)) as u64;
    let run = RUN.replace("--shape 90x100", &format!("--shape 65536x{rows}"));
    let arguments = format!("{run} --exchange nccl {SAVED}");
    let (folder, ended) =
        Ranks::start(2, &arguments, &[("TILESCOPE_TEST_ROOM", "1000000000000")]).end();
    for output in &ended {
        let said = said(output);
        assert!(said.starts_with("tilescope: ranks 0, 1 on "), "{said}");
        assert!(said.contains(" together need ") && said.lines().count() == 1, "{said}");
        assert!(said.ends_with("is free; use a smaller shape or more machines\n"), "{said}");
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}
