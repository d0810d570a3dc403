//! The cost of the chosen tiles, the speed of the solver, and what its kernel uses of the GPU.

use crate::app::state::session::Session;
use crate::app::widgets::rows::{heading, row};
use crate::app::widgets::{bars, theme};
use crate::grid::Tiling;
use crate::grid::memory::human;
use crate::number::counted;
use crate::picture::{digits, grouped, seconds, times_chart};
use crate::run::{Backend, MethodName, MethodSpec, Report};
use crate::solver::{BankConflicts, Devices, Kernel, PyramidModel, Scheme, Streaming};
use eframe::egui::{Label, ProgressBar, RichText, Ui};

/// Width of the bar that shows the share of peak, in points.
const BAR: f32 = 90.0;

pub fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>) {
    heading(ui, "Performance");
    tiles(ui, session, report);
    if let Some((report, streaming)) = report.and_then(|it| Some((it, it.plan.method.streaming()?)))
    {
        planes(ui, report, streaming, session.backend() == Backend::Cuda);
    }
    if let Some(report) = report
        && let Some(devices) = report.plan.method.devices().filter(|devices| devices.count() > 1)
    {
        exchanges(ui, report, devices);
    }
    speed(ui, report);
    if let Some(report) = report.filter(|_| session.spec.problem.matrix.is_some()) {
        stages(ui, report);
    }
    if session.backend() == Backend::Cuda {
        gpu(ui, report);
    }
}

/// The cost of a pass of a streaming method.
fn planes(ui: &mut Ui, report: &Report, streaming: &Streaming, on_gpu: bool) {
    let at_once = if on_gpu { streaming.slabs_on_gpu() } else { 1 };
    let (planes, n) = (streaming.planes() / at_once, streaming.height());
    let about = "Planes of a slab or window that fast memory has room for, with two iterates and the right-hand side.";
    row(ui, "Planes", about, |ui| ui.label(planes.to_string()));
    let about = "Point updates computed for each one that is kept: slabs overlap by 2n planes, and the tiles of kernel Fused by 8 points.";
    let redundancy = match streaming.scheme() {
        Scheme::Pyramid => Some(PyramidModel::redundancy(planes, n)),
        Scheme::Wavefront { .. } => report.observation.traffic.map(|it| it.redundancy()),
    };
    row(ui, "Redundant work", about, |ui| {
        ui.label(redundancy.map_or_else(|| "–".to_owned(), |it| format!("{it:.2}×")))
    });
    let about = "Values that a sweep moves to fast memory and back, per point.";
    let moved = match streaming.scheme() {
        Scheme::Pyramid => PyramidModel::values_per_update(planes, n),
        Scheme::Wavefront { .. } => 3.0 / n as f64,
    };
    row(ui, "Values moved", about, |ui| ui.label(format!("{moved:.2} per update")));
}

/// What simulated devices move between them, and what that would cost on their link.
fn exchanges(ui: &mut Ui, report: &Report, devices: &Devices) {
    if let Some(why) = report.plan.spec.why_no_exchange() {
        let about = match report.plan.method.streaming() {
            Some(streaming) if streaming.shares_sweeps(&report.plan.problem.shape) => format!(
                "Simulated devices exchange nothing after a cycle, since {why}: each makes some of its sweeps."
            ),
            Some(_) => format!(
                "Simulated devices exchange nothing after a cycle, since {why}. Each moves the planes of its slabs over a link of its own: in all as much as one device, {} at a time.",
                devices.count()
            ),
            None => format!("Simulated devices exchange nothing after a cycle, since {why}."),
        };
        row(ui, "Exchange", &about, |ui| ui.label("nothing"));
        return;
    }
    let exchange = devices.exchange(&report.plan.problem.shape, report.plan.precision);
    let about = "Messages of an exchange between simulated devices, and the values in all of them.";
    row(ui, "Exchange", about, |ui| {
        let messages = counted(exchange.messages as u64, "message");
        ui.label(format!("{messages}, {}", human(exchange.bytes)));
    });
    if !report.exchange_paths.is_empty() {
        let about = "The path by which GPUs exchange values.";
        let labels: Vec<_> = report.exchange_paths.iter().map(|path| path.label()).collect();
        row(ui, "Path", about, |ui| ui.label(labels.join(", ")));
    }
    let about = "What the exchanges move, per cycle.";
    let per_cycle = exchange.bytes as f64 / devices.cycles_of_an_exchange() as f64;
    row(ui, "Traffic", about, |ui| ui.label(format!("{} per cycle", human(per_cycle as u64))));
    let about = "Predicted time of an exchange, by the latency and the bandwidth of the link, and the share of it that hides behind inner tiles if each device computed as fast as this machine.";
    row(ui, "Predicted", about, |ui| {
        let hidden = report.cycles_per_second.map(|rate| devices.hidden(&exchange, 1.0 / rate));
        let hidden =
            hidden.map_or_else(String::new, |part| format!(", {:.0} % hidden", 100.0 * part));
        ui.label(format!("{}{hidden}", seconds(exchange.seconds)));
    });
}

