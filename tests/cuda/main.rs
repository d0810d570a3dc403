//! The kernels on a GPU against the CPU, to the last bit; and what happens when a GPU fails.
//!
//! Where there is no GPU, every test is counted as ignored. `TILESCOPE_CUDA_SETTINGS` sets how many
//! random settings are compared.

#[path = "../solver_properties/cases.rs"]
#[allow(dead_code, reason = "3D cases are larger here")]
mod cases;
mod damping;
mod devices;
mod exchange;
mod gpu;
mod iterates;
mod life;
mod matrices;
#[path = "../matrices/cases.rs"]
#[allow(dead_code, reason = "threads are for the CPU")]
mod matrix_cases;
mod matrix_devices;
#[path = "../matrices/naive.rs"]
#[allow(dead_code, reason = "Jacobi's sweeps and residuals are compared with the CPU's")]
mod naive;
mod observations;
mod ranks;
mod spectral;
mod streaming;
mod volumes;

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use tilescope::solver::cuda;

fn main() -> ExitCode {
    if let Some(code) = ranks::as_process() {
        return code;
    }
    // SAFETY: this is the only thread.
    unsafe { std::env::set_var("NCCL_NVLS_ENABLE", "0") };
    let mut arguments = Arguments::from_args();
    // There is one GPU.
    arguments.test_threads.get_or_insert(1);
    let gpus = if arguments.list { Ok(Vec::new()) } else { cuda::gpus() };
    match &gpus {
        Ok(names) if !names.is_empty() => eprintln!("on {}", names[0]),
        Ok(_) => {}
        Err(why) => eprintln!("CUDA: not run, no device ({why})"),
    }
    let trials = [
        iterates::TESTS,
        spectral::TESTS,
        damping::TESTS,
        volumes::TESTS,
        matrices::TESTS,
        observations::TESTS,
        streaming::TESTS,
        devices::TESTS,
        matrix_devices::TESTS,
        exchange::TESTS,
        ranks::TESTS,
        // The last of them takes the GPU away.
        life::TESTS,
    ]
    .concat();
    let count = gpus.as_ref().map_or(0, Vec::len);
    match count {
        1 => eprintln!(
            "PROCESSES THAT SHARE A GRID, EXCHANGE THROUGH NCCL, A GPU LOST BESIDE OTHERS: not run, there is one GPU"
        ),
        2 | 3 => eprintln!("FOUR PROCESSES THAT SHARE A GRID: not run, there are {count} GPUs"),
        _ => {}
    }
    let is_in = |tests: &[(&str, fn())], name: &str| tests.iter().any(|(its, _)| *its == name);
    let needed = |name: &str| match name {
        ranks::OF_FOUR_GPUS => 4,
        life::OF_SEVERAL_GPUS => 2,
        _ if is_in(ranks::TESTS, name) || is_in(exchange::TESTS, name) => 2,
        _ => 1,
    };
    let lacks_nccl = count > 1 && !exchange::has_nccl();
    let trials = trials
        .into_iter()
        .map(|(name, test)| {
            let is_ignored = gpus.is_err()
                || (1..needed(name)).contains(&count)
                || lacks_nccl && is_in(exchange::TESTS, name);
            Trial::test(name, move || done(test)).with_ignored_flag(is_ignored)
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn done(test: fn()) -> Result<(), Failed> {
    test();
    Ok(())
}
