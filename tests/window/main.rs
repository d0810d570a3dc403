//! Tests of the window: the effects of its controls, found by their labels, and its look, compared
//! with reviewed pictures. `UPDATE_SNAPSHOTS=true` updates the pictures.
//!
//! Pictures need a renderer. Without one, they are counted as ignored.

mod backends;
mod controls;
mod drag;
mod driver;
mod edges;
mod files;
mod gpus;
mod habits;
mod lessons;
mod materials;
mod monkey;
mod panes;
mod pictures;
mod pins;
mod time;
mod tuning;

use libtest_mimic::{Arguments, Failed, Trial};
use std::sync::{PoisonError, RwLock};
use tilescope::grid::memory;

/// Tests at a time: each waits for its worker most of the time.
const THREADS: usize = 4;

/// Held by every test, and by the monkey alone: it measures the memory of the process, and changes its working folder.
static ALONE: RwLock<()> = RwLock::new(());

fn main() {
    // As the program begins.
    memory::prepare().expect("there is room");
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let tests = [
        controls::TESTS,
        backends::TESTS,
        files::TESTS,
        habits::TESTS,
        lessons::TESTS,
        materials::TESTS,
        panes::TESTS,
        edges::TESTS,
        time::TESTS,
        drag::TESTS,
        pins::TESTS,
        tuning::TESTS,
    ];
    let mut trials: Vec<Trial> = tests
        .concat()
        .into_iter()
        .map(|(name, test)| Trial::test(name, move || done(test)))
        .collect();
    trials.extend(monkey::TESTS.iter().map(|&(name, test)| {
        Trial::test(name, move || {
            let _alone = ALONE.write().unwrap_or_else(PoisonError::into_inner);
            test();
            Ok(())
        })
    }));
    let count = gpus::count();
    if count < 2 {
        eprintln!("SEVERAL GPUS IN THE WINDOW: not run, there are {count}");
    }
    trials.extend(
        gpus::TESTS.iter().map(|&(name, test)| {
            Trial::test(name, move || done(test)).with_ignored_flag(count < 2)
        }),
    );
    let without = !arguments.list && !pictures::is_renderer_there();
    if without {
        eprintln!(
            "pictures of the window: not run, no software renderer (install mesa-vulkan-drivers)"
        );
    }
    trials.extend(pictures::TESTS.iter().map(|&(name, test)| {
        Trial::test(format!("picture::{name}"), move || done(test)).with_ignored_flag(without)
    }));
    let code = if libtest_mimic::run(&arguments, trials).has_failed() { 101 } else { 0 };
    leave(code);
}

/// Ends the process without what libraries do at its exit: Mesa then frees what its threads hold, and threads of tests that
/// are still about to end free it, too.
fn leave(code: i32) -> ! {
    #[cfg(unix)]
    {
        unsafe extern "C" {
            fn _exit(code: i32) -> !;
        }
        // SAFETY: it takes any number.
        unsafe { _exit(code) }
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

fn done(test: fn()) -> Result<(), Failed> {
    let _beside_others = ALONE.read().unwrap_or_else(PoisonError::into_inner);
    test();
    Ok(())
}