fn tiles(ui: &mut Ui, session: &Session, report: Option<&Report>) {
    let method = &session.spec.method;
    let Some(tiling) = session.tiling() else {
        ui.label("Invalid tile or overlap.");
        return;
    };
    if method.name.is_streaming() {
        return;
    }
    if method.name == MethodName::Classic && method.has_frozen_devices() {
        ui.label("There are no tiles, but devices read stale values of each other.");
        return;
    }
    if method.name == MethodName::Classic {
        ui.label(match method.kernel {
            Kernel::FUSED => {
                "Main memory is read and written once for five sweeps: what is computed together overlaps so far that no value is stale."
            }
            _ => "Every sweep reads and writes main memory: there are no tiles, and no value is stale.",
        });
        return;
    }
    if session.spec.problem.matrix.is_some() {
        blocks(ui, &tiling, report);
    } else {
        tiles_of_grid(ui, &tiling, session);
    }
    let Some(k) = method.k.finite() else {
        let about = "Every tile is solved exactly for its frozen halo; overlapping exact solves are the restricted additive Schwarz method, and with one tile on the whole grid a direct solver.";
        ui.label(RichText::new("Exact local solves").strong()).on_hover_text(about);
        return;
    };
    exactness(ui, &tiling, method, k);
}

/// The cost of blocks of a matrix. What their overlap adds is found with the lists of their rows.
fn blocks(ui: &mut Ui, tiling: &Tiling, report: Option<&Report>) {
    let about = "Number of blocks of rows. A kernel assigns each to a block of threads.";
    row(ui, "Blocks", about, |ui| ui.label(grouped(tiling.count() as u64)));
    let about = "Rows computed for each row of the matrix: the cost of overlap.";
    let rows = report.filter(|report| report.plan.method.tiling() == Some(tiling));
    let redundancy = rows.and_then(|report| {
        Some(report.computed_rows? as f64 / report.plan.problem.shape.points() as f64)
    });
    row(ui, "Redundant work", about, |ui| {
        ui.label(known(redundancy.map(|times| format!("{times:.2}×"))));
    });
}

/// The cost of the tiles of a grid.
fn tiles_of_grid(ui: &mut Ui, tiling: &Tiling, session: &Session) {
    let method = &session.spec.method;
    let counts: Vec<_> = tiling.axes().iter().map(|axis| grouped(axis.count() as u64)).collect();
    let batch = session.spec.problem.batch;
    row(
        ui,
        "Tiles",
        "Number of tiles. The shared kernel assigns each to a block of threads.",
        |ui| {
            let all = |batch| grouped(tiling.count().saturating_mul(batch) as u64);
            let text = match (&counts[..], batch) {
                ([along], 1) => along.clone(),
                ([along], _) => {
                    format!("{}  ({} × {along})", all(batch), grouped(batch as u64))
                }
                _ => format!("{}  ({})", all(1), counts.join(" × ")),
            };
            ui.label(text);
        },
    );
    let conflicts = BankConflicts::of(tiling, method.precision);
    let mut about = "Shared memory that one tile needs, as in the paper: two copies of the tile with its halo, and its right-hand side.".to_owned();
    if conflicts.is_some_and(|conflicts| conflicts.ways == 1) {
        about += " With a thread for each point, its reads have no bank conflicts.";
    }
    row(ui, "Shared memory", &about, |ui| {
        let bytes = tiling.bytes_per_tile(method.precision.bytes());
        ui.label(format!("{} per tile", human(bytes as u64)));
    });
    if let Some(BankConflicts { ways, slowdown }) = conflicts.filter(|it| it.ways > 1) {
        let about = "Shared memory has 32 banks, each of which serves one address at a time. With a thread for each point, as in the papers' kernel, a warp reads parts of several rows of this width, which lie two points of the halo farther apart, and some of its addresses share a bank. A tile of 32 points along x has no conflicts.";
        row(ui, "Bank conflicts", about, |ui| {
            ui.label(format!("{ways}-way, reads take {slowdown:.2}×"));
        });
    }
    let about = "Point updates computed for each one that is kept: the cost of overlap.";
    row(ui, "Redundant work", about, |ui| ui.label(format!("{:.2}×", tiling.redundancy())));
}

