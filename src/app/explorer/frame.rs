//! What happens between two frames: commands are carried out, the worker gets requests and its
//! answers are taken.

use crate::app::actions;
use crate::app::actions::ActionContext;
use crate::app::dialogs::open::OpenDialog;
use crate::app::dialogs::save::SaveDialog;
use crate::app::explorer::Explorer;
use crate::app::explorer::action_table::ACTIONS;
use crate::app::explorer::browse;
use crate::app::explorer::lessons::BeforeLesson;
use crate::app::explorer::reports::on_cpu;
use crate::app::panes::heat_map;
use crate::app::state::command::Command;
use crate::clock::Instant;
use crate::run::Phase;
use eframe::egui::{self, Event, Key, KeyboardShortcut, Modifiers};

impl Explorer {
    /// Carries out commands, sends requests, and takes answers.
    pub(super) fn update(&mut self, context: &egui::Context) {
        self.undo.follow(context);
        if !context.input(|input| input.pointer.any_down()) {
            self.session.end_drag();
        }
        self.read_keys(context);
        let dropped = browse::dropped(context);
        let takes_initial_guess = self.open.as_ref().is_some_and(OpenDialog::takes_initial_guess);
        let open = if takes_initial_guess { Command::OpenInitialGuess } else { Command::Open };
        self.commands.extend(dropped.into_iter().map(open));
        self.apply_commands(context);
        while let Some(result) = self.files.result() {
            self.take_result(result, context);
        }
        while let Some(answer) = self.worker.answer() {
            match answer {
                Ok(report) => self.take_report(report),
                Err(refusal) => {
                    if self.report.is_none() {
                        self.session.rejection = Some(refusal.why.clone());
                    }
                    // It leaves with the setting that was refused.
                    let remedy = on_cpu(&self.session.spec);
                    self.toasts
                        .of_run(refusal.epoch, |toasts| toasts.error_with(refusal.why, remedy));
                    // The previous run continues, and the panels return to its settings, unless
                    // these changed meanwhile.
                    if let Some(report) = &self.report
                        && self.session.epoch == refusal.epoch
                    {
                        self.session.spec = report.plan.spec.clone().into();
                        self.undo.rename_epoch(report.epoch, refusal.epoch);
                    }
                }
            }
        }
        self.toasts.retain_run(self.session.epoch);
        self.files.retain_run(self.session.epoch);
        for why in self.drop_lost_files() {
            self.toasts.error(why);
        }
        for why in self.tuning.receive() {
            self.toasts.error(why);
        }
        if let Some(taken) = self.back.take(self.report.as_deref_mut()) {
            if taken.is_changed {
                self.redraw_map();
            }
            if let Some(why) = taken.failed {
                self.toasts.error(format!("The earlier {why}."));
            }
        }
        if !self.tuning.is_timing() {
            self.back.play(&mut self.session, self.report.as_deref(), context);
        }
        self.follow_rate();
        self.follow_lesson();
        self.send_requests();
        let is_dense = self.is_tuning || self.save.is_some() || self.welcome || self.is_lesson_list;
        self.scale.apply(context, is_dense);
        self.save_settings(context);
    }

    /// Carries out commands, and sends requests at once: the worker can start before the next
    /// frame.
    pub(super) fn apply_commands(&mut self, context: &egui::Context) {
        let commands = std::mem::take(&mut self.commands);
        let is_left = !self.tuning.is_timing() && self.back.is_left(&self.session);
        if commands.is_empty() && !is_left {
            return;
        }
        for command in commands {
            self.apply(command, context);
        }
        self.send_requests();
        context.request_repaint();
    }

