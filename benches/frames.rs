//! Time of the window's frames while the worker runs, without the GPU's part, and the cost of
//! observation for the solver.
//!
//! `cargo bench --bench frames` prints the figures; it compares them with no earlier run.

use eframe::App;
use eframe::egui::{
    self, CentralPanel, Context, Event, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape,
    accesskit::Role,
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tilescope::app::Explorer;
use tilescope::grid::GridPoint;
use tilescope::picture::Opened;
use tilescope::run::{
    Backend, CutLine, CycleLists, Experiment, FieldKind, FrequencyRequest, MapRequest, Measure,
    ObservationRequest, Planner, ProfileRequest, ReplayRequest, ReplayTarget, Rewinder, RunSpec,
    SweepSpec, TileLists, Tuner, TunerEvent, Worker, WorkerRequest, parse_per_axis,
    parse_subiterations,
};
use tilescope::solver::{Followed, Kernel};

const SIZE: egui::Vec2 = egui::vec2(1280.0, 800.0);

/// Time of a frame at 60 Hz.
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Duration of each measurement.
const MEASURED: Duration = Duration::from_secs(5);

/// Samples of slider moves and of jumps to earlier cycles.
const MOVES: usize = 50;

fn main() {
    // `cargo test --all-targets` runs benches, too, but must not measure.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let parts: [(&str, fn()); 10] = [
        ("frames", frame_times),
        ("pictures", first_pictures),
        ("drag", drags),
        ("reports", first_reports),
        ("observations", observations),
        ("throughput", throughput),
        ("frequencies", frequencies),
        ("keyframes", keyframes),
        ("replay", replays),
        ("tuning", tuning),
    ];
    // The parts named on the command line, or all.
    let named: Vec<String> = std::env::args().skip(1).filter(|name| name != "--bench").collect();
    for (name, measure) in parts {
        if named.is_empty() || named.iter().any(|wanted| wanted == name) {
            measure();
        }
    }
}

fn run(side: usize) -> RunSpec {
    let mut run = RunSpec::default();
    run.problem.shape = vec![side, side];
    // The run must not end while it is measured.
    run.stop.tolerance = Some(1e-12);
    run
}

/// The window without a screen, at 60 Hz.
struct Window {
    context: Context,
    explorer: Explorer,
    frame: eframe::Frame,
    begin: Instant,
    due: Instant,
    output: egui::FullOutput,
}

impl Window {
    fn new(run: RunSpec) -> Self {
        let context = Context::default();
        context.enable_accesskit();
        let start = Some(Opened { run, view: None });
        let explorer = Explorer::new(&context, start).expect("threads can be started");
        let (frame, now) = (eframe::Frame::_new_kittest(), Instant::now());
        let output = egui::FullOutput::default();
        Self { context, explorer, frame, begin: now, due: now, output }
    }

    /// Waits for the next frame, draws it up to its triangles and returns the time of that.
    fn frame(&mut self, events: Vec<Event>) -> Duration {
        std::thread::sleep(self.due.saturating_duration_since(Instant::now()));
        let begin = Instant::now();
        self.due = (self.due + FRAME).max(begin);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, SIZE)),
            time: Some(self.begin.elapsed().as_secs_f64()),
            events,
            ..RawInput::default()
        };
        let Self { explorer, frame, .. } = self;
        let mut output = self.context.run_ui(input, |ui| {
            let context = ui.ctx().clone();
            explorer.logic(&context, frame);
            CentralPanel::no_frame().show(ui, |ui| explorer.ui(ui, frame));
        });
        let shapes = output.shapes.clone();
        let triangles = self.context.tessellate(shapes, output.pixels_per_point);
        assert!(!triangles.is_empty());
        let took = begin.elapsed();
        output.textures_delta.clear();
        self.output = output;
        took
    }

    /// Whether the window shows a text.
    /// All texts of the last frame.
    fn texts(&self) -> Vec<&str> {
        fn collect<'a>(shape: &'a Shape, texts: &mut Vec<&'a str>) {
            match shape {
                Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, texts)),
                Shape::Text(text) => texts.push(text.galley.text()),
                _ => {}
            }
        }
        let mut texts = Vec::new();
        self.output.shapes.iter().for_each(|shape| collect(&shape.shape, &mut texts));
        texts
    }

    fn shows(&self, part: &str) -> bool {
        self.texts().iter().any(|text| text.contains(part))
    }

    /// The rectangle of a slider.
    fn slider(&self, name: &str) -> Rect {
        let update = self.output.platform_output.accesskit_update.as_ref().expect("a tree");
        let node = update.nodes.iter().map(|(_, node)| node);
        let bounds = node
            .filter(|node| node.role() == Role::Slider && node.label() == Some(name))
            .find_map(|node| node.bounds())
            .expect("the slider is there");
        Rect::from_min_max(
            egui::pos2(bounds.x0 as f32, bounds.y0 as f32),
            egui::pos2(bounds.x1 as f32, bounds.y1 as f32),
        )
    }
}