/// Whether the iterates are those of Jacobi's iteration, and from which overlap on they are.
fn exactness(ui: &mut Ui, tiling: &Tiling, method: &MethodSpec, k: usize) {
    if !method.schedule().is_jacobi() {
        let about = "Tiles or points read what others wrote in the same cycle: with any overlap the iterates are between those of Jacobi and Gauss–Seidel.";
        ui.label(RichText::new("Not Jacobi at any overlap").weak()).on_hover_text(about);
        return;
    }
    if method.has_frozen_devices() {
        let about = "Devices read values of each other that are older than the cycle before: no overlap of tiles makes the iterates Jacobi's.";
        ui.label(RichText::new("Not Jacobi at any overlap").weak()).on_hover_text(about);
        return;
    }
    let needed = 2 * k.saturating_sub(1);
    if tiling.is_exact(k) {
        let equals = if method.prefers_spectral() { "up to rounding" } else { "bit for bit" };
        let reason = if tiling.count() == 1 {
            "One tile covers the whole grid. Its halo is the boundary, which is never stale."
                .to_owned()
        } else {
            format!(
                "Staleness moves one point inwards per sweep. With o ≥ 2 (k − 1) = {needed} it never reaches an owned point: the result equals Jacobi's, {equals}."
            )
        };
        let text = RichText::new("✓ exact Jacobi").strong();
        ui.label(text).on_hover_text(reason);
    } else {
        let text = RichText::new(format!("Exact Jacobi for overlap ≥ {needed}")).weak();
        ui.label(text).on_hover_text(
            "Staleness moves one point inwards per sweep, from the frozen halo. It reaches owned points unless o ≥ 2 (k − 1).",
        );
    }
}

/// The speed of the solver. Values that are not known yet keep their place.
fn speed(ui: &mut Ui, report: Option<&Report>) {
    let rate = report.and_then(|report| report.cycles_per_second);
    let about = "Solver time per cycle, with its norms, measured while the window and other runs share the machine. Observing the iterate is not counted.";
    row(ui, "Time per cycle", about, |ui| ui.label(known(rate.map(|rate| seconds(1.0 / rate)))));
    let about = "Point updates kept per second of solver time: k per cycle for every point.";
    let points = report.and_then(points_per_second);
    row(ui, "Updates", about, |ui| {
        ui.label(known(points.map(|points| format!("{} per second", count(points)))));
    });
}

/// What the stages of a run of a matrix took, as numbers and as a stacked bar.
fn stages(ui: &mut Ui, report: &Report) {
    let about = "To read or generate the matrix, to order its rows, to reorganise their entries into lists, and to upload these to a GPU: once, before the first cycle.";
    row(ui, "Set-up", about, |ui| ui.label(seconds(report.times.set_up())));
    let about = "Solver time of the cycles so far, with their norms.";
    row(ui, "Processing", about, |ui| ui.label(seconds(report.times.processing)));
    let about = "To copy the unknowns from a GPU, the last time that they were shown; a CPU has them at hand.";
    row(ui, "Shutdown", about, |ui| ui.label(seconds(report.times.download)));
    let mut chart = times_chart(&[(String::new(), report.times)], theme::of_figures(ui));
    // The pane has them.
    chart.notes.clear();
    bars::stacked(ui, &chart);
}

