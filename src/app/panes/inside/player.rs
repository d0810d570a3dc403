//! Plays the subiterations of a cycle one after the other.

use crate::app::widgets::icon::Icon;
use crate::app::widgets::labels::named;
use crate::solver::Inside;
use eframe::egui::{Button, Id, Ui};

/// Subiterations per second, slow enough to follow the front by eye.
const PACE: f32 = 3.0;

/// The longest that all subiterations of a cycle take, in seconds: many of them are played faster.
const LONGEST: f32 = 10.0;

/// The longest step from one frame to the next, in seconds: a window that was hidden for a while does not jump.
const LONGEST_FRAME: f32 = 0.1;

/// Where the state lies: by what part of a subiteration the play is ahead of what is shown, if it plays.
const STATE: &str = "player inside a cycle";

/// Draws the button, and moves `at` on while it plays. At the last of `k` subiterations it ends; from there it
/// starts again with none.
pub(super) fn ui(ui: &mut Ui, at: &mut usize, k: usize, shown: Option<&Inside>) {
    let id = Id::unique(STATE);
    let before: Option<f32> = ui.data(|data| data.get_temp(id)).flatten();
    let (icon, name) = match before {
        Some(_) => (Icon::Pause, "Pause subiterations"),
        None => (Icon::Run, "Play subiterations"),
    };
    let can_play = k > 0 && shown.is_some();
    let button = named(ui.add_enabled(can_play, Button::new(icon.atom())), name);
    let button = button.on_hover_text(
        "Play the subiterations one by one: the stale front moves in by one point with each.",
    );
    let mut due = match (button.clicked(), before) {
        _ if !can_play => None,
        (true, None) => {
            if *at >= k {
                *at = 0;
            }
            Some(0.0)
        }
        (true, Some(_)) => None,
        (false, before) => before,
    };
    if let Some(ahead) = &mut due {
        ui.ctx().request_repaint();
        // None is left out: the next one waits until this one is shown.
        if shown.is_some_and(|inside| inside.subiteration == *at) && !button.clicked() {
            let frame = ui.input(|input| input.stable_dt).min(LONGEST_FRAME);
            *ahead += frame * PACE.max(k as f32 / LONGEST);
            if *ahead >= 1.0 {
                *ahead = 0.0;
                *at = (*at + 1).min(k);
            }
        }
    }
    let due = due.filter(|_| *at < k);
    ui.data_mut(|data| data.insert_temp(id, due));
}
