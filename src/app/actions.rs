//! All that can be asked for by name, in one table: keys, the keys that tooltips tell, the palette
//! and the sheet of keys are made from it.

use super::Explorer;
use super::command::Command;
use super::cut::line::Way;
use super::heat_map::AUTOMATIC;
use super::panes::Pane;
use super::scale::Scale;
use super::session::{Against, CurveKind, Look};
use super::welcome::EXPERIMENTS;
use crate::picture::{ColourMap, ScaleKind};
use crate::run::{FieldKind, MOST_SUBITERATIONS, MethodName, MethodSpec, PRESETS, RunSpec};
use eframe::egui::{self, Key, KeyboardShortcut, Modifiers};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Something that can be asked for.
#[derive(Clone, Copy)]
pub(super) struct Action {
    /// What it belongs to.
    pub group: &'static str,
    /// What it is called within that.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Any of these asks for it.
    pub keys: &'static [KeyboardShortcut],
    /// The key that is pressed before any of those, where one is not enough.
    pub first: Option<Key>,
    /// Which of several that differ in a number alone.
    which: usize,
    /// What it asks for now; `None` while that is not possible.
    command: fn(&Explorer, usize) -> Option<Command>,
}

impl Action {
    /// What it asks for now; `None` while that is not possible.
    pub fn command(&self, explorer: &Explorer) -> Option<Command> {
        (self.command)(explorer, self.which)
    }

    /// Its name with that of its group.
    pub fn title(&self) -> String {
        format!("{}: {}", self.group, self.name)
    }

    /// The ways to press its keys: `Ctrl+Z`, `M then 2`.
    pub fn strokes(&self, context: &egui::Context) -> Vec<String> {
        let stroke = |key| {
            let last = context.format_shortcut(key);
            self.first.map_or_else(|| last.clone(), |first| format!("{} then {last}", first.name()))
        };
        self.keys.iter().map(stroke).collect()
    }

    /// The first way to press its keys.
    pub fn key(&self, context: &egui::Context) -> String {
        self.strokes(context).into_iter().next().unwrap_or_default()
    }

