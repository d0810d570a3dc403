//! What happens between two frames: commands are carried out, the worker is told and heard.

use crate::app::actions;
use crate::app::dialogs::save::SaveDialog;
use crate::app::explorer::Explorer;
use crate::app::explorer::files::{Done, FilmEnd, Others};
use crate::app::panes::Pane;
use crate::app::state::command::Command;
use crate::app::state::compare::{AtEqual, Compare, How};
use crate::app::state::pins;
use crate::app::state::session::elsewhere;
use crate::picture::Opened;
use crate::run::{Backend, ExactState, Outcome, Phase, Report, RunSpec};
use crate::solver::Kernel;
use eframe::egui::{self, Event, Key, KeyboardShortcut, Modifiers};

impl Explorer {
    /// Carries out what was asked for, tells the worker, and takes its answers in.
    pub(in crate::app) fn update(&mut self, context: &egui::Context) {
        self.undo.follow(context);
        self.read_keys(context);
        let dropped = context.input(|input| input.raw.dropped_files.clone());
        let paths = dropped.iter().map(|file| file.path().to_owned());
        self.commands.extend(paths.map(Command::Open));
        self.obey(context);
        while let Some(done) = self.files.done() {
            self.take_done(done, context);
        }
        while let Some(answer) = self.worker.answer() {
            match answer {
                Ok(report) => self.take_report(report),
                Err(refusal) => {
                    self.toasts.error_with(refusal.why, on_cpu(&self.session.spec));
                    // The run before it goes on, and the panels show its settings again, unless they
                    // show yet others by now.
                    if let Some(report) = &self.report
                        && self.session.epoch == refusal.epoch
                    {
                        self.session.spec = report.plan.spec.clone().into();
                    }
                }
            }
        }
        for why in self.lost_files() {
            self.toasts.error(why);
        }
        for why in self.tuning.hear() {
            self.toasts.error(why);
        }
        let report = self.report.as_deref_mut();
        if let Some(why) = self.back.take(&self.session, report, &mut self.map) {
            self.toasts.error(format!("The earlier {why}."));
        }
        if !self.tuning.is_timing() {
            self.back.play(&mut self.session, self.report.as_deref(), context);
        }
        self.tell();
        let is_dense = self.is_tuning || self.save.is_some() || self.welcome;
        self.scale.apply(context, is_dense);
        self.remember(context);
    }

    /// Carries out what was asked for, and tells the worker at once: it works while the next frame
    /// is waited for.
    pub(in crate::app) fn obey(&mut self, context: &egui::Context) {
        let commands = std::mem::take(&mut self.commands);
        let is_left = !self.tuning.is_timing() && self.back.is_left(&self.session);
        if commands.is_empty() && !is_left {
            return;
        }
        for command in commands {
            self.carry_out(command, context);
        }
        self.tell();
        context.request_repaint();
    }

    /// Tells the worker what is wanted, if that is something else than before.
    fn tell(&mut self) {
        // Timing bears no company: what is chosen or looked at meanwhile is made when it is over.
        let is_timing = self.tuning.is_timing();
        self.worker.rest(is_timing);
        if is_timing {
            self.back.rest();
            return;
        }
        let mut request =
            self.session.request(self.map.part(), self.map.most(), self.map.probe(), &self.panes);
        let preview = self.save.as_ref().and_then(SaveDialog::asked);
        request.snapshot_requests =
            self.files.snapshot_requests().chain(preview).cloned().collect();
        if self.told.as_ref() != Some(&request) {
            self.worker.request(request.clone());
            self.told = Some(request.clone());
        }
        let report = self.report.as_deref_mut();
        self.back.tell(&self.session, report, &request.view, &mut self.map);
    }

