//! Files, read and written on threads of their own, so that no disk makes the window wait.

use super::save_dialog::{SaveRequest, What};
use crate::picture::{self, FigureKind, OpenError, Opened, ViewSpec, figure, save_figure};
use crate::problem::input;
use crate::run::{self, Capture, Captured, Planner, ProblemKind, ProblemSpec};
use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What came of a file.
pub(super) enum Done {
    Saved(PathBuf),
    Opened(Box<Opened>),
    Problem(ProblemSpec),
}

/// Answers that may wait to be taken in; a window takes them in every frame.
const WAITING: usize = 16;

/// The window's files: what is being read and written.
pub(super) struct Files {
    context: egui::Context,
    answer: Sender<Result<Done, String>>,
    answers: Receiver<Result<Done, String>>,
    requests: Vec<(u64, SaveRequest)>,
    last: u64,
}

impl Files {
    pub fn new(context: &egui::Context) -> Self {
        let (answer, answers) = bounded(WAITING);
        Self { context: context.clone(), answer, answers, requests: Vec::new(), last: 0 }
    }

    /// What came of the next file that is done with.
    pub fn done(&self) -> Option<Result<Done, String>> {
        self.answers.try_recv().ok()
    }

    /// What to ask the worker for, so that a file can be saved.
    pub fn capture(&mut self, request: SaveRequest) -> Capture {
        self.last += 1;
        let most = match request.what {
            What::BareMap => [usize::MAX; 2],
            _ => request.figure.size.map(|side| side as usize),
        };
        let solution = request.what == What::Field;
        let capture = Capture { id: self.last, field: request.field, cut: None, most, solution };
        self.requests.push((self.last, request));
        capture
    }

    /// Saves what was captured.
    pub fn save(&mut self, captured: &Arc<Captured>) {
        let requested = self.requests.iter().position(|(id, _)| *id == captured.id);
        let Some((_, request)) = requested.map(|index| self.requests.swap_remove(index)) else {
            return;
        };
        let captured = Arc::clone(captured);
        self.work("tilescope-save", move || {
            write(&request, &captured).map(|()| Done::Saved(request.path))
        });
    }

    /// Opens a file, whatever it is.
    pub fn open(&self, path: PathBuf) {
        self.work("tilescope-open", move || open(&path));
    }

    fn work(&self, name: &str, work: impl FnOnce() -> Result<Done, String> + Send + 'static) {
        let (answer, context) = (self.answer.clone(), self.context.clone());
        let spawned = std::thread::Builder::new().name(name.into()).spawn(move || {
            // Nobody waits any more once the window is closed.
            _ = answer.send(work());
            context.request_repaint();
        });
        if let Err(error) = spawned {
            _ = self
                .answer
                .try_send(Err(format!("the system gives no thread for the file: {error}")));
        }
    }
}

/// Writes what was asked for.
fn write(request: &SaveRequest, captured: &Captured) -> Result<(), String> {
    let path = &request.path;
    let run = &captured.plan.spec;
    let drawn = |kind| {
        let (cycle, field) = (captured.cycle, captured.field);
        let (over, look) = (request.over, request.figure);
        let view = ViewSpec { cycle, field, kind, over, figure: look, ..ViewSpec::default() };
        save_figure(path, &figure(&[captured], &view), run, Some(&view)).map_err(|e| e.to_string())
    };
    let told = |error: &dyn std::fmt::Display| error.to_string();
    match request.what {
        What::Figure => drawn(FigureKind::HeatMap),
        What::Curves => drawn(FigureKind::Curves),
        What::BareMap => drawn(FigureKind::BareMap),
        What::Run => run::save_run(path, run).map_err(|e| told(&e)),
        What::CurveTable => {
            let sweeps = captured.plan.sweeps_per_cycle();
            run::save_curve(path, &captured.history, sweeps, captured.start_residual)
                .map_err(|e| told(&e))
        }
        What::Field => match &captured.solution {
            Some(field) => {
                run::save_field(path, field, captured.plan.precision).map_err(|e| told(&e))
            }
            None => Err("the field was not captured".into()),
        },
    }
}

/// Reads a run file, a figure that carries its run, or a right-hand side.
fn open(path: &Path) -> Result<Done, String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is = |what: &str| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(what));
    if is("toml") || is("png") || is("apng") || is("svg") {
        match picture::open(path) {
            Ok(opened) => {
                // Before it takes the place of the run there is.
                Planner::default().plan(&opened.run).map_err(|error| error.to_string())?;
                return Ok(Done::Opened(opened.into()));
            }
            // Any other picture is somebody's right-hand side.
            Err(OpenError::NoRun { .. }) if is("png") => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let shape = input::natural_shape(path).map_err(|error| error.to_string())?;
    Ok(Done::Problem(ProblemSpec {
        kind: ProblemKind::Picture,
        shape: shape.axes().to_vec(),
        copies: shape.copies(),
        rhs: Some(path.to_owned()),
        ..ProblemSpec::default()
    }))
}