    /// What it does and by which key, for a tooltip.
    pub fn tooltip(&self, context: &egui::Context) -> String {
        format!("{} ({})", self.about, self.key(context))
    }
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn command(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn command_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

pub(super) const RUN: Action = Action {
    group: "Run",
    name: "Go on or wait",
    about: "Go on making cycles, or wait.",
    keys: &[plain(Key::Space)],
    first: None,
    which: 0,
    command: |it, _| it.can_go().then_some(Command::Run(!it.session.running)),
};

pub(super) const STEP: Action = Action {
    group: "Run",
    name: "Step",
    about: "Make one cycle, and wait.",
    keys: &[plain(Key::ArrowRight)],
    first: None,
    which: 0,
    command: |it, _| it.forth(1),
};

pub(super) const FORTH_10: Action = Action {
    group: "Time",
    name: "Ten cycles on",
    about: "Ten cycles on from the one that is shown; from the newest, they are made.",
    keys: &[shift(Key::ArrowRight)],
    first: None,
    which: 10,
    command: |it, cycles| it.forth(cycles as u64),
};

pub(super) const FORTH_100: Action = Action {
    name: "A hundred cycles on",
    about: "A hundred cycles on from the one that is shown; from the newest, they are made.",
    keys: &[command(Key::ArrowRight)],
    first: None,
    which: 100,
    ..FORTH_10
};

pub(super) const BACK: Action = Action {
    group: "Time",
    name: "A cycle back",
    about: "See the cycle before the one that is shown.",
    keys: &[plain(Key::ArrowLeft)],
    first: None,
    which: 1,
    command: |it, cycles| it.back(cycles as u64),
};

pub(super) const BACK_10: Action = Action {
    name: "Ten cycles back",
    about: "See what was ten cycles before the one that is shown.",
    keys: &[shift(Key::ArrowLeft)],
    first: None,
    which: 10,
    ..BACK
};

pub(super) const BACK_100: Action = Action {
    name: "A hundred cycles back",
    about: "See what was a hundred cycles before the one that is shown.",
    keys: &[command(Key::ArrowLeft)],
    first: None,
    which: 100,
    ..BACK
};

pub(super) const START: Action = Action {
    group: "Time",
    name: "Start",
    about: "See the start again.",
    keys: &[plain(Key::Home)],
    first: None,
    which: 0,
    command: |it, _| Some(Command::Travel(it.session.travel.to(0, it.latest()))),
};

pub(super) const LIVE: Action = Action {
    group: "Time",
    name: "Live",
    about: "Back to the newest cycle, and along with the run.",
    keys: &[plain(Key::End)],
    first: None,
    which: 0,
    command: |it, _| {
        let (travel, latest) = (it.session.travel, it.latest());
        travel.at.map(|_| Command::Travel(travel.to(latest, latest)))
    },
};

pub(super) const PLAY: Action = Action {
    group: "Time",
    name: "Play or stop",
    about: "Play the cycles that were made, or stop.",
    keys: &[shift(Key::Space)],
    first: None,
    which: 0,
    command: |it, _| {
        let (travel, latest) = (it.session.travel, it.latest());
        (latest > 0).then(|| Command::Travel(travel.play(!travel.playing, latest)))
    },
};

pub(super) const PIN: Action = Action {
    group: "Compare",
    name: "Pin the run",
    about: "Keep the run as it is now, to compare it with others.",
    keys: &[plain(Key::P)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::Pin),
};

/// It is held, and asks for nothing: the window looks whether it is down.
pub(super) const FLIP: Action = Action {
    group: "Compare",
    name: "Flip, while it is held",
    about: "The pinned run is shown in the place of this one for as long as the key is held.",
    keys: &[plain(Key::F)],
    first: None,
    which: 0,
    command: |_, _| None,
};

pub(super) const RESET: Action = Action {
    group: "Run",
    name: "Reset",
    about: "Back to cycle 0, and wait.",
    keys: &[plain(Key::R)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::Reset),
};

pub(super) const UNDO: Action = Action {
    group: "Edit",
    name: "Undo",
    about: "Take back the last change of a setting.",
    keys: &[command(Key::Z)],
    first: None,
    which: 0,
    command: |it, _| it.undo.can_go_back(&it.session).then_some(Command::Undo),
};

pub(super) const REDO: Action = Action {
    group: "Edit",
    name: "Redo",
    about: "Make the change again that was taken back.",
    keys: &[command_shift(Key::Z), command(Key::Y)],
    first: None,
    which: 0,
    command: |it, _| it.undo.can_go_forth().then_some(Command::Redo),
};

pub(super) const OPEN: Action = Action {
    group: "File",
    name: "Open …",
    about: "Open a run, a figure, or a picture or an array as the right-hand side.",
    keys: &[command(Key::O)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ShowOpen(true)),
};

pub(super) const SAVE: Action = Action {
    group: "File",
    name: "Save …",
    about: "Save a figure, the run, its curve or the field.",
    keys: &[command(Key::S)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ShowSave(true)),
};

pub(super) const COPY_COMMAND: Action = Action {
    group: "File",
    name: "Copy as command",
    about: "Copy the command line that makes this run again.",
    keys: &[command_shift(Key::C)],
    first: None,
    which: 0,
    command: |it, _| {
        let text = crate::run::command_line(&it.session.spec);
        Some(Command::Copy { text, what: "Command line" })
    },
};

pub(super) const BORDERS: Action = Action {
    group: "Map",
    name: "Tile borders",
    about: "Draw the borders between tiles over the map, or leave them out.",
    keys: &[plain(Key::B)],
    first: None,
    which: 0,
    command: |it, _| looked(it, |look| look.borders = !look.borders),
};

pub(super) const WHOLE_GRID: Action = Action {
    group: "Map",
    name: "Whole grid",
    about: "Show all of the grid again; a double click on the map does, too.",
    keys: &[plain(Key::W)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ZoomOut),
};

pub(super) const PROBE: Action = Action {
    group: "Map",
    name: "Probe",
    about: "Follow the point under the cursor over the cycles, or leave it.",
    keys: &[plain(Key::D)],
    first: None,
    which: 0,
    command: |it, _| it.map.pointed_at().map(Command::ToggleProbe),
};

pub(super) const CLASSIC: Action = Action {
    group: "Curves",
    name: "Classic Jacobi beside the run",
    about: "Make Jacobi's iteration on the same problem in the background, as a reference.",
    keys: &[plain(Key::J)],
    first: None,
    which: 0,
    command: |it, _| looked(it, |look| look.reference = !look.reference),
};

pub(super) const THEME: Action = Action {
    group: "View",
    name: "Dark or light",
    about: "Switch between a dark and a light window.",
    keys: &[command(Key::T)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::SwitchTheme),
};

pub(super) const TUNING: Action = Action {
    group: "View",
    name: "Tuning map",
    about: "Find the best k, overlap and tile: measure many settings, and see them as a map.",
    keys: &[plain(Key::F3)],
    first: None,
    which: 0,
    command: |it, _| Some(Command::ShowTuning(!it.is_tuning)),
};

pub(super) const PRESENT: Action = Action {
    group: "View",
    name: "Presentation size",
    about: "Draw the map and its curves as large as the window has room for, to be read from afar; or all as before.",
    keys: &[plain(Key::F9)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::Present),
};

const LARGER: Action = Action {
    group: "View",
    name: "Larger",
    about: "Draw everything larger, as far as the window has room for it.",
    keys: &[command(Key::Plus), command(Key::Equals)],
    first: None,
    which: 0,
    command: |it, _| it.scale.larger(it.files.context()).map(Command::Scale),
};

const SMALLER: Action = Action {
    group: "View",
    name: "Smaller",
    about: "Draw everything smaller again.",
    keys: &[command(Key::Minus)],
    first: None,
    which: 0,
    command: |it, _| it.scale.smaller().map(Command::Scale),
};

const USUAL_SIZE: Action = Action {
    group: "View",
    name: "Usual size",
    about: "Draw everything as large as at first.",
    keys: &[command(Key::Num0)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::Scale(Scale::default())),
};

pub(super) const ARRANGE: Action = Action {
    group: "View",
    name: "Usual arrangement",
    about: "Put every pane back where it was at first.",
    keys: &[command_shift(Key::A)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ArrangePanes),
};

pub(super) const PALETTE: Action = Action {
    group: "Help",
    name: "All actions",
    about: "Find anything that can be done by typing a part of its name.",
    keys: &[command(Key::P), command_shift(Key::P)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ShowPalette(true)),
};

pub(super) const WELCOME: Action = Action {
    group: "Help",
    name: "Experiments worth seeing",
    about: "Show the card of the first start.",
    keys: &[plain(Key::F2)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ShowWelcome(true)),
};

pub(super) const KEYS: Action = Action {
    group: "Help",
    name: "Keys",
    about: "Show which key does what.",
    keys: &[plain(Key::Questionmark), plain(Key::F1)],
    first: None,
    which: 0,
    command: |_, _| Some(Command::ShowKeys(true)),
};

/// Every action, in the order of the palette and of the sheet.
pub(super) static ALL: LazyLock<Vec<Action>> = LazyLock::new(|| {
    let mut all = vec![RUN, STEP, RESET, UNDO, REDO];
    all.extend([FORTH_10, FORTH_100, BACK, BACK_10, BACK_100, START, LIVE, PLAY, PIN, FLIP]);
    all.extend(settings());
    all.extend(fields());
    all.extend([BORDERS, WHOLE_GRID, PROBE]);
    all.extend(colouring());
    all.extend(cuts());
    all.push(CLASSIC);
    all.extend(curves());
    all.extend(panes());
    all.extend([ARRANGE, THEME, PRESENT, LARGER, SMALLER, USUAL_SIZE]);
    all.extend([OPEN, SAVE, COPY_COMMAND]);
    all.extend(problems());
    all.extend(experiments());
    all.extend([TUNING, PALETTE, KEYS, WELCOME]);
    all
});

/// Every key with its action. Those with more modifiers come first: a key alone would take
/// theirs too.
pub(super) static BY_KEY: LazyLock<Vec<(KeyboardShortcut, Action)>> = LazyLock::new(|| {
    let each = |action: &Action| {
        let action = *action;
        action.keys.iter().map(move |&key| (key, action))
    };
    let mut keys: Vec<_> = ALL.iter().flat_map(each).collect();
    let modifiers = |key: &KeyboardShortcut| {
        let held = key.modifiers;
        [held.alt, held.shift, held.command, held.ctrl].into_iter().filter(|&held| held).count()
    };
    keys.sort_by_key(|(key, _)| std::cmp::Reverse(modifiers(key)));
    keys
});

/// The keys that are pressed before another.
pub(super) static FIRST_KEYS: LazyLock<BTreeSet<Key>> =
    LazyLock::new(|| ALL.iter().filter_map(|action| action.first).collect());

/// What a menu of a group's actions is for, and by which keys they are asked for, for a tooltip.
pub(super) fn menu_tooltip(group: &str, about: &str) -> String {
    let first = ALL.iter().find(|action| action.group == group).and_then(|action| action.first);
    let first = first.map_or_else(String::new, |key| format!("{} then ", key.name()));
    format!("{about} ({first}1, 2 …)")
}

/// A change of the method by a step.
struct Setting {
    name: &'static str,
    about: &'static str,
    keys: &'static [KeyboardShortcut],
    change: fn(&mut MethodSpec),
}

const SETTINGS: [Setting; 7] = [
    Setting {
        name: "k up",
        about: "Twice as many subiterations.",
        keys: &[plain(Key::K)],
        change: |method| method.k = (method.k + 1).next_power_of_two().min(MOST_SUBITERATIONS),
    },
    Setting {
        name: "k down",
        about: "Half as many subiterations.",
        keys: &[shift(Key::K)],
        change: |method| method.k = (method.k.next_power_of_two() / 2).max(1),
    },
    Setting {
        name: "overlap up",
        about: "Neighbouring tiles share two more points.",
        keys: &[plain(Key::O)],
        change: |method| each_axis(method, |tile, overlap| (tile, overlap + 2)),
    },
    Setting {
        name: "overlap down",
        about: "Neighbouring tiles share two points less.",
        keys: &[shift(Key::O)],
        change: |method| each_axis(method, |tile, overlap| (tile, overlap.saturating_sub(2))),
    },
    Setting {
        name: "tile up",
        about: "Tiles of four more points along each axis.",
        keys: &[plain(Key::T)],
        change: |method| each_axis(method, |tile, overlap| (tile + 4, overlap)),
    },
    Setting {
        name: "tile down",
        about: "Tiles of four points less along each axis.",
        keys: &[shift(Key::T)],
        change: |method| {
            each_axis(method, |tile, overlap| (tile.saturating_sub(4).max(4), overlap))
        },
    },
    Setting {
        name: "classic or hierarchical",
        about: "One sweep over the whole grid a cycle, or k sweeps inside every tile.",
        keys: &[plain(Key::C)],
        change: |method| {
            method.name = match method.name {
                MethodName::Classic => MethodName::Hierarchical,
                MethodName::Hierarchical => MethodName::Classic,
            };
        },
    },
];

/// Changes tile and overlap along each axis; the overlap stays what the tile has room for.
fn each_axis(method: &mut MethodSpec, change: impl Fn(usize, usize) -> (usize, usize)) {
    let axes = method.tile.len().max(method.overlap.len());
    let both = (0..axes).map(|axis| change(method.tile_of(axis), method.overlap_of(axis)));
    let both: Vec<_> = both.collect();
    let room = |tile: usize| tile.saturating_sub(2) & !1;
    method.overlap = both.iter().map(|&(tile, overlap)| overlap.min(room(tile))).collect();
    method.tile = both.into_iter().map(|(tile, _)| tile).collect();
}

fn settings() -> impl Iterator<Item = Action> {
    SETTINGS.iter().enumerate().map(|(which, setting)| Action {
        group: "Method",
        name: setting.name,
        about: setting.about,
        keys: setting.keys,
        first: None,
        which,
        command: |it, which| {
            let mut spec = RunSpec::clone(&it.session.spec);
            (SETTINGS[which].change)(&mut spec.method);
            (spec != *it.session.spec).then_some(Command::Change(spec))
        },
    })
}

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

fn fields() -> impl Iterator<Item = Action> {
    FieldKind::ALL.into_iter().enumerate().map(|(which, field)| Action {
        group: "Field",
        name: field.label(),
        about: field.about(),
        keys: &NUMBERS[which],
        first: None,
        which,
        command: |it, which| looked(it, |look| look.field = FieldKind::ALL[which]),
    })
}

fn colouring() -> impl Iterator<Item = Action> {
    let scales = ScaleKind::ALL.into_iter().enumerate().map(|(which, scale)| Action {
        group: "Scale",
        name: scale.label(),
        about: scale.about(),
        keys: &NUMBERS[which],
        first: Some(Key::S),
        which,
        command: |it, which| {
            looked(it, |look| look.of_field_mut(look.field).set_scale(ScaleKind::ALL[which]))
        },
    });
    let maps = ColourMap::ALL.into_iter().enumerate().map(|(which, map)| Action {
        group: "Colour map",
        name: map.label(),
        about: map.about(),
        keys: &NUMBERS[which],
        first: Some(Key::M),
        which,
        command: |it, which| {
            looked(it, |look| look.of_field_mut(look.field).map = ColourMap::ALL[which])
        },
    });
    let ranges = AUTOMATIC.iter().enumerate().map(|(which, &(_, name, about))| Action {
        group: "Range",
        name,
        about,
        keys: &NUMBERS[which],
        first: Some(Key::G),
        which,
        command: |it, which| {
            looked(it, |look| look.of_field_mut(look.field).range = AUTOMATIC[which].0)
        },
    });
    scales.chain(maps).chain(ranges)
}

fn cuts() -> impl Iterator<Item = Action> {
    Way::ALL.into_iter().enumerate().map(|(which, way)| Action {
        group: "Cut along",
        name: way.label(),
        about: way.about(),
        keys: &NUMBERS[which],
        first: Some(Key::L),
        which,
        command: |it, which| {
            let shape = it.report.as_ref()?.plan.problem.shape;
            (shape.dim() == 2).then(|| Command::CutAlong(Way::ALL[which].line(&shape)))
        },
    })
}

fn curves() -> impl Iterator<Item = Action> {
    let norms = CurveKind::ALL.into_iter().enumerate().map(|(which, curve)| Action {
        group: "Norm",
        name: curve.label(),
        about: curve.about(),
        keys: &NUMBERS[which],
        first: Some(Key::N),
        which,
        command: |it, which| looked(it, |look| look.curve = CurveKind::ALL[which]),
    });
    let against = Against::ALL.into_iter().enumerate().map(|(which, against)| Action {
        group: "Curves over",
        name: against.label(),
        about: against.about(),
        keys: &NUMBERS[which],
        first: Some(Key::X),
        which,
        command: |it, which| looked(it, |look| look.against = Against::ALL[which]),
    });
    norms.chain(against)
}

fn panes() -> impl Iterator<Item = Action> {
    Pane::ALL.into_iter().enumerate().map(|(which, pane)| Action {
        group: "Show or hide",
        name: pane.label(),
        about: pane.about(),
        keys: pane.keys(),
        first: None,
        which,
        command: |it, which| {
            let pane = Pane::ALL[which];
            Some(Command::ShowPane(pane, !it.panes.is_wanted(pane)))
        },
    })
}

fn problems() -> impl Iterator<Item = Action> {
    PRESETS.iter().enumerate().map(|(which, preset)| Action {
        group: "Problem",
        name: preset.label,
        about: preset.about,
        keys: &NUMBERS[which],
        first: Some(Key::E),
        which,
        command: |it, which| Some(Command::Change(it.session.with(&PRESETS[which]))),
    })
}

fn experiments() -> impl Iterator<Item = Action> {
    EXPERIMENTS.iter().enumerate().map(|(which, experiment)| Action {
        group: "Experiment",
        name: experiment.title,
        about: experiment.about,
        keys: &NUMBERS[which],
        first: Some(Key::V),
        which,
        command: |_, which| Some(Command::Try(which)),
    })
}

/// The command that changes what is looked at.
fn looked(explorer: &Explorer, change: impl FnOnce(&mut Look)) -> Option<Command> {
    let mut look = explorer.session.look.clone();
    change(&mut look);
    (look != explorer.session.look).then_some(Command::Look(look))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_name_and_a_key_of_its_own() {
        let titles: BTreeSet<_> = ALL.iter().map(Action::title).collect();
        assert_eq!(titles.len(), ALL.len());
        for action in ALL.iter() {
            assert!(!action.keys.is_empty(), "{}", action.title());
        }
        for (index, (key, action)) in BY_KEY.iter().enumerate() {
            for (other, another) in &BY_KEY[index + 1..] {
                let is_same = key == other && action.first == another.first;
                assert!(!is_same, "{} and {}", action.title(), another.title());
            }
        }
    }

    #[test]
    fn a_key_that_comes_before_another_asks_for_nothing_by_itself() {
        // A key that is held is down whatever is held with it.
        let flip = FLIP.keys[0].logical_key;
        for (key, action) in BY_KEY.iter().filter(|(_, action)| action.first.is_none()) {
            let begins = key.modifiers.is_none() && FIRST_KEYS.contains(&key.logical_key);
            let flips = key.logical_key == flip && action.title() != FLIP.title();
            assert!(!begins && !flips, "{}", action.title());
        }
        assert!(!FIRST_KEYS.contains(&flip));
    }

    #[test]
    fn a_key_with_more_modifiers_is_asked_for_first() {
        let at = |action: &Action| BY_KEY.iter().position(|(_, it)| it.title() == action.title());
        assert!(at(&REDO) < at(&UNDO));
    }

    #[test]
    fn steps_of_a_setting_go_as_far_as_it_may() {
        let step = |name: &str, method: &mut MethodSpec| {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            (setting.change)(method);
        };
        let mut method = MethodSpec { k: 13, ..MethodSpec::default() };
        step("k up", &mut method);
        assert_eq!(method.k, 16);
        step("k up", &mut method);
        assert_eq!(method.k, 32);
        (0..20).for_each(|_| step("k up", &mut method));
        assert_eq!(method.k, MOST_SUBITERATIONS);
        (0..20).for_each(|_| step("k down", &mut method));
        assert_eq!(method.k, 1);
        (0..40).for_each(|_| step("overlap up", &mut method));
        assert_eq!((method.overlap[0], method.tile[0]), (30, 32));
        (0..40).for_each(|_| step("tile down", &mut method));
        assert_eq!((method.overlap[0], method.tile[0]), (2, 4));
        step("overlap down", &mut method);
        step("overlap down", &mut method);
        assert_eq!(method.overlap[0], 0);
    }
}
