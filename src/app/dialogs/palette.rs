//! The command palette: any action by a part of its name.

use crate::app::actions::{Action, ActionContext};
use crate::app::state::command::Command;
use crate::app::widgets::labels::named;
use eframe::egui::{self, Align, Align2, Button, Key, Layout, Modifiers, ScrollArea, TextEdit, Ui};

/// Width, largest height and distance from the top of the window, in points.
const WIDTH: f32 = 520.0;
const HEIGHT: f32 = 360.0;
const TOP: f32 = 64.0;

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
            let up = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowUp));
            let down = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::ArrowDown));
            let enter = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let edit = TextEdit::singleline(&mut self.query)
                .hint_text("Search commands …")
                .desired_width(f32::INFINITY);
            let edit = named(ui.add(edit), "Action");
            edit.request_focus();
            if edit
                .on_hover_text("Arrow keys select, Enter runs the command, Escape closes.")
                .changed()
            {
                self.chosen = 0;
            }
            let found = found(actions, &self.query);
            let last = found.len().saturating_sub(1);
            // The selection wraps around.
            self.chosen = match (up, down, self.chosen.min(last)) {
                (true, _, 0) => last,
                (true, _, row) => row - 1,
                (_, true, row) if row == last => 0,
                (_, true, row) => row + 1,
                (.., row) => row,
            };
            if found.is_empty() {
                ui.weak("No matching command");
            }
            // Always as high, whatever was found.
            let scroll = ScrollArea::vertical().max_height(HEIGHT).min_scrolled_height(HEIGHT);
            scroll.auto_shrink(false).show(ui, |ui| {
                ui.with_layout(Layout::top_down_justified(Align::LEFT), |ui| {
                    for (row, action) in found.into_iter().enumerate() {
                        let command = action.command(context);
                        let is_chosen = row == self.chosen;
                        let clicked = entry(ui, action, is_chosen, command.as_ref(), up || down);
                        if (clicked || (enter && is_chosen))
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

/// Draws a row, and returns whether it was clicked.
fn entry(
    ui: &mut Ui,
    action: &Action,
    chosen: bool,
    command: Option<&Command>,
    moved: bool,
) -> bool {
    let title = action.title();
    let replaces = match command {
        Some(Command::RunExperiment(_)) => true,
        Some(Command::Change(_)) => action.group == "Problem",
        _ => false,
    };
    let key = action.key(ui.ctx());
    let note = if replaces { format!("replaces the run   {key}") } else { key };
    let button = Button::selectable(chosen, title.as_str()).shortcut_text(note);
    let row = named(ui.add_enabled(command.is_some(), button), &title);
    if chosen && moved {
        row.scroll_to_me(None);
    }
    row.on_hover_text(action.about).on_disabled_hover_text("Not available now.").clicked()
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

/// Words that other programs use, and what they are here.
const SYNONYMS: [(&str, &str); 18] = [
    ("bookmark", "pin"),
    ("clipboard", "copy"),
    ("color", "colour"),
    ("colormap", "colour"),
    ("continue", "run"),
    ("difference", "compare"),
    ("export", "save"),
    ("fullscreen", "presentation"),
    ("grid", "borders"),
    ("load", "open"),
    ("palette", "colour"),
    ("pdf", "save"),
    ("play", "replay"),
    ("png", "save"),
    ("restart", "reset"),
    ("shortcuts", "keyboard"),
    ("speed", "tuning"),
    ("svg", "save"),
];

/// The distance of a title from a query, 0 for the best match; `None` for no match. Each word of
/// the query must begin a word of the title, be a part of it, stand for one ([`SYNONYMS`]), or be a
/// subsequence of its letters.
fn rate(query: &str, title: &str) -> Option<usize> {
    let word = |word: &str| {
        let begins = title.split(|c: char| !c.is_alphanumeric()).any(|part| part.starts_with(word));
        if begins {
            return Some(0);
        }
        if title.contains(word) {
            return Some(1);
        }
        let mut synonyms =
            SYNONYMS.iter().filter(|(other, _)| word.len() > 2 && other.starts_with(word));
        if synonyms
            .any(|(_, meant)| title.split(|c: char| !c.is_alphanumeric()).any(|it| it == *meant))
        {
            return Some(1);
        }
        let mut letters = title.chars();
        word.chars().all(|letter| letters.any(|other| other == letter)).then_some(3)
    };
    query.split_whitespace().map(word).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::actions::ActionTable;

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
            ("export", "File: Save …"),
            ("fullscreen", "View: Presentation mode"),
            ("difference", "Compare: Pin run"),
        ] {
            assert_eq!(first(query).as_deref(), Some(title), "{query}");
        }
        assert_eq!(first("no such thing"), None);
        assert_eq!(found(&actions, "").len(), actions.len());
    }
}