/// The resources of the GPU that the kernel uses.
fn gpu(ui: &mut Ui, report: Option<&Report>) {
    let footprint = report.and_then(|report| report.footprint);
    let about = "The kernel in use, and its GPU.";
    row(ui, "Kernel", about, |ui| {
        let text = report.and_then(|report| {
            Some(format!("{} · {}", report.kernel?.label(), report.device.as_ref()?))
        });
        ui.add(Label::new(known(text)).truncate());
    });
    let mut figure = |name, about, text: Option<String>| {
        row(ui, name, about, |ui| ui.label(known(text)));
    };
    figure(
        "Threads",
        "Threads per block.",
        footprint.map(|it| format!("{} per block", it.threads)),
    );
    figure(
        "Registers",
        "Registers per thread. The more a thread uses, the fewer blocks run at once.",
        footprint.map(|it| format!("{} per thread", it.registers)),
    );
    figure(
        "Shared memory",
        "Shared memory per block, through which its threads exchange values.",
        footprint.map(|it| format!("{} per block", human(it.shared_bytes as u64))),
    );
    figure(
        "Blocks",
        "Blocks that a multiprocessor of the GPU runs at once.",
        footprint.map(|it| format!("{} per SM", it.blocks_per_multiprocessor)),
    );
    figure(
        "Waves",
        "How many times a cycle fills the GPU with blocks. A value just above a whole number leaves most of the GPU idle at the end.",
        footprint.map(|it| format!("{:.2}", it.waves())),
    );
    let products = footprint.and_then(|it| it.products);
    if let Some(products) = products {
        figure(
            "Products",
            "Multiply-adds of a cycle in the sine basis: products of the tiles with matrices of half their side. Their number does not depend on k.",
            Some(format!("{} per cycle", count(products.per_cycle))),
        );
    }
    let updates = footprint.zip(report.and_then(points_per_second));
    let updates = updates.map(|(it, points)| points / it.points_per_second);
    let rate = report.and_then(|report| report.cycles_per_second);
    let (part, about) = match products {
        None => (
            updates,
            "Kept point updates, as a share of the GPU's peak arithmetic rate at its highest clock.",
        ),
        Some(products) if products.on_tensor_cores => (
            rate.map(|rate| products.of_peak(rate)),
            "Multiply-adds of the products, as a share of the peak rate of the GPU's tensor cores at its highest clock.",
        ),
        Some(products) => (
            rate.map(|rate| products.of_peak(rate)),
            "Multiply-adds of the products, as a share of the GPU's peak arithmetic rate at its highest clock.",
        ),
    };
    row(ui, "% of peak", about, |ui| {
        let bar = ProgressBar::new(part.unwrap_or(0.0) as f32).desired_width(BAR);
        ui.add(bar.desired_height(10.0)).on_hover_text(about);
        ui.label(known(part.map(|part| format!("{:.1} %", 100.0 * part))));
    });
}

/// Kept point updates per second.
fn points_per_second(report: &Report) -> Option<f64> {
    let shape = report.plan.problem.shape;
    let points = shape.nx() as f64 * shape.rows() as f64 * report.plan.sweeps_per_cycle() as f64;
    Some(points * report.cycles_per_second?)
}

