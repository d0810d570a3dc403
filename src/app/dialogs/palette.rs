//! The command palette: any action by a part of its name, or by a word that other programs use.

use crate::app::actions::{Action, ActionContext};
use crate::app::state::command::Command;
use crate::app::widgets::labels::named;
use eframe::egui::{
    self, Align, Align2, Button, Key, Layout, Modifiers, Response, ScrollArea, TextEdit, Ui,
};

/// Width, largest height of the list and distance from the top of the window, in points.
const WIDTH: f32 = 560.0;
const HEIGHT: f32 = 360.0;
const TOP: f32 = 64.0;

/// Height that is left free in a low window: the search field, margins and the same distance below.
const AROUND: f32 = TOP + 100.0;

/// Rows that Page Up and Page Down move the selection by.
const PAGE: usize = 10;

/// The palette while it is open.
#[derive(Default)]
pub struct Palette {
    query: String,
    /// The selected row.
    chosen: usize,
}

impl Palette {
    /// Draws the palette, and returns the chosen commands.
    pub fn ui(&mut self, actions: &[Action], context: &ActionContext<'_>) -> Vec<Command> {
        let id = egui::Id::unique("palette");
        let area = egui::Modal::default_area(id).anchor(Align2::CENTER_TOP, [0.0, TOP]);
        let frame = egui::Frame::popup(&context.window.global_style()).inner_margin(10.0);
        let modal = egui::Modal::new(id).area(area).frame(frame);
        let mut asked = Vec::new();
        let response = modal.show(context.window, |ui| {
            ui.set_width(WIDTH);
            let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
            let [up, down, page_up, page_down, enter] =
                [Key::ArrowUp, Key::ArrowDown, Key::PageUp, Key::PageDown, Key::Enter].map(pressed);
            let is_moved = up || down || page_up || page_down;
            let edit = TextEdit::singleline(&mut self.query)
                .hint_text("Search commands …")
                .desired_width(f32::INFINITY);
            let edit = named(ui.add(edit), "Action");
            edit.request_focus();
            let about = "Arrow keys select, Enter runs the command, Escape closes.";
            let is_typed = edit.on_hover_text(about).changed();
            if is_typed {
                self.chosen = 0;
            }
            let found = found(actions, &self.query);
            let last = found.len().saturating_sub(1);
            // The selection wraps around, except by pages.
            self.chosen = match self.chosen.min(last) {
                0 if up => last,
                row if up => row - 1,
                row if down && row == last => 0,
                row if down => row + 1,
                row if page_up => row.saturating_sub(PAGE),
                row if page_down => (row + PAGE).min(last),
                row => row,
            };
            if found.is_empty() {
                ui.weak("No matching command");
            }
            // The height does not depend on how many commands match.
            let height = HEIGHT.min(context.window.content_rect().height() - AROUND);
            let scroll = ScrollArea::vertical().max_height(height).min_scrolled_height(height);
            scroll.auto_shrink(false).show(ui, |ui| {
                ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
                    for (row, action) in found.into_iter().enumerate() {
                        let command = action.command(context);
                        let is_chosen = row == self.chosen;
                        let entry = entry(ui, action, is_chosen, command.as_ref(), context);
                        if is_chosen && (is_moved || is_typed) {
                            entry.scroll_to_me(None);
                        }
                        if (entry.clicked() || (enter && is_chosen))
                            && let Some(command) = command
                        {
                            asked.extend([Command::ShowPalette(false), command]);
                        }
                    }
                });
            });
        });
        if response.should_close() {
            asked.push(Command::ShowPalette(false));
        }
        asked
    }
}

/// Draws a row: the name of an action, whether it replaces the run, and its key.
fn entry(
    ui: &mut Ui,
    action: &Action,
    chosen: bool,
    command: Option<&Command>,
    context: &ActionContext<'_>,
) -> Response {
    let title = action.title();
    let is_new_run = command.is_some_and(|command| command.replaces_run(context.session));
    let key = action.key(ui.ctx());
    let note = if is_new_run { format!("replaces the run   {key}") } else { key };
    let button = Button::selectable(chosen, title.as_str()).shortcut_text(note);
    let row = named(ui.add_enabled(command.is_some(), button), &title);
    let about = match is_new_run {
        true => format!("{} Undo returns to the run as it is now.", action.about),
        false => action.about.to_owned(),
    };
    row.on_hover_text(about).on_disabled_hover_text(action.why_not(context))
}

/// The actions that match a query, the best match first.
fn found<'a>(actions: &'a [Action], query: &str) -> Vec<&'a Action> {
    let query = query.to_lowercase();
    let rated = actions.iter().filter_map(|action| {
        let title = action.title().to_lowercase();
        Some((rate(&query, &title)?, action))
    });
    let mut rated: Vec<_> = rated.collect();
    rated.sort_by_key(|(rate, _)| *rate);
    rated.into_iter().map(|(_, action)| action).collect()
}

