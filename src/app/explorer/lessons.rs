//! Lessons: what a step shows, and the return to the reader's own run, panes and colours.

use crate::app::explorer::Explorer;
use crate::app::panes::Panes;
use crate::app::state::compare::How;
use crate::app::state::drag::HoldAt;
use crate::app::state::lesson::{LessonOrder, LessonProgress};
use crate::app::state::pins::Pins;
use crate::app::state::session::{LeftRun, Session};
use crate::app::state::travel::Travel;
use crate::app::state::undo::Undo;
use crate::app::state::view_settings::{Against, RangeMode, ViewSettings};
use crate::lesson::{At, Lesson, Show, ShownRange, Target};
use crate::picture::{FigureKind, ScaleKind};
use crate::run::{FieldKind, Milestone};
use std::sync::Arc;

/// What the reader had before a lesson.
pub struct BeforeLesson {
    run: LeftRun,
    pub view: ViewSettings,
    hold_at: HoldAt,
    pins: Pins,
    undo: Undo,
    panes: Panes,
    panes_before: Option<Panes>,
    all_panes: Option<Panes>,
    presenting: bool,
    is_tuning: bool,
}

impl BeforeLesson {
    /// The epoch of the run that waits.
    pub fn epoch(&self) -> u64 {
        self.run.epoch
    }

    /// The panes that are remembered when the window is closed.
    pub fn own_panes(&self) -> &Panes {
        self.all_panes.as_ref().or(self.panes_before.as_ref()).unwrap_or(&self.panes)
    }
}

impl Explorer {
    /// Does what a reader requests.
    pub(super) fn execute_lesson(&mut self, order: LessonOrder) {
        match order {
            LessonOrder::ShowList(shown) => self.is_lesson_list = shown,
            LessonOrder::Begin(lesson) => self.begin_lesson(lesson),
            LessonOrder::Step(step) => self.go_to_step(step),
            LessonOrder::Choose(choice) => {
                let Some(progress) = &mut self.session.lesson else { return };
                progress.choose(choice);
                let setting = progress.current().and_then(|step| step.setting.as_ref());
                let subiteration = setting.and_then(|setting| setting.then_subiteration);
                if let Some(then) = setting.and_then(|setting| setting.then.clone()) {
                    self.change_to(&then);
                }
                if let Some(subiteration) = subiteration {
                    self.session.view.inside.subiteration = subiteration;
                }
            }
            LessonOrder::ShowWay => {
                let step = self.session.lesson.as_ref().and_then(LessonProgress::current);
                let way = step.and_then(|step| step.goal.as_ref()).map(|goal| goal.way.clone());
                if let Some(way) = way {
                    self.change_to(&way);
                }
            }
            LessonOrder::Leave => self.leave_lesson(),
        }
    }

    /// Begins a lesson, at the step where it was left before.
    pub(super) fn begin_lesson(&mut self, lesson: Arc<Lesson>) {
        self.leave_lesson();
        self.is_lesson_list = false;
        self.end_welcome();
        let step = self.lessons_begun.get(&lesson.name).copied().unwrap_or(0);
        let presenting = self.scale.presenting;
        let panes = Panes::of_lesson(&[], presenting);
        self.before_lesson = Some(BeforeLesson {
            run: self.session.left_run(self.report.as_deref()),
            view: self.session.view.clone(),
            hold_at: std::mem::take(&mut self.session.hold_at),
            pins: std::mem::take(&mut self.session.pins),
            undo: std::mem::take(&mut self.undo),
            panes: std::mem::replace(&mut self.panes, panes),
            panes_before: self.panes_before.take(),
            all_panes: self.all_panes.take(),
            presenting,
            is_tuning: std::mem::take(&mut self.is_tuning),
        });
        self.session.lesson = Some(LessonProgress::new(lesson, 0));
        self.go_to_step(step);
    }

    /// Gives the reader back what there was before the lesson.
    pub(super) fn leave_lesson(&mut self) {
        let Some(before) = self.before_lesson.take() else { return };
        self.session.lesson = None;
        let BeforeLesson { run, view, hold_at, pins, undo, .. } = before;
        self.session.return_to(run);
        (self.session.view, self.session.hold_at) = (view, hold_at);
        (self.session.pins, self.undo) = (pins, undo);
        (self.panes, self.panes_before, self.all_panes) =
            (before.panes, before.panes_before, before.all_panes);
        self.is_tuning = before.is_tuning;
        // The presentation mode may have been entered or left meanwhile.
        let scale = self.scale;
        self.scale.presenting = before.presenting;
        self.draw_at(scale);
        self.map.zoom_out();
    }

