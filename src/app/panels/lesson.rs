//! The panel of a lesson: its text, its question, the sliders, and the way on.

use crate::app::actions;
use crate::app::panels::method;
use crate::app::state::command::Command;
use crate::app::state::lesson::{LessonOrder, LessonProgress};
use crate::app::state::session::Session;
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use crate::lesson::{Evidence, Goal, Paragraph, Piece, Prediction};
use crate::picture::{SUBSCRIPT_SIZE, with_subscripts};
use crate::run::Report;
use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{
    self, Align, Button, Color32, FontFamily, FontId, Label, Layout, RichText, ScrollArea,
    TextStyle, Ui,
};

/// Width of the panel, in points.
pub const WIDTH: f32 = 316.0;

/// Sizes of the text and of the titles of steps, in points.
const TEXT: f32 = 15.0;
const TITLE: f32 = 19.0;

/// Size of the text in a presentation: the largest with which every step fits. Its capitals are more than a 54th of the
/// picture's height, which is read from seven times that height.
const TEXT_PRESENTED: f32 = 18.2;

/// Height of the buttons below, and of a choice, in points.
const BUTTON: f32 = 30.0;

/// Draws the panel. `presenting` leaves the sliders out, which the toolbar has then.
pub fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    presenting: bool,
    commands: &mut Vec<Command>,
) {
    let Some(progress) = &session.lesson else { return };
    let Some(step) = progress.current() else { return };
    let report = report.filter(|report| report.epoch == session.epoch);
    let evidence = report.map(Evidence::of_report);
    let evidence = evidence.as_ref();
    ui.add_space(4.0);
    head(ui, progress, commands);
    egui::Panel::bottom("lesson steps").resizable(false).show_separator_line(false).show(
        ui,
        |ui| {
            way_on(ui, progress, commands);
        },
    );
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 8.0;
        let size = if presenting { TEXT_PRESENTED } else { TEXT };
        ui.style_mut().text_styles.insert(TextStyle::Body, FontId::proportional(size));
        let title = RichText::new(&step.title).heading().size(TITLE);
        ui.add(Label::new(title).wrap());
        for text in &step.text {
            paragraph(ui, text, evidence);
        }
        if let Some(prediction) = &step.prediction {
            question(ui, prediction, progress.choice(progress.step), evidence, commands);
        }
        if let Some(goal) = &step.goal {
            this_goal(ui, goal, progress.is_reached(), evidence, commands);
        }
        if !presenting {
            ui.reset_style();
            ui.add_space(theme::GAP);
            let setting = progress.lesson.setting(progress.step);
            let highlight = setting.and_then(|(_, setting)| setting.highlight);
            method::lesson_sliders(ui, session, highlight, commands);
        }
    });
}

/// The title of the lesson, and the button that leaves it.
fn head(ui: &mut Ui, progress: &LessonProgress, commands: &mut Vec<Command>) {
    let size = egui::vec2(ui.available_width(), BUTTON);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        let leave = named(ui.button("Leave"), "Leave the lesson");
        if leave.on_hover_text(actions::LEAVE_LESSON.tooltip(ui.ctx())).clicked() {
            commands.push(Command::Lesson(LessonOrder::Leave));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(RichText::new(&progress.lesson.title).weak()).truncate());
        });
    });
}

/// The buttons to the steps before and after this one. The way on is never blocked.
fn way_on(ui: &mut Ui, progress: &LessonProgress, commands: &mut Vec<Command>) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        let size = egui::vec2(84.0, BUTTON);
        let is_later = progress.step > 0;
        let back = ui.add_enabled(is_later, Button::new("Back").min_size(size));
        if back.on_hover_text(actions::PREVIOUS_STEP.tooltip(ui.ctx())).clicked() {
            commands.push(Command::Lesson(LessonOrder::Step(progress.step - 1)));
        }
        let place = format!("{} of {}", progress.step + 1, progress.lesson.steps.len());
        ui.label(RichText::new(place).weak());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let (text, order) = match progress.is_last() {
                false => ("Next", LessonOrder::Step(progress.step + 1)),
                true => ("Finish", LessonOrder::Leave),
            };
            let next = Button::new(RichText::new(text).strong()).min_size(size);
            let next = ui.add(next.selected(true));
            if next.on_hover_text(actions::NEXT_STEP.tooltip(ui.ctx())).clicked() {
                commands.push(Command::Lesson(order));
            }
        });
    });
    ui.add_space(6.0);
}