    /// Keys ask for something, unless somebody is typing, or a dialog is answered by them. A
    /// control that was gone to by the keyboard keeps its own: those without Ctrl.
    fn read_keys(&mut self, context: &egui::Context) {
        let is_heard = !context.text_edit_focused() && !self.is_asking();
        let flipped = is_heard
            && !self.session.pins.all().is_empty()
            && context.input(|input| {
                actions::FLIP.keys.iter().any(|key| input.key_down(key.logical_key))
            });
        if flipped != self.session.flipped {
            self.commands.push(Command::Flip(flipped));
        }
        let first = self.first_key.take().filter(|_| is_heard);
        if !is_heard {
            return;
        }
        let is_free = !context.egui_wants_keyboard_input();
        let is_ours = |key: &KeyboardShortcut| is_free || key.modifiers.command;
        let pressed = context.input_mut(|input| {
            let is_press = |event: &Event| {
                matches!(
                    event,
                    Event::Key { pressed: true, .. } | Event::PointerButton { pressed: true, .. }
                )
            };
            let waits = !input.events.iter().any(is_press);
            let mut consume = |first: Option<Key>| {
                let keys = actions::BY_KEY.iter();
                let keys = keys.filter(|(key, action)| action.first == first && is_ours(key));
                keys.filter(|(key, _)| input.consume_shortcut(key)).collect::<Vec<_>>()
            };
            // What it begins comes first: the key by itself asks for something else.
            let mut pressed = first.map_or_else(Vec::new, |_| consume(first));
            pressed.extend(consume(None));
            let mut begin = actions::FIRST_KEYS.iter().copied();
            let begun = begin.find(|&key| is_free && input.consume_key(Modifiers::NONE, key));
            self.first_key = begun.or(first.filter(|_| waits));
            pressed
        });
        let asked = pressed.into_iter().filter_map(|(_, action)| action.command(self));
        let asked: Vec<_> = asked.collect();
        self.commands.extend(asked);
    }

    /// The newest cycle of the run.
    pub(in crate::app) fn latest(&self) -> u64 {
        self.report.as_ref().map_or(0, |report| report.latest.cycle)
    }

    /// So many cycles on from the one that is shown; from the newest, those are made.
    pub(in crate::app) fn forth(&self, cycles: u64) -> Option<Command> {
        let (travel, latest) = (self.session.travel, self.latest());
        match travel.earlier(latest) {
            None => self.can_go().then_some(Command::Step(cycles)),
            Some(here) => Some(Command::Travel(travel.to(here.saturating_add(cycles), latest))),
        }
    }

    /// So many cycles back from the one that is shown.
    pub(in crate::app) fn back(&self, cycles: u64) -> Option<Command> {
        let (travel, latest) = (self.session.travel, self.latest());
        let here = travel.cycle(latest);
        (here > 0).then(|| Command::Travel(travel.to(here.saturating_sub(cycles), latest)))
    }

    /// Whether a dialog is open.
    fn is_asking(&self) -> bool {
        self.save.is_some()
            || self.open.is_some()
            || self.palette.is_some()
            || self.keys
            || self.welcome
    }

    /// Whether the run can go on: as on their buttons, a run that is at its end neither goes on
    /// nor waits.
    pub(in crate::app) fn can_go(&self) -> bool {
        !self.session.is_finished(self.report.as_deref())
    }

    /// Files that wait for what will never be, in a sentence each.
    fn lost_files(&mut self) -> Vec<String> {
        let epoch = self.session.epoch;
        let report = self.report.as_deref().filter(|report| report.epoch == epoch);
        self.files.give_up(|of, field| {
            if of != epoch {
                return Some("the run was changed before it was ready".to_owned());
            }
            report?.cannot_show(field).map(str::to_owned)
        })
    }