/// Beginnings of titles, and words that other programs use for them.
const SYNONYMS: [(&str, &str); 36] = [
    ("colour map", "color colormap palette lut gradient"),
    ("compare: compare", "difference diff versus wipe split side-by-side"),
    ("compare: flip", "swap toggle blink"),
    ("compare: pin", "bookmark keep remember freeze snapshot"),
    ("curves over", "axis abscissa x-axis"),
    ("curves: classic", "baseline"),
    ("cut along", "profile line section slice"),
    ("edit: redo", "repeat"),
    ("edit: undo", "revert restore back"),
    ("experiment", "example demo tutorial"),
    ("field", "quantity variable display"),
    ("file: copy", "clipboard cli terminal share script"),
    ("file: open", "load import browse read"),
    (
        "file: save",
        "export download png svg pdf csv npy gif video movie animation image picture figure print screenshot",
    ),
    ("heat map: probe", "marker sensor inspect"),
    ("heat map: tile borders", "grid lines edges"),
    ("heat map: whole", "fit zoom out"),
    ("help: command", "search find"),
    ("help: example", "demo tutorial welcome start"),
    ("help: keyboard", "shortcuts hotkeys bindings gestures"),
    ("method: toggle", "jacobi algorithm solver"),
    ("method: toggle updates", "gauss-seidel race asynchronous warp"),
    ("method: toggle waves", "gauss-seidel multiplicative schwarz asynchronous"),
    ("norm", "error l2 residual maximum"),
    ("problem: toggle", "start u0 zero constant"),
    ("problem", "preset equation poisson"),
    ("range", "limits clim colour scale"),
    ("run: reset", "restart rewind clear"),
    ("run: run", "start stop play continue resume"),
    ("run: step", "next advance"),
    ("time: replay", "play animate animation speed"),
    ("view: presentation", "fullscreen full-screen lecture projector slides"),
    ("view: reset layout", "windows panes dock arrange"),
    ("view: toggle theme", "dark light mode night"),
    ("view: tuning", "speed fastest optimize optimise performance benchmark autotune sweep best"),
    ("view: zoom", "scale font size larger smaller dpi"),
];

/// The distance of a title from a query, 0 for the best match; `None` for no match. Each word of
/// the query must begin a word of the title, be a part of it, begin one of its [`SYNONYMS`], or be
/// an abbreviation of a word: its first letter, and others in their order.
fn rate(query: &str, title: &str) -> Option<usize> {
    let is_named = |(begin, _): &&(&str, &str)| title.starts_with(begin);
    let synonyms = SYNONYMS.iter().filter(is_named).flat_map(|(_, words)| words.split(' '));
    let synonyms: Vec<_> = synonyms.collect();
    let word = |word: &str| {
        let parts = || title.split(|c: char| !c.is_alphanumeric());
        if parts().any(|part| part.starts_with(word)) {
            return Some(0);
        }
        // Two letters begin too many words.
        if word.len() > 2 && synonyms.iter().any(|synonym| synonym.starts_with(word)) {
            return Some(1);
        }
        if title.contains(word) {
            return Some(2);
        }
        parts().any(|part| abbreviates(word, part)).then_some(4)
    };
    query.split_whitespace().map(word).sum()
}

/// Whether `short` is the first letter of a word and others in their order.
fn abbreviates(short: &str, word: &str) -> bool {
    let mut letters = word.chars();
    short.chars().next() == word.chars().next()
        && short.chars().all(|letter| letters.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::actions::ActionTable;

    #[test]
    fn every_synonym_belongs_to_an_action() {
        let actions = ActionTable::new(std::iter::empty()).all;
        for (begin, words) in SYNONYMS {
            let is_it = |action: &Action| action.title().to_lowercase().starts_with(begin);
            assert!(actions.iter().any(is_it), "{begin}");
            assert!(words.split(' ').all(|word| word.len() > 1), "{begin}");
        }
    }

    #[test]
    fn parts_of_names_find_the_best_match_first() {
        let actions = ActionTable::new(std::iter::empty()).all;
        let first = |query: &str| found(&actions, query).first().map(|action| action.title());
        for (query, title) in [
            ("undo", "Edit: Undo"),
            ("  UNDO ", "Edit: Undo"),
            ("stal", "Field: Staleness"),
            ("map vir", "Colour map: Viridis"),
            ("vir map", "Colour map: Viridis"),
            ("cpy cmd", "File: Copy as command"),
            ("k up", "Method: k up"),
            ("png", "File: Save …"),
            ("pdf", "File: Save …"),
            ("export", "File: Save …"),
            ("fullscreen", "View: Presentation mode"),
            ("difference", "Compare: Compare"),
            ("speed", "Time: Replay / stop"),
            ("fastest", "View: Tuning map"),
            ("color", "Colour map: Inferno"),
            ("colormap", "Colour map: Inferno"),
            ("pause", "Run: Run / pause"),
            ("restart", "Run: Reset"),
            ("load", "File: Open …"),
            ("dark", "View: Toggle theme"),
            ("shortcuts", "Help: Keyboard and mouse"),
        ] {
            assert_eq!(first(query).as_deref(), Some(title), "{query}");
        }
        assert_eq!(first("quixotic"), None);
        assert_eq!(first("cmy"), None, "letters of several words");
        assert_eq!(found(&actions, "").len(), actions.len());
    }
}
