//! The members of groups, each asked for by its number.

use crate::app::actions::{Action, BLANK, looked, plain};
use crate::app::explorer::Explorer;
use crate::app::panes::Pane;
use crate::app::state::command::Command;
use crate::app::state::experiments::EXPERIMENTS;
use crate::app::state::view_settings::{AUTOMATIC, Against, CurveKind};
use crate::app::widgets::cut_line::Way;
use crate::picture::{ColourMap, ScaleKind};
use crate::run::{FieldKind, PRESETS};
use eframe::egui::{Key, KeyboardShortcut};

/// Keys of the members of a group, in their order.
const NUMBERS: [[KeyboardShortcut; 1]; 11] = [
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

/// The members of a group, by name and sentence; their keys come after the group's own, if it has one.
fn numbered(
    group: &'static str,
    first: Option<Key>,
    members: impl IntoIterator<Item = (&'static str, &'static str)>,
    command: fn(&Explorer, usize) -> Option<Command>,
) -> impl Iterator<Item = Action> {
    members.into_iter().enumerate().map(move |(which, (name, about))| {
        let keys = &NUMBERS[which];
        Action { group, name, about, keys, first, which, command }
    })
}

pub(super) fn fields() -> impl Iterator<Item = Action> {
    let members = FieldKind::ALL.map(|field| (field.label(), field.about()));
    numbered("Field", None, members, |it, which| {
        looked(it, |look| look.field = FieldKind::ALL[which])
    })
}

pub(super) fn colouring() -> impl Iterator<Item = Action> {
    let members = ScaleKind::ALL.map(|scale| (scale.label(), scale.about()));
    let scales = numbered("Scale", Some(Key::S), members, |it, which| {
        looked(it, |look| look.of_field_mut(look.field).set_scale(ScaleKind::ALL[which]))
    });
    let members = ColourMap::ALL.map(|map| (map.label(), map.about()));
    let maps = numbered("Colour map", Some(Key::M), members, |it, which| {
        looked(it, |look| look.of_field_mut(look.field).map = ColourMap::ALL[which])
    });
    let members = AUTOMATIC.iter().map(|&(_, name, about)| (name, about));
    let ranges = numbered("Range", Some(Key::G), members, |it, which| {
        looked(it, |look| look.of_field_mut(look.field).range = AUTOMATIC[which].0)
    });
    scales.chain(maps).chain(ranges)
}

pub(super) fn cuts() -> impl Iterator<Item = Action> {
    let members = Way::ALL.map(|way| (way.label(), way.about()));
    numbered("Cut along", Some(Key::L), members, |it, which| {
        let shape = it.report.as_ref()?.plan.problem.shape;
        (shape.dim() == 2).then(|| Command::CutAlong(Way::ALL[which].line(&shape)))
    })
}

pub(super) fn curves() -> impl Iterator<Item = Action> {
    let members = CurveKind::ALL.map(|curve| (curve.label(), curve.about()));
    let norms = numbered("Norm", Some(Key::N), members, |it, which| {
        looked(it, |look| look.curve = CurveKind::ALL[which])
    });
    let members = Against::ALL.map(|against| (against.label(), against.about()));
    let against = numbered("Curves over", Some(Key::X), members, |it, which| {
        looked(it, |look| look.against = Against::ALL[which])
    });
    norms.chain(against)
}

pub(super) fn panes() -> impl Iterator<Item = Action> {
    Pane::ALL.into_iter().enumerate().map(|(which, pane)| Action {
        group: "Show or hide",
        name: pane.label(),
        about: pane.about(),
        keys: pane.keys(),
        which,
        command: |it, which| {
            let pane = Pane::ALL[which];
            Some(Command::ShowPane(pane, !it.panes.is_wanted(pane)))
        },
        ..BLANK
    })
}

pub(super) fn problems() -> impl Iterator<Item = Action> {
    let members = PRESETS.iter().map(|preset| (preset.label, preset.about));
    numbered("Problem", Some(Key::E), members, |it, which| {
        Some(Command::Change(it.session.with(&PRESETS[which])))
    })
}

pub(super) fn experiments() -> impl Iterator<Item = Action> {
    let members = EXPERIMENTS.iter().map(|experiment| (experiment.title, experiment.about));
    numbered("Experiment", Some(Key::V), members, |_, which| Some(Command::Try(which)))
}
