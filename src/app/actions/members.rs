//! Actions of groups, each by its number.

use crate::app::actions::action::{Action, ActionContext, BLANK, changed_view, command, plain};
use crate::app::state::command::Command;
use crate::app::state::experiments::EXPERIMENTS;
use crate::app::state::lesson::LessonOrder;
use crate::app::state::view_settings::{AUTOMATIC, Against};
use crate::app::widgets::cut_line::LineKind;
use crate::lesson::lessons as all_lessons;
use crate::picture::{ColourMap, Norm, ScaleKind};
use crate::run::{FieldKind, PRESETS};
use eframe::egui::{Key, KeyboardShortcut};

/// Keys of the members of a group, in their order: 1 to 9, 0 and A. Members after them have none.
pub const NUMBERS: [[KeyboardShortcut; 1]; 11] = [
    [plain(Key::Num1)],
    [plain(Key::Num2)],
    [plain(Key::Num3)],
    [plain(Key::Num4)],
    [plain(Key::Num5)],
    [plain(Key::Num6)],
    [plain(Key::Num7)],
    [plain(Key::Num8)],
    [plain(Key::Num9)],
    [plain(Key::Num0)],
    [plain(Key::A)],
];

/// Keys of panes, in their order; a tenth pane has none.
const PANE_NUMBERS: [[KeyboardShortcut; 1]; 9] = [
    [command(Key::Num1)],
    [command(Key::Num2)],
    [command(Key::Num3)],
    [command(Key::Num4)],
    [command(Key::Num5)],
    [command(Key::Num6)],
    [command(Key::Num7)],
    [command(Key::Num8)],
    [command(Key::Num9)],
];

/// Groups whose members have numbers after a first key.
const FIRST_KEYS: [(&str, Key); 9] = [
    ("Scale", Key::S),
    ("Colour map", Key::M),
    ("Range", Key::G),
    ("Cut along", Key::L),
    ("Norm", Key::N),
    ("Curves over", Key::X),
    ("Problem", Key::E),
    ("Experiment", Key::V),
    ("Lesson", Key::H),
];

fn first_key(group: &str) -> Option<Key> {
    FIRST_KEYS.iter().find(|(name, _)| *name == group).map(|(_, key)| *key)
}

/// The tooltip of a menu with a group's actions: what it is for, and its keys.
pub fn menu_tooltip(group: &str, about: &str) -> String {
    let first = first_key(group);
    let first = first.map_or_else(String::new, |key| format!("{} then ", key.name()));
    format!("{about} ({first}1, 2 …)")
}

/// The members of a group, by name and sentence.
fn numbered(
    group: &'static str,
    members: impl IntoIterator<Item = (&'static str, &'static str)>,
    command: fn(&ActionContext<'_>, usize) -> Option<Command>,
) -> impl Iterator<Item = Action> {
    let first = first_key(group);
    members.into_iter().enumerate().map(move |(which, (name, about))| {
        let keys = NUMBERS.get(which).map_or(&[][..], |keys| keys);
        Action { group, name, about, keys, first, which, command, ..BLANK }
    })
}

/// An action for each pane, by its title and sentence.
pub fn panes(
    members: impl IntoIterator<Item = (&'static str, &'static str)>,
    command: fn(&ActionContext<'_>, usize) -> Option<Command>,
    why_not: fn(&ActionContext<'_>, usize) -> Option<&'static str>,
) -> impl Iterator<Item = Action> {
    members.into_iter().enumerate().map(move |(which, (name, about))| {
        let keys = PANE_NUMBERS.get(which).map_or(&[][..], |keys| keys);
        Action { group: "Show or hide", name, about, keys, first: None, which, command, why_not }
    })
}

pub fn fields() -> impl Iterator<Item = Action> {
    let members = FieldKind::ALL.map(|field| (field.label(), field.about()));
    numbered("Field", members, |it, which| {
        changed_view(it, |view| view.field = FieldKind::ALL[which])
    })
}

pub fn colouring() -> impl Iterator<Item = Action> {
    let members = ScaleKind::ALL.map(|scale| (scale.label(), scale.about()));
    let scales = numbered("Scale", members, |it, which| {
        changed_view(it, |view| view.of_field_mut(view.field).set_scale(ScaleKind::ALL[which]))
    });
    let members = ColourMap::ALL.map(|map| (map.label(), map.about()));
    let maps = numbered("Colour map", members, |it, which| {
        changed_view(it, |view| view.of_field_mut(view.field).map = ColourMap::ALL[which])
    });
    let members = AUTOMATIC.iter().map(|&(_, name, about)| (name, about));
    let ranges = numbered("Range", members, |it, which| {
        changed_view(it, |view| view.of_field_mut(view.field).range = AUTOMATIC[which].0)
    });
    scales.chain(maps).chain(ranges)
}

pub fn cuts() -> impl Iterator<Item = Action> {
    let members = LineKind::ALL.map(|kind| (kind.label(), kind.about()));
    numbered("Cut along", members, |it, which| {
        let shown = it.report.as_ref()?.plan.shown(it.session.view.slice);
        (shown.dim() == 2).then(|| Command::SetProfileLine(LineKind::ALL[which].line(&shown)))
    })
}

pub fn curves() -> impl Iterator<Item = Action> {
    let members = Norm::ALL.map(|norm| (norm.label(), norm.about()));
    let norms = numbered("Norm", members, |it, which| {
        changed_view(it, |view| view.norm = Norm::ALL[which])
    });
    let members = Against::ALL.map(|against| (against.label(), against.about()));
    let against = numbered("Curves over", members, |it, which| {
        changed_view(it, |view| view.against = Against::ALL[which])
    });
    norms.chain(against)
}

pub fn problems() -> impl Iterator<Item = Action> {
    let members = PRESETS.iter().map(|preset| (preset.label, preset.about));
    numbered("Problem", members, |it, which| {
        Some(Command::Change(it.session.with(&PRESETS[which])))
    })
}

pub fn experiments() -> impl Iterator<Item = Action> {
    let members = EXPERIMENTS.iter().map(|experiment| (experiment.title, experiment.about));
    numbered("Experiment", members, |_, which| Some(Command::RunExperiment(which)))
}

pub fn lessons() -> impl Iterator<Item = Action> {
    let members = all_lessons().iter().map(|lesson| {
        (lesson.title.as_str(), "Begin this lesson. Your run waits until you leave it.")
    });
    numbered("Lesson", members, |_, which| {
        let lesson = all_lessons().get(which)?.clone();
        Some(Command::Lesson(LessonOrder::Begin(lesson)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_beyond_the_numbers_have_no_key() {
        let members = |count| (0..count).map(|_| ("name", "About."));
        let actions: Vec<_> = numbered("Problem", members(12), |_, _| None).collect();
        assert_eq!((actions[10].keys.len(), actions[11].keys.len()), (1, 0));
        let actions: Vec<_> = panes(members(10), |_, _| None, |_, _| None).collect();
        assert_eq!((actions[8].keys.len(), actions[9].keys.len()), (1, 0));
    }
}