    /// Shows a step.
    fn go_to_step(&mut self, step: usize) {
        let Some(progress) = &mut self.session.lesson else { return };
        progress.step = step.min(progress.lesson.steps.len().saturating_sub(1));
        let name = progress.lesson.name.clone();
        if progress.is_last() {
            self.lessons_begun.remove(&name);
            self.lessons_done.insert(name);
        } else {
            self.lessons_begun.insert(name, progress.step);
        }
        let (lesson, step) = (Arc::clone(&progress.lesson), progress.step);
        let Some((index, setting)) = lesson.setting(step) else { return };
        if progress.shown == Some(index) && index != step {
            // The reader's changes stay.
            return;
        }
        progress.shown = Some(index);
        let then = setting.then.as_ref().filter(|_| progress.choice(index).is_some());
        let target = then.unwrap_or(&setting.target);
        self.session.pins = Pins::default();
        self.undo = Undo::default();
        self.session.begin(target.run.clone());
        (self.session.travel, self.session.pace, self.session.drag) =
            (Travel::default(), None, None);
        let sweeps = target.run.sweeps_per_cycle();
        match target.at.cycle(sweeps) {
            Some(cycle) => (self.session.running, self.session.steps) = (false, cycle),
            None => self.session.running = true,
        }
        self.session.view = self.view_of(&setting.show);
        if let Some(subiteration) = setting.then_subiteration.filter(|_| then.is_some()) {
            self.session.view.inside.subiteration = subiteration;
        }
        self.panes = Panes::of_lesson(&setting.show.panes, self.scale.presenting);
        self.map.zoom_out();
        if let Some(before) = &setting.before {
            let until = target.at.cycle(sweeps).map_or(u64::MAX, |cycle| {
                let sweeps = At::Sweeps(cycle * sweeps);
                sweeps.cycle(before.sweeps_per_cycle()).unwrap_or(u64::MAX)
            });
            let (epoch, memory) = (self.session.epoch, self.session.memory_of_each());
            self.files.make_run(epoch, before, until, How::Wipe, memory);
        }
    }

    /// Changes the run; the picture stays until the new run has come as far.
    fn change_to(&mut self, target: &Target) {
        let is_same = self.session.spec.is_same_run(&target.run);
        self.session.change(target.run.clone(), self.report.as_deref());
        let sweeps = target.run.sweeps_per_cycle();
        match target.at.cycle(sweeps) {
            Some(cycle) if is_same => self.session.steps = cycle,
            Some(cycle) => {
                self.session.catch_up = Some(Milestone::Sweeps(cycle * sweeps));
                self.session.running = false;
            }
            None => self.session.running = true,
        }
    }

    /// A run that the reader changed before it reached the sweeps of the step, or before any of it was shown, continues to
    /// there.
    pub(super) fn keep_place_of_step(&mut self) {
        let progress = self.session.lesson.as_ref();
        let setting = progress.and_then(|progress| progress.lesson.setting(progress.step));
        let Some((_, setting)) = setting else { return };
        let each = setting.target.run.sweeps_per_cycle();
        let place = setting.target.at.cycle(each).map(|cycle| cycle * each);
        let Some(place) = place else { return };
        match &mut self.session.catch_up {
            Some(Milestone::Sweeps(goal)) => *goal = place.max(*goal),
            None if !self.session.running => {
                self.session.catch_up = Some(Milestone::Sweeps(place));
            }
            _ => {}
        }
    }

    /// The view of a step, in the reader's colour maps.
    fn view_of(&self, show: &Show) -> ViewSettings {
        let (field, norm, borders) = (show.field, show.norm, show.borders);
        let mut view = ViewSettings { field, norm, borders, ..Default::default() };
        if let Some(before) = &self.before_lesson {
            for field in FieldKind::ALL {
                let own = before.view.of_field(field);
                let shown = view.of_field_mut(field);
                if own.map.is_diverging() == shown.map.is_diverging() {
                    shown.map = own.map;
                }
            }
        }
        let colours = view.of_field_mut(show.field);
        if let Some(scale) = show.scale {
            colours.set_scale(scale);
        }
        let is_log = show.scale.is_none_or(|scale| scale == ScaleKind::Log);
        colours.range = match show.range {
            ShownRange::Follow => RangeMode::Follow,
            ShownRange::WholeRun => RangeMode::WholeRun,
            ShownRange::Fixed(range) => RangeMode::Locked(range),
        };
        if let Some(over) = show.over {
            view.against = Against::of(over);
        }
        view.profile.line = show.cut;
        view.profile.log = is_log;
        view.asymptotic_rate = show.asymptotic_rate;
        view.accelerations.clone_from(&show.references);
        if let Some(subiteration) = show.subiteration {
            view.inside.subiteration = subiteration;
        }
        view
    }

    /// Lays out the panes of the present step again, since the presentation mode changed.
    pub(super) fn arrange_lesson(&mut self) {
        let kinds: Vec<FigureKind> = self
            .session
            .lesson
            .as_ref()
            .and_then(|progress| progress.lesson.setting(progress.step))
            .map_or_else(Vec::new, |(_, setting)| setting.show.panes.clone());
        self.panes = Panes::of_lesson(&kinds, self.scale.presenting);
    }

    /// Notes whether the goal of the step is reached.
    pub(super) fn follow_lesson(&mut self) {
        let Session { lesson: Some(progress), epoch, .. } = &mut self.session else { return };
        if let Some(report) = self.report.as_deref().filter(|report| report.epoch == *epoch) {
            progress.follow(report);
        }
    }
}
