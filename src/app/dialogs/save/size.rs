//! How large an animation's file will be, estimated beside the window while the dialog is open.

use crate::app::state::save::Sources;
use crate::grid::memory;
use crate::picture::{Film, FilmFile, FilmSize, ViewSpec, counted};
use crate::run::Snapshot;
use crate::run::host::aside_with_pauses;
use crate::stop_token::StopToken;
use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui::Context;
use std::path::PathBuf;
use std::sync::Arc;

/// An animation whose size is wanted.
#[derive(Clone)]
struct SizeJob {
    path: PathBuf,
    view: ViewSpec,
    sources: Sources,
    newest: Arc<Snapshot>,
    /// The cycles of the frames that are encoded.
    cycles: Vec<u64>,
}

/// The estimate, which is made beside the window.
pub struct SizeEstimate {
    context: Context,
    done: Sender<Result<FilmSize, String>>,
    answers: Receiver<Result<FilmSize, String>>,
    /// Set to stop what is recomputed for it.
    closing: StopToken,
    /// What is estimated, or was estimated last.
    latest: Option<SizeJob>,
    is_busy: bool,
    size: Option<Result<FilmSize, String>>,
}

impl Drop for SizeEstimate {
    fn drop(&mut self) {
        self.closing.now();
    }
}

impl SizeJob {
    /// Two frames in the middle of those that the run has reached; one, the newest iterate, where it has not
    /// reached two of them.
    fn new(path: PathBuf, view: &ViewSpec, sources: &Sources, newest: &Arc<Snapshot>) -> Self {
        let all = view.frames.map(|frames| frames.cycles()).unwrap_or_default();
        let known = all.iter().take_while(|cycle| **cycle <= newest.cycle()).count();
        let cycles = match known / 2 {
            0 => vec![newest.cycle()],
            middle => all[middle - 1..=middle].to_vec(),
        };
        let (view, sources, newest) = (view.clone(), sources.clone(), Arc::clone(newest));
        Self { path, view, sources, newest, cycles }
    }

    /// Whether the answer for another holds for this one: the run may have continued, and the name may differ.
    fn is_like(&self, other: &Self) -> bool {
        let kind = |job: &Self| FilmFile::of(&job.path).ok();
        // One frame is the newest iterate, whichever that is.
        let is_same_frame =
            self.cycles == other.cycles || self.cycles.len() + other.cycles.len() == 2;
        kind(self) == kind(other)
            && self.view == other.view
            && self.sources == other.sources
            && is_same_frame
    }

    async fn estimate(&self, cancel: &StopToken) -> Result<FilmSize, String> {
        let Some(frames) = self.view.frames else {
            return Err("it is not an animation".to_owned());
        };
        let request = self.view.snapshot_request(0, &self.newest.plan.problem.shape);
        let mut runs: Vec<Vec<Snapshot>> = Vec::new();
        for &cycle in &self.cycles {
            let sources = self.sources.at(cycle);
            let snapshots = sources.snapshots(&self.newest, &request, &self.view, cancel).await?;
            runs.resize_with(snapshots.len(), Vec::new);
            for (run, snapshot) in runs.iter_mut().zip(snapshots) {
                run.push(snapshot);
            }
        }
        let last: Vec<_> = runs.iter().filter_map(|snapshots| snapshots.last()).collect();
        let view = self.view.clone().of(&last);
        let film = Film { runs: &runs, view: &view, frames };
        let size = FilmSize::of_with_pauses(&self.path, &film, &self.newest.plan.spec).await;
        size.map_err(|error| error.to_string())
    }
}

impl SizeEstimate {
    pub fn new(context: &Context) -> Self {
        let (done, answers) = bounded(1);
        Self {
            context: context.clone(),
            done,
            answers,
            closing: StopToken::default(),
            latest: None,
            is_busy: false,
            size: None,
        }
    }

    /// Takes an answer, and estimates the size of this animation, if that is another.
    pub fn update(
        &mut self,
        path: PathBuf,
        view: &ViewSpec,
        sources: &Sources,
        newest: &Arc<Snapshot>,
    ) {
        if let Ok(answer) = self.answers.try_recv() {
            (self.is_busy, self.size) = (false, Some(answer));
        }
        if self.is_busy {
            return;
        }
        let next = SizeJob::new(path, view, sources, newest);
        if self.latest.as_ref().is_none_or(|latest| !next.is_like(latest)) {
            self.start(next);
        }
    }

    /// Estimates a size beside the window; there is at most one at a time.
    fn start(&mut self, job: SizeJob) {
        self.latest = Some(job.clone());
        let (done, context) = (self.done.clone(), self.context.clone());
        let cancel = self.closing.clone();
        let started = aside_with_pauses("tilescope-film-size", async move || {
            // The receiver is gone once the dialog is closed.
            if done.send(job.estimate(&cancel).await).is_ok() {
                context.request_repaint();
            }
        });
        self.is_busy = started.is_ok();
        let refused = started.err();
        self.size = refused.map(|error| Err(format!("no thread could be started: {error}")));
    }

    /// What is known of the size of an animation with this many frames.
    pub fn text(&self, frames: usize) -> String {
        let frames_text = counted(frames as u64, "frame");
        match &self.size {
            None => format!("{frames_text}, size: estimating …"),
            Some(Ok(size)) => format!("{frames_text}, about {}", memory::about(size.bytes(frames))),
            Some(Err(_)) => format!("{frames_text}, size: unknown"),
        }
    }

    /// Why the size is not known.
    pub fn refusal(&self) -> Option<&str> {
        self.size.as_ref()?.as_ref().err().map(String::as_str)
    }
}