    /// Sends requests to the worker and the replay, if they changed.
    fn send_requests(&mut self) {
        // The run is paused so that timings are clean; requests are sent when the measurement ends.
        let is_timing = self.tuning.is_timing();
        self.worker.rest(is_timing);
        if is_timing {
            self.back.rest();
            return;
        }
        let map = &self.map;
        let mut observation = self.session.observation(map.part(), map.most(), map.probe());
        self.panes.request(&self.session, &mut observation);
        let mut request = self.session.request(observation);
        request.kept = self.undo.epochs(&self.session);
        // The reader's own run waits for the end of the lesson.
        request.kept.extend(self.before_lesson.as_ref().map(BeforeLesson::epoch));
        let preview = self.save.as_ref().and_then(SaveDialog::asked);
        request.snapshot_requests =
            self.files.snapshot_requests().chain(preview).cloned().collect();
        if self.last_request.as_ref() != Some(&request) {
            self.worker.request(request.clone());
            self.last_request = Some(request.clone());
        }
        if self.back.request(&self.session, self.report.as_deref_mut(), &request.observation) {
            self.redraw_map();
        }
    }

    /// Measures how fast the shown cycle grows, while a run or a replay is to move it.
    fn follow_rate(&mut self) {
        let shown = self.report.as_deref().filter(|report| {
            self.session.travel.playing
                || (report.phase == Phase::Running && self.session.travel.at.is_none())
        });
        let shown = shown.map(|report| (report.epoch, report.observation.cycle));
        self.reached.follow(shown, Instant::now());
    }

    /// Updates the map from the report.
    fn redraw_map(&mut self) {
        if let Some(report) = &self.report {
            self.map.take(report, &self.session.view);
        }
    }

    /// The context of actions.
    pub(super) fn action_context<'a>(&'a self, window: &'a egui::Context) -> ActionContext<'a> {
        ActionContext {
            session: &self.session,
            report: self.report.as_deref(),
            undo: &self.undo,
            hidden: self.panes.hidden(),
            pointed_at: self.map.pointed_at(),
            is_tuning: self.is_tuning,
            scale: self.scale,
            window,
        }
    }

    /// Reads keyboard shortcuts, except while a text field or a dialog has the keyboard. A focused
    /// control keeps its own keys: those without Ctrl.
    fn read_keys(&mut self, context: &egui::Context) {
        let is_enabled = !context.text_edit_focused() && !self.is_dialog_open();
        let is_flip_held = heat_map::is_flip_held(context);
        let flipped = is_enabled
            && !self.session.pins.all().is_empty()
            && (is_flip_held
                || context.input(|input| {
                    actions::FLIP.keys.iter().any(|key| input.key_down(key.logical_key))
                }));
        if flipped != self.session.flipped {
            self.commands.push(Command::Flip(flipped));
        }
        let first = self.first_key.take().filter(|_| is_enabled);
        if !is_enabled {
            return;
        }
        let is_free = !context.egui_wants_keyboard_input();
        let is_free_key = |key: &KeyboardShortcut| is_free || key.modifiers.command;
        let pressed = context.input_mut(|input| {
            let is_press = |event: &Event| {
                matches!(
                    event,
                    Event::Key { pressed: true, .. } | Event::PointerButton { pressed: true, .. }
                )
            };
            let waits = !input.events.iter().any(is_press);
            let mut consume = |first: Option<Key>| {
                let keys = ACTIONS.by_key.iter();
                let keys = keys.filter(|(key, action)| action.first == first && is_free_key(key));
                keys.filter(|(key, _)| input.consume_shortcut(key)).collect::<Vec<_>>()
            };
            // The second of two keys comes first: alone it has another meaning.
            let mut pressed = first.map_or_else(Vec::new, |_| consume(first));
            pressed.extend(consume(None));
            let mut begin = ACTIONS.first_keys.iter().copied();
            let begun = begin.find(|&key| is_free && input.consume_key(Modifiers::NONE, key));
            self.first_key = begun.or(first.filter(|_| waits));
            pressed
        });
        let actions = self.action_context(context);
        let asked: Vec<_> =
            pressed.into_iter().filter_map(|(_, action)| action.command(&actions)).collect();
        self.commands.extend(asked);
    }

    /// Whether a dialog is open.
    fn is_dialog_open(&self) -> bool {
        self.save.is_some()
            || self.tuning.is_saving()
            || self.open.is_some()
            || self.palette.is_some()
            || self.keys
            || self.welcome
            || self.is_lesson_list
    }
}
