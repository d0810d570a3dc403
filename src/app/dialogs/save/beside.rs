//! Which pinned runs are shown beside the run.

use crate::app::dialogs::save::SaveDialog;
use crate::app::state::pins::Pin;
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named};
use crate::app::widgets::rows::row;
use crate::picture::FigureKind;
use crate::run::Report;
use eframe::egui::{ComboBox, Ui};

/// Which pinned runs are shown beside the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    None,
    All,
    /// By its number.
    One(usize),
}

impl SaveDialog {
    /// Whether it can show more runs than one.
    pub fn compares(&self) -> bool {
        self.what.figure().is_some_and(FigureKind::compares)
    }

    /// The pinned runs beside the run, where there can be any: first the one that the map is compared
    /// with; side by side, one in any case.
    pub fn others<'a>(&self, session: &'a Session, report: Option<&Report>) -> Vec<&'a Pin> {
        let pins = session.pins.all();
        let drawn = self.drawn();
        let chosen = session.view.compare.chosen(pins);
        let one = |number| pins.iter().find(|pin| pin.number == number);
        let with = match self.with {
            _ if !self.compares() => return Vec::new(),
            With::One(number) if one(number).is_some() => return one(number).into_iter().collect(),
            With::All if drawn.kind.most_beside() > 1 => With::All,
            _ => With::None,
        };
        let needed = chosen.filter(|_| drawn.shows(FigureKind::SIDE_BY_SIDE));
        let shape = report.map(|report| report.plan.problem.shape);
        let is_shown = |pin: &&Pin| {
            let is_other = report.is_none_or(|report| pin.archive != report.archive);
            let has_place =
                !drawn.compares_points() || Some(pin.archive.plan().problem.shape) == shape;
            with == With::All
                && is_other
                && has_place
                && Some(pin.number) != needed.map(|n| n.number)
        };
        needed.into_iter().chain(pins.iter().filter(is_shown)).collect()
    }

    /// Which pinned runs are shown beside the run.
    pub fn beside(&mut self, ui: &mut Ui, session: &Session) {
        let about = "Other runs, at equal cycles, sweeps or solver time, as on the map.";
        row(ui, "Compare with", about, |ui| {
            let pins = session.pins.all();
            let is_one = self.what.kind().is_some_and(|kind| kind.beside() == [1, 1]);
            let chosen = session.view.compare.chosen(pins).filter(|_| is_one);
            let with = match self.with {
                With::One(number) if pins.iter().any(|pin| pin.number == number) => self.with,
                with => chosen.map_or(with, |pin| With::One(pin.number)),
            };
            let name = |with| match with {
                With::All => "all pinned runs",
                With::One(number) => {
                    pins.iter().find(|pin| pin.number == number).map_or("", |pin| &pin.name)
                }
                With::None => "no other run",
            };
            let combo = ComboBox::from_id_salt("second").width(200.0).truncate();
            let response = combo.selected_text(name(with)).show_ui(ui, |ui| {
                let mut choose = |ui: &mut Ui, other, about: &str| {
                    explained(ui.selectable_value(&mut self.with, other, name(other)), about);
                };
                if !is_one {
                    choose(ui, With::None, "Show this run alone.");
                    choose(ui, With::All, "Show all pinned runs on this grid.");
                }
                for pin in pins {
                    choose(ui, With::One(pin.number), "Show this pinned run as well.");
                }
            });
            named(response.response, "Compare with").on_hover_text(about);
        });
    }
}