/// A question with its choices, and after the choice its answer.
fn question(
    ui: &mut Ui,
    prediction: &Prediction,
    choice: Option<usize>,
    evidence: Option<&Evidence<'_>>,
    commands: &mut Vec<Command>,
) {
    paragraph(ui, &prediction.question, evidence);
    for (index, text) in prediction.choices.iter().enumerate() {
        let is_right = choice.is_some() && index == prediction.right;
        let button = Button::new(RichText::new(text.text(evidence)).size(text_size(ui)))
            .wrap()
            .selected(is_right)
            .min_size(egui::vec2(ui.available_width(), BUTTON));
        let button = ui.add_enabled(choice.is_none() || is_right, button);
        let about = "Predict first; then the run shows what happens.";
        if button.on_hover_text(about).clicked() && choice.is_none() {
            commands.push(Command::Lesson(LessonOrder::Choose(index)));
        }
    }
    let Some(choice) = choice else { return };
    let verdict = if choice == prediction.right { "Right." } else { "Not this time." };
    let font = FontId::new(text_size(ui), heading_family(ui));
    ui.label(RichText::new(verdict).font(font));
    for text in &prediction.answer {
        paragraph(ui, text, evidence);
    }
}

/// What the reader is to reach, and whether it is.
fn this_goal(
    ui: &mut Ui,
    goal: &Goal,
    is_reached: bool,
    evidence: Option<&Evidence<'_>>,
    commands: &mut Vec<Command>,
) {
    let measure = goal.condition.measure;
    let value = evidence.and_then(|evidence| measure.value(evidence));
    let now = value.map_or_else(String::new, |value| format!("; now {}", measure.text(value)));
    ui.add_space(2.0);
    let text = format!("Goal: {}{now}.", goal.condition.in_words());
    let colour = ui.visuals().text_color();
    let mut job = LayoutJob::default();
    append(&mut job, ui, &Piece::Plain(text), evidence, colour);
    ui.add(Label::new(job).wrap()).on_hover_text(measure.about);
    ui.horizontal(|ui| {
        if is_reached {
            let font = FontId::new(text_size(ui), heading_family(ui));
            ui.label(RichText::new("Reached.").font(font).color(theme::curve(ui, 0)));
            return;
        }
        let show = ui.button("Show me").on_hover_text("Choose a setting that reaches the goal.");
        if show.clicked() {
            commands.push(Command::Lesson(LessonOrder::ShowWay));
        }
    });
}

/// A paragraph with the values of the run that is shown.
fn paragraph(ui: &mut Ui, paragraph: &Paragraph, evidence: Option<&Evidence<'_>>) {
    let colour = ui.visuals().text_color();
    let mut job = LayoutJob::default();
    for piece in &paragraph.0 {
        append(&mut job, ui, piece, evidence, colour);
    }
    ui.add(Label::new(job).wrap());
}

fn append(
    job: &mut LayoutJob,
    ui: &Ui,
    piece: &Piece,
    evidence: Option<&Evidence<'_>>,
    colour: Color32,
) {
    let family = match piece {
        Piece::Plain(_) | Piece::Emphasis(_) => FontFamily::Proportional,
        Piece::Strong(_) | Piece::Value(_) => heading_family(ui),
        Piece::Code(_) => FontFamily::Monospace,
    };
    for (index, part) in with_subscripts(&piece.text(evidence)).into_iter().enumerate() {
        let size = text_size(ui) * if index % 2 == 0 { 1.0 } else { SUBSCRIPT_SIZE as f32 };
        let format = TextFormat {
            valign: Align::BOTTOM,
            italics: matches!(piece, Piece::Emphasis(_)),
            ..TextFormat::simple(FontId::new(size, family.clone()), colour)
        };
        job.append(part, 0.0, format);
    }
}

/// The size of the text.
fn text_size(ui: &Ui) -> f32 {
    TextStyle::Body.resolve(ui.style()).size
}

/// The semi-bold font.
fn heading_family(ui: &Ui) -> FontFamily {
    TextStyle::Heading.resolve(ui.style()).family
}