fn percentile(sorted: &[Duration], part: f64) -> Duration {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

fn print_times(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let milliseconds = |part| percentile(&times, part).as_secs_f64() * 1e3;
    println!(
        "{name}: median {:.2} ms, 99 % {:.2} ms, worst {:.2} ms ({} samples)",
        milliseconds(0.5),
        milliseconds(0.99),
        milliseconds(1.0),
        times.len()
    );
}

/// Frames while a run on 1024² points proceeds at full speed.
fn frame_times() {
    let mut window = Window::new(run(1024));
    while !window.shows("Edge share") {
        window.frame(Vec::new());
    }
    let begin = Instant::now();
    let mut times = Vec::new();
    let mut step = 0.0;
    while begin.elapsed() < MEASURED {
        // The pointer moves over the map.
        step += 0.05f32;
        let at = egui::pos2(560.0 + 200.0 * step.cos(), 420.0 + 200.0 * (0.7 * step).sin());
        times.push(window.frame(vec![Event::PointerMoved(at)]));
    }
    print_times("frame at 1024² while the worker runs", times);
}

/// From a move of the overlap slider to the first picture of the new run. The move comes right after
/// a frame, which is the worst moment.
fn first_pictures() {
    let mut window = Window::new(run(256));
    while !window.shows("Edge share") {
        window.frame(Vec::new());
    }
    let slider = window.slider("Overlap");
    let at = |part: f32| egui::pos2(slider.left() + part * slider.width(), slider.center().y);
    let press = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    window.frame(vec![Event::PointerMoved(at(0.0)), press(at(0.0), true)]);
    let mut times = Vec::new();
    for count in 0..MOVES {
        for _ in 0..6 {
            window.frame(Vec::new());
        }
        let (before, part) = (points_at_borders(&window), if count % 2 == 0 { 0.8 } else { 0.1 });
        let begin = Instant::now();
        window.frame(vec![Event::PointerMoved(at(part))]);
        while points_at_borders(&window) == before {
            window.frame(Vec::new());
            assert!(begin.elapsed() < Duration::from_secs(10), "no new picture");
        }
        times.push(begin.elapsed());
    }
    window.frame(vec![press(at(0.1), false)]);
    print_times("slider to first picture at 256²", times);
}

/// Notches of a drag.
const NOTCHES: usize = 20;

/// From a notch of the overlap slider to the picture of that overlap, at as many sweeps as before,
/// while the slider is dragged to large values and back.
fn drags() {
    let on_gpu = {
        let mut run = run(1024);
        run.method.backend = Backend::Cuda;
        Planner::default().plan(&run).is_ok().then_some((run, "1024² on a GPU"))
    };
    let mut on_cpu = run(256);
    on_cpu.method.backend = Backend::Cpu;
    for (run, name) in [(on_cpu, "256² on the CPU")].into_iter().chain(on_gpu) {
        let mut window = Window::new(run);
        while !window.shows("Edge share") || window.begin.elapsed() < MEASURED {
            window.frame(Vec::new());
        }
        let slider = window.slider("Overlap");
        // The handle's middle stays within the slider by half its height.
        let (first, last) = (slider.left() + 8.0, slider.right() - 8.0);
        let at = |overlap: usize| {
            let part = overlap as f32 / LARGEST_OVERLAP as f32;
            egui::pos2(first + part * (last - first), slider.center().y)
        };
        let press = |pos, pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        window.frame(vec![Event::PointerMoved(at(0)), press(at(0), true)]);
        while !window.shows("Held at") {
            window.frame(Vec::new());
        }
        let up = (1..=LARGEST_OVERLAP / 2).map(|notch| 2 * notch);
        let down = (1..).map(|notch| LARGEST_OVERLAP - 2 * notch);
        let mut times = Vec::new();
        for overlap in up.chain(down).take(NOTCHES) {
            for _ in 0..6 {
                window.frame(Vec::new());
            }
            let before = shown_numbers(&window);
            let begin = Instant::now();
            window.frame(vec![Event::PointerMoved(at(overlap))]);
            while shown_numbers(&window) == before {
                window.frame(Vec::new());
                let is_late = begin.elapsed() >= DEADLINE;
                assert!(!is_late, "no picture with overlap {overlap}: {:?}", window.texts());
            }
            times.push(begin.elapsed());
        }
        window.frame(vec![press(at(0), false)]);
        print_times(&format!("notch of a drag to its picture, {name}"), times);
    }
}

/// The largest overlap on the slider, with tiles of 32² points.
const LARGEST_OVERLAP: usize = 30;

/// The line of this run in the table under the curves, and the line under the map: while a picture is held they change
/// with the picture alone. Neither the residual nor the edge share tells all overlaps apart; the solver's time does.
fn shown_numbers(window: &Window) -> Vec<String> {
    let texts = window.texts();
    let heading = texts.iter().position(|text| *text == "solver time").unwrap_or(texts.len());
    // The heading of the residual; then the run's name, its cycles, sweeps, time and residual.
    let row = texts.iter().skip(heading).take(7).map(|text| (*text).to_owned());
    row.chain([line_under_the_map(window)]).collect()
}

/// The line under the map.
fn line_under_the_map(window: &Window) -> String {
    let texts = window.texts();
    let line = texts.into_iter().find(|text| text.starts_with("Edge share"));
    line.unwrap_or_default().to_owned()
}

/// The share of the points at tile borders in that line: it tells two tilings apart while a run goes on.
fn points_at_borders(window: &Window) -> String {
    line_under_the_map(window).rsplit("on ").next().unwrap_or_default().to_owned()
}

/// What is observed of a run.
#[derive(Clone, Copy, PartialEq)]
enum Observed {
    Nothing,
    /// The panes of the first start.
    DefaultPanes,
    /// Every pane.
    AllPanes,
}

/// Cycles per second while reports are taken 60 times per second, and without observation.
fn throughput() {
    for side in [256, 1024] {
        let all = [Observed::Nothing, Observed::DefaultPanes, Observed::AllPanes];
        // In turns, so that other load on the machine affects all alike.
        let mut rates = [const { Vec::new() }; 3];
        for _ in 0..6 {
            for (observed, rates) in all.into_iter().zip(&mut rates) {
                rates.push(rate(side, observed));
            }
        }
        let [nothing, default_panes, all_panes] = rates.map(|mut rates: Vec<f64>| {
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        });
        let part = |rate: f64| format!("{rate:.0} ({:.0} %)", 100.0 * rate / nothing);
        println!(
            "throughput at {side}²: {nothing:.0} cycles/s unobserved, {} with the default panes at 60 Hz, {} with all panes",
            part(default_panes),
            part(all_panes)
        );
    }
}

/// How often the frequencies of another iterate arrive while the run proceeds.
fn frequencies() {
    for (shape, field) in [
        (vec![256, 256], FieldKind::Residual),
        (vec![256, 256], FieldKind::Error),
        (vec![1024, 1024], FieldKind::Residual),
        (vec![64, 64, 64], FieldKind::Residual),
    ] {
        let worker = Worker::start(|| {}).expect("threads can be started");
        let mut run = run(256);
        // On a GPU the run would end while it is measured.
        run.method.backend = Backend::Cpu;
        run.problem.shape.clone_from(&shape);
        if shape.len() == 3 {
            run.method.tile = vec![16];
        }
        let mut request = request(1, run);
        request.observation.profile = None;
        request.observation.field = field;
        request.observation.frequencies = Some(FrequencyRequest { most: [1024; 2], slice: None });
        worker.request(request);
        let take = || worker.wait(DEADLINE).expect("a report").expect("a valid request");
        let mut last = None;
        while last.is_none() {
            last = take().observation.frequencies.as_ref().map(|found| found.cycle);
        }
        let (begin, mut pictures, mut sweeps) = (Instant::now(), 0, 0);
        // In 5 s a run of 256² points comes to its end.
        while begin.elapsed() < MEASURED / 3 {
            let report = take();
            let found = report.observation.frequencies.as_ref().map(|found| found.cycle);
            pictures += u32::from(found != last);
            (last, sweeps) = (found, report.latest.cycle * report.plan.sweeps_per_cycle());
        }
        let rate = f64::from(pictures) / begin.elapsed().as_secs_f64();
        println!(
            "frequencies of {field:?} at {shape:?}: {rate:.1} pictures/s while {sweeps} sweeps were made"
        );
    }
}

/// The cost of keyframes for the solver: its cycles per second with and without.
fn keyframes() {
    for (side, k) in [(256, 16), (256, 1), (1024, 16)] {
        let mut rates = [const { Vec::new() }; 2];
        for _ in 0..8 {
            for (memory, rates) in [0, 512_000_000].into_iter().zip(&mut rates) {
                let mut run = run(side);
                run.method.k = k.into();
                rates.push(rate_of(WorkerRequest { memory, ..request(1, run) }, false));
            }
        }
        let [without, with] = rates.map(|mut rates: Vec<f64>| {
            rates.sort_by(f64::total_cmp);
            rates[rates.len() / 2]
        });
        println!(
            "keyframes at {side}², k = {k}: {without:.0} cycles/s without, {with:.0} with ({:.1} %)",
            100.0 * with / without
        );
    }
}

/// From a request for an earlier cycle to its report, while the run is paused and while it proceeds.
fn replays() {
    for running in [false, true] {
        let worker = Worker::start(|| {}).expect("threads can be started");
        let mut request = request(1, run(256));
        request.observation.profile = None;
        worker.request(request.clone());
        let take = || worker.wait(DEADLINE).expect("a report").expect("a valid request");
        let begin = Instant::now();
        while begin.elapsed() < MEASURED {
            take();
        }
        request.running = running;
        worker.request(request.clone());
        let mut report = None;
        for _ in 0..8 {
            report = worker.wait(MEASURED / 20).or(report);
        }
        let report = report.expect("a report").expect("a valid request");
        let replay = Rewinder::start(|| {}).expect("threads can be started");
        let mut times = Vec::new();
        for id in 1..=MOVES as u64 {
            // Cycles in pseudo-random order.
            let cycle = id * 2_654_435_761 % (report.latest.cycle + 1);
            let (archive, view) = (Arc::clone(&report.archive), request.observation.clone());
            let targets = vec![ReplayTarget {
                archive: Arc::clone(&archive),
                cycle,
                request: view,
                minus: None,
            }];
            let begin = Instant::now();
            replay.request(ReplayRequest {
                id,
                runs: vec![archive],
                memory: request.memory,
                targets,
            });
            while replay
                .wait(DEADLINE)
                .is_none_or(|answer| answer.id != id || answer.progress.is_some())
            {}
            times.push(begin.elapsed());
            while worker.answer().is_some() {}
        }
        let state = if running { "proceeds" } else { "is paused" };
        println!(
            "{} cycles made, {} keyframes kept",
            report.latest.cycle,
            report.archive.used() / 532_512
        );
        print_times(&format!("request to earlier cycle at 256² while the run {state}"), times);
    }
}

/// From a change of the overlap to the worker's first report, without frames in between.
fn first_reports() {
    let worker = Worker::start(|| {}).expect("threads can be started");
    let mut times = Vec::new();
    for epoch in 1..=MOVES as u64 {
        let mut run = run(256);
        run.method.overlap = vec![2 * (epoch as usize % 12)];
        std::thread::sleep(Duration::from_millis(60));
        let begin = Instant::now();
        worker.request(request(epoch, run));
        while worker.wait(DEADLINE).is_none_or(|answer| answer.is_ok_and(|it| it.epoch < epoch)) {}
        times.push(begin.elapsed());
    }
    print_times("request to first report at 256²", times);
}

const DEADLINE: Duration = Duration::from_secs(10);

fn request(epoch: u64, run: RunSpec) -> WorkerRequest {
    let cut = ProfileRequest {
        line: CutLine::Row(0),
        slice: None,
        fields: vec![FieldKind::Residual],
        most: 2048,
    };
    let observation = ObservationRequest {
        map: Some(MapRequest::whole([564, 667])),
        profile: Some(cut),
        ..ObservationRequest::default()
    };
    WorkerRequest {
        epoch,
        spec: run.into(),
        running: true,
        steps: 0,
        pace: None,
        observation,
        memory: 512_000_000,
        ..WorkerRequest::default()
    }
}

/// The time of an observation by its parts; the least of several, since other load only adds.
fn observations() {
    for side in [256, 1024] {
        let plan = Arc::new(Planner::default().plan(&run(side)).expect("a plan"));
        let mut experiment = Experiment::new(&plan).expect("memory");
        experiment.advance(3).expect("the CPU does not fail");
        let default_panes = request(1, run(side)).observation;
        let nothing = ObservationRequest { profile: None, ..default_panes.clone() };
        let views = [
            ("the map", nothing.clone()),
            ("and a profile", default_panes),
            ("and statistics", ObservationRequest { statistics: true, ..nothing.clone() }),
            (
                "and inside a cycle",
                ObservationRequest { inside: Some((Followed::Tile([3, 3], None), 16)), ..nothing },
            ),
        ];
        let least = |observe: &dyn Fn()| {
            let time = || {
                let begin = Instant::now();
                observe();
                begin.elapsed()
            };
            (0..15).map(|_| time()).min().unwrap_or_default().as_secs_f64() * 1e3
        };
        let cycle = {
            let mut other = Experiment::new(&plan).expect("memory");
            let times = (0..15).map(|_| {
                let begin = Instant::now();
                other.advance(1).expect("the CPU does not fail");
                begin.elapsed()
            });
            times.min().unwrap_or_default().as_secs_f64() * 1e3
        };
        print!("observing {side}², where a cycle takes {cycle:.2} ms:");
        for (name, view) in &views {
            let took = least(&|| drop(experiment.observe(view).expect("the CPU does not fail")));
            print!(" {name} {took:.2} ms;");
        }
        println!();
    }
}

fn rate(side: usize, observed: Observed) -> f64 {
    let mut request = request(1, run(side));
    if observed == Observed::AllPanes {
        request.observation.statistics = true;
        request.observation.inside = Some((Followed::Tile([3, 3], None), 16));
        request.observation.probes = (0..8).map(|point| GridPoint::Flat([point, point])).collect();
    }
    rate_of(request, observed != Observed::Nothing)
}

fn rate_of(request: WorkerRequest, is_observed: bool) -> f64 {
    let worker = Worker::start(|| {}).expect("threads can be started");
    worker.request(request);
    let take = || worker.wait(DEADLINE).expect("a report").expect("a valid request");
    while take().latest.cycle == 0 {}
    let first = take().latest.cycle;
    let begin = Instant::now();
    let span = Duration::from_secs(1);
    let (mut last, mut end) = (first, begin);
    if is_observed {
        while begin.elapsed() < span {
            std::thread::sleep(FRAME);
            if let Some(Ok(report)) = worker.answer() {
                (last, end) = (report.latest.cycle, Instant::now());
            }
        }
    } else {
        std::thread::sleep(span);
        // The waiting report is old; the next one has the present cycle.
        take();
        last = last.max(take().latest.cycle);
        end = Instant::now();
    }
    (last - first) as f64 / end.duration_since(begin).as_secs_f64().max(1e-3)
}

/// The tuning map with the window's ranges: when its predictions are there, when the best cell and the last of those
/// that are not slow.
fn tuning() {
    let mut run = RunSpec::default();
    run.problem.shape = vec![256, 256];
    run.method.backend = Backend::Cpu;
    let spec = SweepSpec {
        run,
        cycle: CycleLists::Tiles(TileLists {
            k: parse_subiterations("4,8,16,32,64,128").expect("a list"),
            overlap: parse_per_axis("0:30:2").expect("a list"),
            tile: parse_per_axis("32").expect("a list"),
        }),
        kernel: vec![Kernel::AUTO],
        threads: vec![0],
        measure: Measure::ALL.to_vec(),
    };
    let tuner = Tuner::start(|| {}).expect("a thread");
    let begin = Instant::now();
    assert!(tuner.begin(spec), "the tuner waits");
    let (mut measured, mut best) = (0, f64::INFINITY);
    let seconds = || begin.elapsed().as_secs_f64();
    loop {
        match tuner.wait(DEADLINE) {
            Some(TunerEvent::Ordered { slow, .. }) => {
                println!(
                    "tuning map at 256²: predicted after {:.1} s, {} slow cells",
                    seconds(),
                    slow.len()
                );
            }
            Some(TunerEvent::Measured { row, .. }) => {
                measured += 1;
                let cost = row.seconds.unwrap_or(f64::INFINITY);
                if cost < best {
                    best = cost;
                    println!("{:.1} s, cell {measured}: {:.3} s to the tolerance", seconds(), cost);
                }
            }
            Some(TunerEvent::Ended(_)) => break,
            Some(_) => {}
            None => assert!(begin.elapsed() < Duration::from_secs(600), "the map is not measured"),
        }
    }
    println!("all {measured} that are not slow after {:.1} s", seconds());
}