fn known(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// A large number with a power of ten.
fn count(number: f64) -> String {
    let (value, power) = match number {
        number if number < 1e6 => (number * 1e-3, "10³"),
        number if number < 1e9 => (number * 1e-6, "10⁶"),
        number => (number * 1e-9, "10⁹"),
    };
    format!("{} × {power}", digits(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{FieldKind, Worker};
    use crate::solver::{Footprint, Products};
    use eframe::egui;
    use egui_kittest::{Harness, kittest::Queryable};
    use std::sync::Arc;
    use std::time::Duration;

    /// The first report of the default experiment that knows its speed.
    fn report(session: &Session) -> Box<Report> {
        let worker = Worker::start(|| {}).unwrap();
        let mut request = session.request(session.observation(None, [64, 64], None));
        Arc::make_mut(&mut request.spec).method.backend = Backend::Cpu;
        worker.request(request);
        loop {
            let report = worker.wait(Duration::from_secs(60)).unwrap().unwrap();
            assert_eq!(report.observation.field, FieldKind::Residual);
            if report.cycles_per_second.is_some() {
                return report;
            }
        }
    }

    /// The panel as it is laid out, and where its heading for the next would be.
    fn panel(session: Session, report: Option<Box<Report>>) -> Harness<'static> {
        let size = egui::vec2(crate::app::widgets::theme::SETTINGS_WIDTH, 520.0);
        Harness::builder()
            .with_size(size)
            .with_theme(egui::Theme::Dark)
            .with_context_setup(crate::app::widgets::theme::set_up)
            .build_ui(move |ui| {
                ui.set_width(size.x - 16.0);
                super::ui(ui, &session, report.as_deref());
                ui.label("end");
            })
    }

    fn end(panel: &Harness) -> f32 {
        panel.get_by_label("end").rect().top()
    }

    fn on_gpu() -> Session {
        let mut session = Session::default();
        Arc::make_mut(&mut session.spec).method.backend = Backend::Cuda;
        session
    }

    fn with_gpu(mut report: Box<Report>) -> Box<Report> {
        report.device = Some("NVIDIA H200".into());
        report.kernel = Some(Kernel::REGISTER);
        report.footprint = Some(Footprint {
            threads: 32,
            registers: 168,
            shared_bytes: 8448,
            blocks: 1089,
            blocks_per_multiprocessor: 12,
            multiprocessors: 132,
            points_per_second: 4.18e12,
            products: None,
        });
        // 256² points, k = 16: a quarter of the limit.
        report.cycles_per_second = Some(4.18e12 / 4.0 / (256.0 * 256.0 * 16.0));
        report
    }

    #[test]
    fn a_gpu_kernel_shows_its_resources_and_its_speed() {
        let session = Session::default();
        let panel = panel(on_gpu(), Some(with_gpu(report(&session))));
        for text in [
            "1.00 µs",
            "1,045 × 10⁹ per second",
            "Register · NVIDIA H200",
            "32 per block",
            "168 per thread",
            "8.45 kB per block",
            "12 per SM",
            "0.69",
            "25.0 %",
        ] {
            assert!(panel.query_by_label(text).is_some(), "{text}");
        }
    }

    #[test]
    fn products_are_compared_with_the_peak_of_what_makes_them() {
        let mut report = with_gpu(report(&Session::default()));
        report.kernel = Some(Kernel::SPECTRAL);
        report.cycles_per_second = Some(1e5);
        let products =
            Products { per_cycle: 134e6, most_per_second: 33.5e12, on_tensor_cores: true };
        report.footprint = report.footprint.map(|it| Footprint { products: Some(products), ..it });
        let panel = panel(on_gpu(), Some(report));
        for text in ["134 × 10⁶ per cycle", "40.0 %"] {
            assert!(panel.query_by_label(text).is_some(), "{text}");
        }
    }

    #[test]
    fn the_cpu_has_no_peak_to_show() {
        let session = Session::default();
        let report = report(&session);
        assert_eq!((report.kernel, &report.device, report.footprint), (None, &None, None));
        let panel = panel(session, Some(report));
        assert!(panel.query_by_label_contains("per second").is_some());
        assert!(panel.query_by_label_contains("per thread").is_none());
        assert!(panel.query_by_label_contains(" %").is_none());
    }

    /// Nothing moves when a report comes, on the CPU or on a GPU.
    #[test]
    fn unknown_values_keep_their_place() {
        let latest = report(&Session::default());
        let before = end(&panel(Session::default(), None));
        assert_eq!(end(&panel(Session::default(), Some(latest.clone()))), before);
        let before = end(&panel(on_gpu(), None));
        assert_eq!(end(&panel(on_gpu(), Some(with_gpu(latest)))), before);
    }

    /// The papers' remedy is a tile of 32 points along x; others are named.
    #[test]
    fn bank_conflicts_of_a_width_are_named() {
        let with_tile = |tile: usize| {
            let mut session = Session::default();
            Arc::make_mut(&mut session.spec).method.tile = vec![tile];
            panel(session, None)
        };
        assert!(with_tile(32).query_by_label_contains("reads take").is_none());
        assert!(with_tile(24).query_by_label("2-way, reads take 1.33×").is_some());
    }

    #[test]
    fn counts_have_three_digits() {
        let counts = [9.1e5, 4.35e8, 4.351e10].map(count);
        assert_eq!(counts, ["910 × 10³", "435 × 10⁶", "43.5 × 10⁹"]);
    }
}