    fn take_report(&mut self, report: Box<Report>) {
        let before = self.report.as_ref().filter(|before| before.epoch == report.epoch);
        if before.is_none()
            && let Some(warning) = report.plan.warning()
        {
            self.toasts.warning(warning);
        }
        let was_going = before.is_none_or(|before| !matches!(before.phase, Phase::Finished(_)));
        if let Phase::Finished(outcome) = &report.phase
            && was_going
        {
            match outcome {
                // The status line says so; nothing needs doing.
                Outcome::Converged => {}
                Outcome::OutOfCycles => {
                    let cycles = report.latest.cycle;
                    self.toasts.info(format!("Stopped at the limit of {cycles} cycles."));
                }
                Outcome::Diverged(why) => self.toasts.error(format!("Stopped: {why}.")),
            }
        }
        if let Phase::Failed { why } = &report.phase
            && before.is_none_or(|before| before.phase != report.phase)
        {
            let stopped = format!("Stopped: {why}. {}", elsewhere(&report));
            self.toasts.error_with(stopped, on_cpu(&report.plan.spec));
        }
        if let ExactState::Failed(why) = &report.exact
            && before.is_none_or(|before| before.exact != report.exact)
        {
            self.toasts.error(format!("No error can be shown: {why}."));
        }
        if let Some(snapshot) = &report.snapshot {
            let previews = self.save.as_mut().is_some_and(|dialog| dialog.take(snapshot));
            if !previews {
                self.files.save(snapshot);
            }
        }
        self.map.take(&report, &self.session.look);
        let mut report = report;
        self.back.keep(&mut report, self.report.take());
        self.report = Some(report);
    }

    fn take_done(&mut self, done: Result<Done, String>, context: &egui::Context) {
        match done {
            Ok(Done::Image(image)) => {
                context.copy_image(image);
                self.toasts.success("Image copied");
            }
            Ok(Done::Film(end)) => {
                self.files.end_film();
                match end {
                    Ok(path) => {
                        self.save = None;
                        self.toasts.success(format!("Saved {}", path.display()));
                    }
                    Err(FilmEnd::Stopped) => {
                        self.toasts.info("The animation was stopped; nothing was saved.");
                    }
                    Err(FilmEnd::Failed(why)) => self.toasts.error(why),
                }
            }
            Ok(Done::Saved(path)) => self.toasts.success(format!("Saved {}", path.display())),
            Ok(Done::Opened(opened)) => {
                self.undo.note(&self.session);
                self.take_in(*opened);
            }
            Ok(Done::Others(others)) => self.take_others(&others),
            Ok(Done::Problem(problem)) => {
                self.undo.note(&self.session);
                let mut spec = RunSpec::clone(&self.session.spec);
                spec.stop = problem.kind.default_stop();
                spec.problem = problem;
                self.session.begin(spec);
            }
            Ok(Done::Remembered(written)) => self.take_remembered(written),
            Err(why) => self.toasts.error(why),
        }
    }

    /// Shows a run that was opened: from its start or, of a figure, what that shows.
    pub(in crate::app) fn take_in(&mut self, opened: Opened) {
        self.session.begin(opened.run);
        self.like = opened.view;
        let Some(view) = &self.like else {
            return;
        };
        self.session.show(view);
        self.map.zoom_out();
        self.is_tuning = false;
        self.panes.show(Pane::of(view.kind), true);
        self.files.make_others(self.session.epoch, view, self.session.memory_of_each());
    }

    /// Pins the runs beside the first of a figure that was opened, and compares the run with them as
    /// the figure does, unless there is another run by now.
    fn take_others(&mut self, others: &Others) {
        let mut numbers = Vec::new();
        for (number, made) in &others.made {
            match self.session.pins.pin_made(made, *number) {
                Some(pin) => numbers.push(pin.number),
                None => {
                    self.toasts.error(pins::too_many());
                    return;
                }
            }
        }
        let pins = self.session.pins.all();
        let first = pins.iter().find(|pin| Some(&pin.number) == numbers.first());
        if let Some(pin) = first.filter(|_| others.epoch == self.session.epoch) {
            let sweeps = others.cycle.saturating_mul(self.session.spec.method.sweeps_per_cycle());
            self.session.look.compare = Compare {
                how: if others.is_beside { How::SideBySide } else { How::Alone },
                with: Some(pin.number),
                at_equal: AtEqual::that_pairs(others.cycle, sweeps, pin, others.beside),
            };
        }
    }
}

/// The same run on the CPU, of one that was to be made on a GPU.
fn on_cpu(run: &RunSpec) -> Option<(&'static str, Command)> {
    (run.method.backend == Backend::Cuda).then(|| {
        let mut run = run.clone();
        (run.method.backend, run.method.kernel) = (Backend::Cpu, Kernel::Auto);
        ("Run on the CPU", Command::Change(run))
    })
}
