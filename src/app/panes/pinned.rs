//! The table of pinned runs.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::pins::{Column, PinnedRow, Pins, csv, markdown};
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named};
use crate::app::widgets::theme;
use crate::picture::FigureKind;
use crate::run::Report;
use eframe::egui::{self, Align, Button, ComboBox, Layout, RichText, Sense, TextEdit, Ui};

/// Width of a pinned run's name, in points.
const NAME_WIDTH: f32 = 36.0;

/// From this width on, in points, the table has room for the settings.
const WIDE: f32 = 520.0;

/// The table of pinned runs.
pub struct PinnedPane;

/// Its name in files.
pub const ID: PaneId = PaneId("pinned");

impl PaneType for PinnedPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Pinned runs"
    }

    fn about(&self) -> &'static str {
        "The run and the pinned runs in numbers, with their speedups at equal residual."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::RUNS
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        (!session.pins.all().is_empty()).then_some(FigureKind::RUNS)
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        session.pins.all().is_empty().then_some("No run is pinned.")
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        self::ui(ui, context.session, context.report, context.commands);
    }
}

fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    let pins = &session.pins;
    let rows = pins.rows(report.filter(|report| report.epoch == session.epoch));
    // In a narrow pane the settings, which legends have too, are read by pointing at a name.
    let is_wide = ui.available_width() >= WIDE;
    if !is_wide {
        ui.style_mut().override_text_style = Some(egui::TextStyle::Small);
    }
    ui.horizontal_wrapped(|ui| {
        baseline(ui, pins, commands);
        let copies = [
            ("Copy as Markdown", "Copy the table as Markdown.", markdown(&rows)),
            ("Copy as CSV", "Copy the table as comma-separated values.", csv(&rows)),
        ];
        for (name, about, text) in copies {
            if ui.button(name).on_hover_text(about).clicked() {
                commands.push(Command::Copy { text, what: "Table" });
            }
        }
    });
    egui::ScrollArea::both().id_salt("pinned").auto_shrink(false).show(ui, |ui| {
        let gap = if is_wide { 8.0 } else { 5.0 };
        egui::Grid::new("pins").num_columns(7).striped(true).spacing([gap, 6.0]).show(ui, |ui| {
            headings(ui, pins, is_wide, commands);
            for row in &rows {
                match row.number {
                    Some(number) => name(ui, number, row, commands),
                    None => own_name(ui, row),
                }
                for text in row.texts().into_iter().skip(1) {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
                }
                if is_wide {
                    let about = "The settings that distinguish it from the other runs.";
                    ui.label(&row.settings).on_hover_text(about);
                }
                ui.end_row();
            }
        });
    });
}

/// The choice of the run that speedups compare with.
fn baseline(ui: &mut Ui, pins: &Pins, commands: &mut Vec<Command>) {
    let Some(chosen) = pins.baseline() else {
        return;
    };
    ui.label("Speedup over");
    let combo = ComboBox::from_id_salt("baseline").width(44.0).selected_text(&chosen.name);
    let about = "The run whose solver time is divided by that of the others, at equal residual.";
    let response = combo.show_ui(ui, |ui| {
        for pin in pins.all() {
            let is_chosen = pin.number == chosen.number;
            if explained(ui.selectable_label(is_chosen, &pin.name), about).clicked() {
                commands.push(Command::Baseline(pin.number));
            }
        }
    });
    named(response.response, "Baseline").on_hover_text(about);
}

/// The colour and the name of the run itself.
fn own_name(ui: &mut Ui, row: &PinnedRow) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), Sense::hover());
        ui.painter().rect_filled(rect, 2.0, theme::curve(ui, 0));
        ui.label(&row.name).on_hover_text(format!("The run as it is now: {}.", row.settings));
    });
}

/// The headings. A click sorts by the column, another one reverses the order.
fn headings(ui: &mut Ui, pins: &Pins, is_wide: bool, commands: &mut Vec<Command>) {
    for column in Column::ALL {
        let sign = match pins.sorted {
            Some((sorted, false)) if sorted == column => " ↑",
            Some((sorted, true)) if sorted == column => " ↓",
            _ => "",
        };
        let text = RichText::new(format!("{}{sign}", column.label())).weak();
        let layout = match column {
            Column::Name => Layout::left_to_right(Align::Center),
            _ => Layout::right_to_left(Align::Center),
        };
        let heading = ui.with_layout(layout, |ui| ui.add(Button::new(text).frame(false))).inner;
        let heading = named(heading, &format!("Sort by {}", column.label()));
        if heading.on_hover_text(format!("{} Click to sort by it.", column.about())).clicked() {
            commands.push(Command::SortPins(match pins.sorted {
                Some((sorted, false)) if sorted == column => Some((column, true)),
                Some((sorted, true)) if sorted == column => None,
                _ => Some((column, false)),
            }));
        }
    }
    if is_wide {
        ui.label(RichText::new("settings").weak());
    }
    ui.end_row();
}

/// The colour and the editable name of a pinned run.
fn name(ui: &mut Ui, number: usize, row: &PinnedRow, commands: &mut Vec<Command>) {
    let name = &row.name;
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(egui::vec2(10.0, 10.0), Sense::hover());
        ui.painter().rect_filled(rect, 2.0, theme::pin(ui, number));
        // Typed text becomes the name when the field loses the focus.
        let id = ui.scope_id().with(("name", number));
        let typed: Option<String> = ui.data(|data| data.get_temp(id));
        let mut text = typed.unwrap_or_else(|| name.clone());
        let edit = TextEdit::singleline(&mut text).desired_width(NAME_WIDTH);
        let edit = named(ui.add(edit), &format!("Name of {name}"));
        if edit.lost_focus() {
            ui.data_mut(|data| data.remove_temp::<String>(id));
            if text != *name {
                commands.push(Command::Rename(number, text));
            }
        } else if edit.changed() {
            ui.data_mut(|data| data.insert_temp(id, text));
        }
        edit.on_hover_text(format!("{}. Type another name.", row.settings));
        let remove = named(ui.add(Button::new("×").frame(false)), &format!("Unpin {name}"));
        if remove.on_hover_text("Unpin this run.").clicked() {
            commands.push(Command::Unpin(number));
        }
    });
}
